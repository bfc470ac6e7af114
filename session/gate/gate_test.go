package gate_test

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
	"github.com/comity-dev/comity/session/gate"
)

var update = flag.Bool("update", false, "write the vectors anew; a changed vector is a broken format")

const vectorFile = "../../testdata/vectors/session/gates.json"

func permission() gate.Payload {
	return gate.Payload{Permission: &gate.Permission{
		Tool: "Bash", Input: `{"command":"rm -rf x","t":0.5}`, Description: "removes x",
		Scopes: []gate.Scope{gate.ScopeOnce, gate.ScopeSession},
	}}
}

func form() gate.Payload {
	return gate.Payload{Form: &gate.Form{Message: "Which?", Fields: []gate.Field{
		{Name: "name", Label: "Name", Help: "yours", Type: gate.FieldText, Required: true},
		{Name: "age", Type: gate.FieldInteger},
		{Name: "sure", Type: gate.FieldBool},
		{Name: "colour", Type: gate.FieldChoice, Choices: []gate.Choice{{Value: "r", Label: "red", Help: "warm"}, {Value: "b"}}},
		{Name: "sizes", Type: gate.FieldChoices, Choices: []gate.Choice{{Value: "s"}, {Value: "m"}, {Value: "l"}}},
		{Name: "token", Type: gate.FieldText, Secret: true},
	}}}
}

func payloads() []gate.Payload {
	return []gate.Payload{
		permission(), form(),
		{Permission: &gate.Permission{Tool: "Read"}},
		{Form: &gate.Form{Fields: []gate.Field{{Name: "f", Type: gate.FieldBool}}}},
	}
}

func decisions() []gate.Decision {
	ada := gate.Decider{Kind: gate.Person, Name: "ada", Via: "cli"}
	return []gate.Decision{
		{Action: gate.Approved, Scope: gate.ScopeSession, By: ada, Reason: "fine", Audit: "a"},
		{Action: gate.Denied, By: gate.Decider{Kind: gate.Policy, Name: "no-rm"}, Reason: "no"},
		{Action: gate.Answered, By: ada, Answers: []gate.Answer{{Field: "name", Values: []string{"Ada"}}, {Field: "age"}}},
		{Action: gate.Cancelled, By: gate.Decider{Kind: gate.System}},
		{Action: gate.Unavailable, By: gate.Decider{Kind: gate.Model}},
	}
}

func TestVectors(t *testing.T) {
	var got []string
	for _, p := range payloads() {
		b, err := gate.EncodePayload(p)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(b))
	}
	for _, d := range decisions() {
		b, err := gate.EncodeDecision(d)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(b))
	}
	if *update {
		b, err := json.MarshalIndent(got, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(vectorFile), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(vectorFile, append(b, '\n'), 0o644); err != nil {
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

func TestRoundTrip(t *testing.T) {
	for _, p := range payloads() {
		b, err := gate.EncodePayload(p)
		if err != nil || canon.Check(b) != nil {
			t.Fatalf("EncodePayload(%+v) = %s, %v", p, b, err)
		}
		if back, err := gate.DecodePayload(b); err != nil || !reflect.DeepEqual(back, p) {
			t.Errorf("DecodePayload(%s) = %+v, %v, want %+v", b, back, err, p)
		}
	}
	for _, d := range decisions() {
		b, err := gate.EncodeDecision(d)
		if err != nil || canon.Check(b) != nil {
			t.Fatalf("EncodeDecision(%+v) = %s, %v", d, b, err)
		}
		if back, err := gate.DecodeDecision(b); err != nil || !reflect.DeepEqual(back, d) {
			t.Errorf("DecodeDecision(%s) = %+v, %v, want %+v", b, back, err, d)
		}
	}
}

const goodPayload = `{"permission":{"scopes":["once"],"tool":"Bash"},"v":1}`

func TestDecodeRefusesEveryOtherForm(t *testing.T) {
	if _, err := gate.DecodePayload([]byte(goodPayload)); err != nil {
		t.Fatalf("DecodePayload(good) = %v", err)
	}
	for _, tt := range []struct {
		about    string
		old, new string
		want     gate.Reason
	}{
		{"a member", `"v":1`, `"v":1,"w":1`, gate.UnknownField},
		{"a member inside", `"tool":"Bash"`, `"tool":"Bash","use":"u"`, gate.UnknownField},
		{"another case", `"tool"`, `"Tool"`, gate.UnknownField},
		{"a name twice", `"v":1`, `"v":1,"v":1`, gate.DuplicateKey},
		{"trailing data", `"v":1}`, `"v":1} {}`, gate.Trailing},
		{"a trailing space", `"v":1}`, `"v":1} `, gate.NotCanonical},
		{"a number for a text", `"Bash"`, `7`, gate.WrongType},
		{"a text for a list", `["once"]`, `"once"`, gate.WrongType},
		{"a fraction", `"v":1`, `"v":1.0`, gate.WrongType},
		{"a negative number", `"v":1`, `"v":-1`, gate.Negative},
		{"no version", `,"v":1`, ``, gate.Invalid},
		{"version 0", `"v":1`, `"v":0`, gate.Invalid},
		{"an unknown scope", `"once"`, `"ever"`, gate.Invalid},
		{"a scope twice", `"once"`, `"once","once"`, gate.Invalid},
		{"no tool", `"tool":"Bash"`, `"tool":""`, gate.Invalid},
		{"null for the question", `{"scopes":["once"],"tool":"Bash"}`, `null`, gate.NotCanonical},
		{"both questions", `"permission"`, `"form":{"fields":[{"name":"f","type":"bool"}]},"permission"`, gate.Invalid},
		{"an empty list", `["once"]`, `[]`, gate.NotCanonical},
		{"names that are not sorted", `"scopes":["once"],"tool":"Bash"`, `"tool":"Bash","scopes":["once"]`, gate.NotCanonical},
		{"whitespace", `"v":1`, `"v": 1`, gate.NotCanonical},
		{"an escape", `Bash`, `\u0042ash`, gate.NotCanonical},
		{"not UTF-8", `Bash`, "\xff", gate.Malformed},
		{"no end", `"v":1}`, `"v":1`, gate.Malformed},
	} {
		if strings.Count(goodPayload, tt.old) != 1 {
			t.Fatalf("%s: %q is not there once", tt.about, tt.old)
		}
		bad := strings.Replace(goodPayload, tt.old, tt.new, 1)
		p, err := gate.DecodePayload([]byte(bad))
		var refused *gate.DecodeError
		if !errors.As(err, &refused) || refused.Reason != tt.want || p.Kind() != "" {
			t.Errorf("%s: DecodePayload(%s) = %+v, %v, want reason %s", tt.about, bad, p, err, tt.want)
		}
	}
	large := `{"permission":{"description":"` + strings.Repeat("x", gate.MaxPayloadBytes) + `","tool":"t"},"v":1}`
	var refused *gate.DecodeError
	if _, err := gate.DecodePayload([]byte(large)); !errors.As(err, &refused) || refused.Reason != gate.TooLarge {
		t.Errorf("DecodePayload of a large one = %v, want reason too_large", err)
	}
	var newer *gate.UnsupportedSchemaError
	for _, bad := range []string{`{"permission":{"tool":"Bash"},"v":2}`, `{"riddle":{},"v":2}`} {
		if _, err := gate.DecodePayload([]byte(bad)); !errors.As(err, &newer) || newer.Version != 2 {
			t.Errorf("DecodePayload(%s) = %v, want an *UnsupportedSchemaError", bad, err)
		}
	}
}

// A refusal may end in a log that others read.
func TestRefusalsHoldNoValue(t *testing.T) {
	for _, bad := range []string{
		`{"action":"answered","answers":[{"field":"f","values":"hunter2"}],"by":{"kind":"person"},"v":1}`,
		`{"action":"answered","answers":[{"field":"f","values":[-31337]}],"by":{"kind":"person"},"v":1}`,
		`{"action":"denied","by":{"kind":"person"},"v":-31337}`,
		`{"action":"hunter2","by":{"kind":"person"},"v":1}`,
	} {
		_, err := gate.DecodeDecision([]byte(bad))
		if err == nil || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "31337") {
			t.Errorf("DecodeDecision(%s) = %v, want an error without the value", bad, err)
		}
	}
	name := strings.Repeat("x", 1<<16)
	for _, bad := range []string{`{"` + name + `":1,"v":1}`, `{"` + name + `":1,"` + name + `":1,"v":1}`} {
		if _, err := gate.DecodeDecision([]byte(bad)); err == nil || len(err.Error()) > 300 {
			t.Errorf("DecodeDecision of a long name = %.400v, want a short error", err)
		}
	}
}

// A refusal names the member as the rules of this package do.
func TestRefusalsNameTheMember(t *testing.T) {
	_, err := gate.DecodePayload([]byte(strings.Replace(goodPayload, `"Bash"`, `7`, 1)))
	var field *gate.FieldError
	if !errors.As(err, &field) || field.Field != "permission.tool" {
		t.Errorf("DecodePayload of a tool that is a number = %v, want a *FieldError of permission.tool", err)
	}
}

func TestChecksBound(t *testing.T) {
	x := strings.Repeat
	f := func(fields ...gate.Field) gate.Payload { return gate.Payload{Form: &gate.Form{Fields: fields}} }
	many := func(n int) (fields []gate.Field) {
		for i := range n {
			fields = append(fields, gate.Field{Name: x("n", i+1), Type: gate.FieldText})
		}
		return fields
	}
	choices := func(n int) gate.Field {
		field := gate.Field{Name: "f", Type: gate.FieldChoice}
		for i := range n {
			field.Choices = append(field.Choices, gate.Choice{Value: string(rune('\u4e00' + i))})
		}
		return field
	}
	for _, tt := range []struct {
		field     string
		good, bad gate.Payload
	}{
		{"permission", permission(), gate.Payload{}},
		{"permission.tool", gate.Payload{Permission: &gate.Permission{Tool: x("x", 256)}}, gate.Payload{Permission: &gate.Permission{Tool: x("x", 257)}}},
		{"permission.input", gate.Payload{Permission: &gate.Permission{Tool: "t", Input: x("x", gate.MaxInput)}}, gate.Payload{Permission: &gate.Permission{Tool: "t", Input: x("x", gate.MaxInput+1)}}},
		{"permission.description", gate.Payload{Permission: &gate.Permission{Tool: "t", Description: x("x", 4096)}}, gate.Payload{Permission: &gate.Permission{Tool: "t", Description: x("x", 4097)}}},
		{"permission.description", permission(), gate.Payload{Permission: &gate.Permission{Tool: "t", Description: "\xff"}}},
		{"form.fields", f(many(gate.MaxFields)...), f(many(gate.MaxFields + 1)...)},
		{"form.fields", f(many(1)...), f()},
		{"form.fields.name", f(many(2)...), f(many(2)[0], many(2)[0])},
		{"form.fields.type", f(gate.Field{Name: "f", Type: "bool"}), f(gate.Field{Name: "f", Type: "date"})},
		{"form.fields.choices", f(choices(gate.MaxChoices)), f(choices(gate.MaxChoices + 1))},
		{"form.fields.choices", f(choices(1)), f(choices(0))},
		{"form.fields.choices", f(gate.Field{Name: "f", Type: "text"}), f(gate.Field{Name: "f", Type: "text", Choices: choices(1).Choices})},
		{"form.fields.choices.value", f(choices(2)), f(gate.Field{Name: "f", Type: "choice", Choices: []gate.Choice{{Value: "a"}, {Value: "a"}}})},
	} {
		if err := tt.good.Check(); err != nil {
			t.Errorf("%s: Check = %v", tt.field, err)
		}
		var field *gate.FieldError
		if err := tt.bad.Check(); !errors.As(err, &field) || field.Field != tt.field {
			t.Errorf("%s: Check of the bad one = %v, want a *FieldError of it", tt.field, err)
		}
		if b, err := gate.EncodePayload(tt.bad); err == nil {
			t.Errorf("%s: EncodePayload of the bad one = %.100s", tt.field, b)
		}
	}
}

func TestDecisionsAreChecked(t *testing.T) {
	by := gate.Decider{Kind: gate.Person}
	for _, tt := range []struct {
		field string
		bad   gate.Decision
	}{
		{"action", gate.Decision{By: by}},
		{"action", gate.Decision{Action: "maybe", By: by}},
		{"scope", gate.Decision{Action: gate.Approved, By: by}},
		{"scope", gate.Decision{Action: gate.Approved, Scope: "ever", By: by}},
		{"scope", gate.Decision{Action: gate.Denied, Scope: gate.ScopeOnce, By: by}},
		{"by.kind", gate.Decision{Action: gate.Denied}},
		{"by.name", gate.Decision{Action: gate.Denied, By: gate.Decider{Kind: gate.Person, Name: strings.Repeat("x", 257)}}},
		{"answers", gate.Decision{Action: gate.Denied, By: by, Answers: []gate.Answer{{Field: "f"}}}},
		{"answers.field", gate.Decision{Action: gate.Answered, By: by, Answers: []gate.Answer{{}}}},
		{"answers.field", gate.Decision{Action: gate.Answered, By: by, Answers: []gate.Answer{{Field: "f"}, {Field: "f"}}}},
		{"answers.values", gate.Decision{Action: gate.Answered, By: by, Answers: []gate.Answer{{Field: "f", Values: []string{strings.Repeat("x", gate.MaxAnswer+1)}}}}},
		{"answers.values", gate.Decision{Action: gate.Answered, By: by, Answers: []gate.Answer{{Field: "f", Values: make([]string, gate.MaxValues+1)}}}},
		{"reason", gate.Decision{Action: gate.Denied, By: by, Reason: strings.Repeat("x", 4097)}},
		{"audit", gate.Decision{Action: gate.Denied, By: by, Audit: "\xff"}},
	} {
		var field *gate.FieldError
		if err := tt.bad.Check(); !errors.As(err, &field) || field.Field != tt.field {
			t.Errorf("Check(%+v) = %v, want a *FieldError of %s", tt.bad, err, tt.field)
		}
	}
}

func TestPublicDecisionWithholds(t *testing.T) {
	for _, d := range decisions() {
		before, err := gate.EncodeDecision(d)
		if err != nil {
			t.Fatal(err)
		}
		p := d.Public()
		if p.Audit != "" || p.Answers != nil || p.Action != d.Action || p.By != d.By || p.Reason != d.Reason || p.Scope != d.Scope {
			t.Errorf("Public of %+v = %+v", d, p)
		}
		if after, err := gate.EncodeDecision(d); err != nil || !bytes.Equal(before, after) {
			t.Errorf("Public changed %s to %s", before, after)
		}
	}
}

func TestAccepts(t *testing.T) {
	by := gate.Decider{Kind: gate.Person}
	approve := func(s gate.Scope) gate.Decision { return gate.Decision{Action: gate.Approved, Scope: s, By: by} }
	answer := func(pairs ...string) gate.Decision { // field and value, or field and "" for none
		d := gate.Decision{Action: gate.Answered, By: by}
		for i := 0; i < len(pairs); i += 2 {
			var values []string
			if pairs[i+1] != "" {
				values = strings.Split(pairs[i+1], ",")
			}
			d.Answers = append(d.Answers, gate.Answer{Field: pairs[i], Values: values})
		}
		return d
	}
	lone := gate.Payload{Permission: &gate.Permission{Tool: "t"}}
	for _, tt := range []struct {
		p    gate.Payload
		d    gate.Decision
		want bool
	}{
		{permission(), approve(gate.ScopeOnce), true},
		{permission(), approve(gate.ScopeSession), true},
		{permission(), approve(gate.ScopeProject), false},
		{lone, approve(gate.ScopeOnce), true},
		{lone, approve(gate.ScopeSession), false},
		{lone, gate.Decision{Action: gate.Denied, By: by}, true},
		{lone, answer(), false},
		{form(), gate.Decision{Action: gate.Denied, By: by}, false},
		{form(), approve(gate.ScopeOnce), false},
		{form(), gate.Decision{Action: gate.Cancelled, By: by}, true},
		{lone, gate.Decision{Action: gate.Unavailable, By: by}, true},
		{form(), answer("name", "Ada"), true},
		{form(), answer("name", "Ada", "age", "-7", "sure", "true", "colour", "b", "sizes", "s,l", "token", "t"), true},
		{form(), answer("name", "Ada", "age", ""), true},
		{form(), answer(), false},
		{form(), answer("name", ""), false},
		{form(), answer("age", "7"), false},
		{form(), answer("name", "Ada", "age", "07"), false},
		{form(), answer("name", "Ada", "age", "7.0"), false},
		{form(), answer("name", "Ada", "age", "9007199254740992"), false},
		{form(), answer("name", "Ada", "age", "-9007199254740991"), true},
		{form(), answer("name", "Ada", "sure", "yes"), false},
		{form(), answer("name", "Ada", "colour", "x"), false},
		{form(), answer("name", "Ada", "colour", "r,b"), false},
		{form(), answer("name", "Ada", "sizes", "s,s"), false},
		{form(), answer("name", "Ada", "other", "x"), false},
		{form(), answer("age", "7", "name", "Ada"), false},
		{form(), gate.Decision{Action: "maybe", By: by}, false},
	} {
		err := tt.p.Accepts(tt.d)
		var mismatch *gate.MismatchError
		if (err == nil) != tt.want || err != nil && !errors.As(err, &mismatch) {
			t.Errorf("%s.Accepts(%+v) = %v, want %v", tt.p.Kind(), tt.d, err, tt.want)
		}
	}
}

// What is read prints the same bytes, and is canonical.
func FuzzDecode(f *testing.F) {
	for _, p := range payloads() {
		b, _ := gate.EncodePayload(p)
		f.Add(b)
	}
	for _, d := range decisions() {
		b, _ := gate.EncodeDecision(d)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := gate.DecodePayload(b)
		if err == nil {
			if again, err := gate.EncodePayload(p); err != nil || !bytes.Equal(again, b) || canon.Check(b) != nil {
				t.Errorf("%q prints %q, %v", b, again, err)
			}
		} else if p.Kind() != "" {
			t.Errorf("DecodePayload(%q) = %+v, %v", b, p, err)
		}
		d, err := gate.DecodeDecision(b)
		if err == nil {
			if again, err := gate.EncodeDecision(d); err != nil || !bytes.Equal(again, b) || canon.Check(b) != nil {
				t.Errorf("%q prints %q, %v", b, again, err)
			}
			_ = p.Accepts(d)
		} else if d.Action != "" {
			t.Errorf("DecodeDecision(%q) = %+v, %v", b, d, err)
		}
	})
}
