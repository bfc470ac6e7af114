package command_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/comity-dev/comity/internal/canon"
	"github.com/comity-dev/comity/session/command"
	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/gate"
)

var update = flag.Bool("update", false, "write the vectors anew; a changed vector is a broken format")

const vectorFile = "../../testdata/vectors/session/commands.json"

func TestVectors(t *testing.T) {
	var got []string
	for _, c := range append(full(), lean()...) {
		got = append(got, string(encode(t, c)))
	}
	if *update {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(got); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(vectorFile), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(vectorFile, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(vectorFile)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the format moved:\ngot  %q\nwant %q", got, want)
	}
}

func encode(t *testing.T, c command.Command) []byte {
	t.Helper()
	b, err := command.Encode(c)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRoundTrip(t *testing.T) {
	kinds := map[string]bool{}
	for _, c := range append(full(), lean()...) {
		kinds[c.Body.Kind()] = true
		b := encode(t, c)
		if err := canon.Check(b); err != nil {
			t.Errorf("%s: %v", b, err)
		}
		back, err := command.Decode(b)
		if err != nil || !reflect.DeepEqual(back, c) {
			t.Errorf("Decode(%s) = %+v, %v, want %+v", b, back, err, c)
			continue
		}
		if again := encode(t, back); !bytes.Equal(again, b) {
			t.Errorf("%s prints %s", b, again)
		}
	}
	if len(kinds) != 11 {
		t.Errorf("%d kinds, want 11", len(kinds))
	}
}

const good = `{"body":{"phase":"intent","target":"00000002-0000-4000-8000-000000000002"},"header":{"agency":"machine","created_at":7,` +
	`"id":"00000009-0000-4000-8000-000000000009"},"kind":"user_input","v":1}`

func TestDecodeRefusesEveryOtherForm(t *testing.T) {
	if _, err := command.Decode([]byte(good)); err != nil {
		t.Fatalf("Decode(good) = %v", err)
	}
	for _, tt := range []struct {
		about    string
		old, new string
		want     event.Reason
	}{
		{"a member of the envelope", `"v":1`, `"v":1,"w":1`, event.ReasonUnknownField},
		{"a member of the header", `"header":{`, `"header":{"a":1,`, event.ReasonUnknownField},
		{"a member of the body", `"body":{`, `"body":{"a":1,`, event.ReasonUnknownField},
		{"a route, which is the record's", `"body":{`, `"body":{"loop":"00000002-0000-4000-8000-000000000002",`, event.ReasonUnknownField},
		{"a name twice", `"v":1`, `"v":1,"v":1`, event.ReasonDuplicateKey},
		{"a name twice in the body", `"phase":"intent"`, `"phase":"intent","phase":"intent"`, event.ReasonDuplicateKey},
		{"trailing data", `"v":1}`, `"v":1}{`, event.ReasonTrailing},
		{"a trailing space", `"v":1}`, `"v":1} `, event.ReasonNotCanonical},
		{"a number for a text", `"intent"`, `7`, event.ReasonWrongType},
		{"a text for the body", `{"phase":"intent","target":"00000002-0000-4000-8000-000000000002"}`, `"x"`, event.ReasonWrongType},
		{"a fraction", `"created_at":7`, `"created_at":7.5`, event.ReasonWrongType},
		{"a negative time", `"created_at":7`, `"created_at":-7`, event.ReasonNegative},
		{"a negative version", `"v":1`, `"v":-1`, event.ReasonNegative},
		{"a time over 2^53-1", `"created_at":7`, `"created_at":9007199254740992`, event.ReasonInvalid},
		{"no version", `,"v":1`, ``, event.ReasonInvalid},
		{"version 0", `"v":1`, `"v":0`, event.ReasonInvalid},
		{"an unknown phase", `"intent"`, `"later"`, event.ReasonInvalid},
		{"an unknown agency", `"machine"`, `"robot"`, event.ReasonInvalid},
		{"a person's phased input", `"machine"`, `"human"`, event.ReasonInvalid},
		{"a phased input without a target", `,"target":"00000002-0000-4000-8000-000000000002"`, ``, event.ReasonInvalid},
		{"no id", `,"id":"00000009-0000-4000-8000-000000000009"`, `,"id":""`, event.ReasonInvalid},
		{"a flag that may be left out", `"phase"`, `"no_fold":false,"phase"`, event.ReasonNotCanonical},
		{"a null that may be left out", `"phase"`, `"content":null,"phase"`, event.ReasonNotCanonical},
		{"names that are not sorted", `"kind":"user_input","v":1`, `"v":1,"kind":"user_input"`, event.ReasonNotCanonical},
		{"an escape", `user_input`, `user\u005finput`, event.ReasonNotCanonical},
		{"not UTF-8", `"intent"`, "\"\xff\"", event.ReasonMalformed},
		{"no end", `"v":1}`, `"v":1`, event.ReasonMalformed},
	} {
		if strings.Count(good, tt.old) != 1 {
			t.Fatalf("%s: %q is not there once", tt.about, tt.old)
		}
		bad := strings.Replace(good, tt.old, tt.new, 1)
		c, err := command.Decode([]byte(bad))
		var refused *command.DecodeError
		if !errors.As(err, &refused) || refused.Reason != tt.want || c.Body != nil {
			t.Errorf("%s: Decode(%s) = %+v, %v, want reason %s", tt.about, bad, c, err, tt.want)
		}
	}
	var refused *command.DecodeError
	if _, err := command.Decode(make([]byte, command.MaxCommandBytes+1)); !errors.As(err, &refused) || refused.Reason != event.ReasonTooLarge {
		t.Errorf("Decode of a large one = %v, want reason too_large", err)
	}
	var unknown *command.UnknownCommandTypeError
	if _, err := command.Decode([]byte(strings.Replace(good, "user_input", "user_inputs", 1))); !errors.As(err, &unknown) || unknown.Kind != "user_inputs" {
		t.Errorf("Decode of an unknown kind = %v, want an *UnknownCommandTypeError", err)
	}
	var newer *command.UnsupportedSchemaError
	for _, bad := range []string{strings.Replace(good, `"v":1`, `"v":2`, 1), strings.Replace(good, `"v":1`, `"v":2,"w":0`, 1)} {
		if _, err := command.Decode([]byte(bad)); !errors.As(err, &newer) || newer.Version != 2 {
			t.Errorf("Decode(%s) = %v, want an *UnsupportedSchemaError", bad, err)
		}
	}
}

// A refusal may end in a log that others read; what was refused may be private, or
// made to fill the log.
func TestRefusalsAreShortAndHoldNoValue(t *testing.T) {
	long := strings.Repeat("hunter2", 1<<13)
	for _, bad := range []string{
		strings.Replace(good, `"created_at":7`, `"created_at":"hunter2"`, 1),
		strings.Replace(good, `"intent"`, `["hunter2"]`, 1),
		strings.Replace(good, `"intent"`, `"hunter2"`, 1),
		strings.Replace(good, `"v":1`, `"v":1,"`+long+`":0`, 1),
		strings.Replace(good, `user_input`, long, 1),
		strings.Replace(strings.Replace(good, `user_input`, long, 1), `"v":1`, `"v":2,"w":0`, 1),
	} {
		_, err := command.Decode([]byte(bad))
		if err == nil || len(err.Error()) > 300 || len(bad) < len(long) && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("Decode(%.300s) = %.400v, want a short error without the value", bad, err)
		}
	}
}

func TestChecks(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	machine, human := command.Header{ID: id(1), Agency: event.Machine}, command.Header{ID: id(1), Agency: event.Human}
	for _, tt := range []struct {
		field string
		bad   command.Command
	}{
		{"header.id", command.Command{Body: command.Shutdown{}}},
		{"header.id", command.Command{Header: command.Header{ID: "x"}, Body: command.Shutdown{}}},
		{"header.agency", command.Command{Header: command.Header{ID: id(1), Agency: "robot"}, Body: command.Shutdown{}}},
		{"header.created_at", command.Command{Header: command.Header{ID: id(1), CreatedAt: event.MaxInt + 1}, Body: command.Shutdown{}}},
		{"header.cause.at", command.Command{Header: command.Header{ID: id(1), Cause: event.Cause{At: event.Coordinates{Turn: id(2)}}}, Body: command.Shutdown{}}},
		{"body", command.Command{Header: human, Body: &command.Shutdown{}}},
		{"body.phase", command.Command{Header: human, Body: command.UserInput{Phase: command.PhaseIntent, Target: id(2)}}},
		{"body.phase", command.Command{Header: machine, Body: command.UserInput{Phase: "later", Target: id(2)}}},
		{"body.target", command.Command{Header: machine, Body: command.UserInput{Phase: command.PhaseFallbackQueued}}},
		{"body.target", command.Command{Header: machine, Body: command.UserInput{NoFold: true}}},
		{"body.target", command.Command{Header: machine, Body: command.UserInput{Target: "x"}}},
		{"body.attempt", command.Command{Header: machine, Body: command.UserInput{Attempt: x(257)}}},
		{"body.content.type", command.Command{Header: machine, Body: command.UserInput{Content: []event.Block{{}}}}},
		{"body.outcome", command.Command{Header: machine, Body: command.SubagentResult{Delegate: id(2)}}},
		{"body.delegate", command.Command{Header: machine, Body: command.SubagentResult{Outcome: event.Done}}},
		{"body.scope", command.Command{Header: human, Body: command.ApproveToolCall{Gate: id(2), By: ada}}},
		{"body.by.kind", command.Command{Header: human, Body: command.ApproveToolCall{Gate: id(2), Scope: gate.ScopeOnce}}},
		{"body.gate", command.Command{Header: human, Body: command.ApproveToolCall{By: ada, Scope: gate.ScopeOnce}}},
		{"body.reason", command.Command{Header: human, Body: command.DenyToolCall{Gate: id(2), By: ada, Reason: x(gate.MaxText + 1)}}},
		{"body.answers.field", command.Command{Header: human, Body: command.ProvideInput{Gate: id(2), By: ada, Answers: []gate.Answer{{}}}}},
		{"body.command", command.Command{Header: human, Body: command.CancelQueued{}}},
		{"body.delegate", command.Command{Header: human, Body: command.CancelDelegate{}}},
		{"body.target", command.Command{Header: human, Body: command.Interrupt{Target: "x"}}},
		{"body.reason", command.Command{Header: human, Body: command.Shutdown{Reason: "\xff"}}},
		{"body.instructions", command.Command{Header: human, Body: command.Compact{Instructions: x(event.MaxText + 1)}}},
		{"body.process", command.Command{Header: machine, Body: command.ProcessNotification{}}},
		{"body.output", command.Command{Header: machine, Body: command.ProcessNotification{Process: "p", Output: x(event.MaxError + 1)}}},
	} {
		b, err := command.Encode(tt.bad)
		var field *command.FieldError
		if !errors.As(err, &field) || field.Field != tt.field || b != nil {
			t.Errorf("Encode(%+.200v) = %.100s, %v, want a *FieldError of %s", tt.bad, b, err, tt.field)
		}
	}
	var unknown *command.UnknownCommandTypeError
	if _, err := command.Encode(command.Command{Header: human}); !errors.As(err, &unknown) {
		t.Errorf("Encode without a body = %v, want an *UnknownCommandTypeError", err)
	}
	// A person's input needs no target, whatever else it asks for.
	if _, err := command.Encode(command.Command{Header: human, Body: command.UserInput{NoFold: true}}); err != nil {
		t.Errorf("Encode of a person's own turn = %v", err)
	}
}

// The two records of one input differ in the phase alone, and nothing else is
// forgotten with it.
func TestUnphased(t *testing.T) {
	intent := full()[0]
	queued := intent
	in := intent.Body.(command.UserInput)
	in.Phase = command.PhaseFallbackQueued
	queued.Body = in
	a, ok := intent.Unphased()
	b, ok2 := queued.Unphased()
	if !ok || !ok2 || !reflect.DeepEqual(a, b) || a.Phase() != command.PhaseNone {
		t.Errorf("Unphased = %+v, %v and %+v, %v, want the same without a phase", a, ok, b, ok2)
	}
	if intent.Phase() != command.PhaseIntent || queued.Phase() != command.PhaseFallbackQueued {
		t.Errorf("Unphased changed its receiver: %+v, %+v", intent, queued)
	}
	in.Content = event.Text("other")
	queued.Body = in
	if b, _ := queued.Unphased(); reflect.DeepEqual(a, b) {
		t.Errorf("Unphased forgets the content")
	}
	queued.Body, queued.CreatedAt = intent.Body, intent.CreatedAt+1
	if b, _ := queued.Unphased(); reflect.DeepEqual(a, b) {
		t.Errorf("Unphased forgets the header")
	}
	for _, c := range append(lean(), full()[1:]...) {
		if got, ok := c.Unphased(); ok || !reflect.DeepEqual(got, c) || c.Phase() != command.PhaseNone {
			t.Errorf("Unphased of %+v = %+v, %v, want it as it is", c, got, ok)
		}
	}
}

func TestRouted(t *testing.T) {
	for _, tt := range []struct {
		agency event.Agency
		body   command.Body
		want   bool
	}{
		{event.Machine, command.UserInput{NoFold: true, Target: id(2)}, true},
		{event.Machine, command.UserInput{Phase: command.PhaseIntent, Target: id(2)}, true},
		{event.Machine, command.UserInput{Target: id(2)}, false},
		{event.Human, command.UserInput{NoFold: true, Target: id(2)}, false},
		{"", command.UserInput{NoFold: true, Target: id(2)}, false},
		{event.Machine, command.Interrupt{Target: id(2)}, false},
	} {
		c := command.Command{Header: command.Header{ID: id(1), Agency: tt.agency}, Body: tt.body}
		target, routed := c.Routed()
		if routed != tt.want || (target == id(2)) != tt.want {
			t.Errorf("Routed of %+v = %s, %v, want %v", c, target, routed, tt.want)
		}
	}
}

// What is read prints the same bytes, and is canonical.
func FuzzDecode(f *testing.F) {
	for _, c := range append(full(), lean()...) {
		b, _ := command.Encode(c)
		f.Add(b)
	}
	f.Add([]byte(good))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := command.Decode(b)
		if err != nil {
			if c.Body != nil {
				t.Errorf("Decode(%q) = %+v with %v", b, c, err)
			}
			return
		}
		if again, err := command.Encode(c); err != nil || !bytes.Equal(again, b) || canon.Check(b) != nil {
			t.Errorf("%q prints %q, %v", b, again, err)
		}
		if u, ok := c.Unphased(); ok && u.Phase() != command.PhaseNone {
			t.Errorf("Unphased of %q has a phase", b)
		}
	})
}
