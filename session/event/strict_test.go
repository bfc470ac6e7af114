package event_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/comity-dev/comity/session/event"
)

// good is one small event, of which the tables spoil one thing at a time.
const good = `{"body":{"index":1},"header":{"at":{"loop":"00000002-0000-4000-8000-000000000002","session":"00000001-0000-4000-8000-000000000001",` +
	`"turn":"00000003-0000-4000-8000-000000000003"},"created_at":7,"id":"00000009-0000-4000-8000-000000000009"},"kind":"turn_started","v":1}`

func TestDecodeRefusesEveryOtherForm(t *testing.T) {
	if _, err := (*event.Kinds)(nil).Decode([]byte(good)); err != nil {
		t.Fatalf("Decode(good) = %v", err)
	}
	turn := `"turn":"00000003-0000-4000-8000-000000000003"`
	for _, tt := range []struct {
		about    string
		old, new string // spoils good
		want     event.Reason
	}{
		{"a member of the envelope", `"v":1}`, `"v":1,"x":1}`, event.ReasonUnknownField},
		{"a member of the header", `"id":`, `"host":"h","id":`, event.ReasonUnknownField},
		{"a member of the coordinates", turn, turn + `,"x":1`, event.ReasonUnknownField},
		{"a member of the body", `{"index":1}`, `{"index":1,"x":1}`, event.ReasonUnknownField},
		{"a member with another case", `"index"`, `"Index"`, event.ReasonUnknownField},
		{"a name twice in the envelope", `"v":1}`, `"v":1,"v":1}`, event.ReasonDuplicateKey},
		{"a name twice in the header", `"created_at":7`, `"created_at":7,"created_at":7`, event.ReasonDuplicateKey},
		{"a name twice in the body", `{"index":1}`, `{"index":1,"index":1}`, event.ReasonDuplicateKey},
		{"a name twice, once escaped", `{"index":1}`, `{"index":1,"\u0069ndex":1}`, event.ReasonDuplicateKey},
		{"a name twice in what is unknown", `{"index":1}`, `{"x":{"a":1,"a":2}}`, event.ReasonDuplicateKey},
		{"trailing data", `"v":1}`, `"v":1}{}`, event.ReasonTrailing},
		{"a trailing NUL", `"v":1}`, "\"v\":1}\x00", event.ReasonTrailing},
		{"a trailing newline", `"v":1}`, "\"v\":1}\n", event.ReasonNotCanonical},
		{"a string for a number", `"index":1`, `"index":"1"`, event.ReasonWrongType},
		{"a number for a string", `"kind":"turn_started"`, `"kind":7`, event.ReasonWrongType},
		{"a list for the body", `{"index":1}`, `[1]`, event.ReasonWrongType},
		{"a list for the header", `"header":{`, `"header":[],"x":{`, event.ReasonWrongType},
		{"a fraction", `"index":1`, `"index":1.5`, event.ReasonWrongType},
		{"a fraction of zero", `"index":1`, `"index":1.0`, event.ReasonWrongType},
		{"an exponent", `"index":1`, `"index":1e2`, event.ReasonWrongType},
		{"a number that no integer holds", `"index":1`, `"index":18446744073709551616`, event.ReasonWrongType},
		{"a negative number", `"index":1`, `"index":-1`, event.ReasonNegative},
		{"a negative time", `"created_at":7`, `"created_at":-7`, event.ReasonNegative},
		{"a negative version", `"v":1`, `"v":-1`, event.ReasonNegative},
		{"minus zero", `"created_at":7`, `"created_at":-0`, event.ReasonNegative},
		{"a number over 2^53-1", `"index":1`, `"index":9007199254740992`, event.ReasonInvalid},
		{"version 0", `"v":1`, `"v":0`, event.ReasonInvalid},
		{"no version", `,"v":1`, ``, event.ReasonInvalid},
		{"no index", `{"index":1}`, `{}`, event.ReasonInvalid},
		{"no id", `,"id":"00000009-0000-4000-8000-000000000009"`, ``, event.ReasonInvalid},
		{"an id in upper case", `"00000009-0000-4000-8000-000000000009"`, `"0000000A-0000-4000-8000-000000000009"`, event.ReasonInvalid},
		{"an id without dashes", `"00000009-0000-4000-8000-000000000009"`, `"00000009000040008000000000000009"`, event.ReasonInvalid},
		{"the zero id", `"00000009-0000-4000-8000-000000000009"`, `"00000000-0000-0000-0000-000000000000"`, event.ReasonInvalid},
		{"a turn without its loop", `"loop":"00000002-0000-4000-8000-000000000002",`, ``, event.ReasonInvalid},
		{"coordinates that reach too little", "," + turn, ``, event.ReasonInvalid},
		{"coordinates that reach too far", turn, `"step":"00000004-0000-4000-8000-000000000004",` + turn, event.ReasonInvalid},
		{"a visibility that is not the kind's", `"id":"00000009-0000-4000-8000-000000000009"`, `"id":"00000009-0000-4000-8000-000000000009","visibility":"internal"`, event.ReasonInvalid},
		{"an agency that is unknown", `"created_at":7`, `"cause":{"agency":"robot"},"created_at":7`, event.ReasonInvalid},
		{"an empty list that may be left out", `{"index":1}`, `{"index":1,"input":[]}`, event.ReasonNotCanonical},
		{"a null that may be left out", `{"index":1}`, `{"index":1,"input":null}`, event.ReasonNotCanonical},
		{"an empty text that may be left out", `"header":{`, `"header":{"agent":"",`, event.ReasonNotCanonical},
		{"a zero that may be left out", `"created_at":7`, `"created_at":0`, event.ReasonNotCanonical},
		{"an empty cause", `"created_at":7`, `"cause":{},"created_at":7`, event.ReasonNotCanonical},
		{"names that are not sorted", `"kind":"turn_started","v":1`, `"v":1,"kind":"turn_started"`, event.ReasonNotCanonical},
		{"whitespace", `"v":1`, `"v": 1`, event.ReasonNotCanonical},
		{"leading whitespace", `{"body"`, ` {"body"`, event.ReasonNotCanonical},
		{"an escape that is not needed", `turn_started`, `turn_st\u0061rted`, event.ReasonNotCanonical},
		{"a name with an escape", `"index"`, `"\u0069ndex"`, event.ReasonNotCanonical},
		{"a leading zero", `"index":1`, `"index":01`, event.ReasonMalformed},
		{"a comma too many", `"v":1}`, `"v":1,}`, event.ReasonMalformed},
		{"no end", `"v":1}`, `"v":1`, event.ReasonMalformed},
		{"not UTF-8", `"header":{`, "\"header\":{\"agent\":\"\xff\",", event.ReasonMalformed},
		{"half a surrogate", `"header":{`, `"header":{"agent":"\ud800",`, event.ReasonMalformed},
		{"a byte order mark", `{"body"`, "\ufeff{\"body\"", event.ReasonMalformed},
		{"a comment", `"v":1}`, `"v":1/**/}`, event.ReasonMalformed},
	} {
		if strings.Count(good, tt.old) != 1 {
			t.Fatalf("%s: %q is in the good event %d times", tt.about, tt.old, strings.Count(good, tt.old))
		}
		bad := strings.Replace(good, tt.old, tt.new, 1)
		e, err := (*event.Kinds)(nil).Decode([]byte(bad))
		var refused *event.DecodeError
		if !errors.As(err, &refused) || refused.Reason != tt.want || e.Body != nil {
			t.Errorf("%s: Decode(%s) = %+v, %v, want reason %s", tt.about, bad, e, err, tt.want)
		}
	}
	for _, bad := range []string{"", "null", "[]", "7", `"x"`, "{}", "\x00", "LRJE"} {
		if e, err := (*event.Kinds)(nil).Decode([]byte(bad)); err == nil || e.Body != nil {
			t.Errorf("Decode(%q) = %+v, %v, want an error", bad, e, err)
		}
	}
}

func TestDecodeNamesWhatItDoesNotKnow(t *testing.T) {
	var newer *event.UnsupportedSchemaError
	var unknown *event.UnknownEventTypeError
	var passing *event.EphemeralNotPersistableError
	for _, bad := range []string{
		strings.Replace(good, `"v":1`, `"v":2`, 1),
		strings.Replace(strings.Replace(good, `"v":1`, `"v":2`, 1), `{"index":1}`, `{"index":{"of":1}}`, 1),
		strings.Replace(good, `"v":1`, `"v":2,"w":{}`, 1),
	} {
		if _, err := (*event.Kinds)(nil).Decode([]byte(bad)); !errors.As(err, &newer) || newer.Version != 2 || newer.Newest != 1 || newer.Kind != event.KindTurnStarted {
			t.Errorf("Decode(%s) = %v, want an *UnsupportedSchemaError", bad, err)
		}
	}
	bad := strings.Replace(good, "turn_started", "turn_begun", 1)
	if _, err := (*event.Kinds)(nil).Decode([]byte(bad)); !errors.As(err, &unknown) || unknown.Kind != "turn_begun" {
		t.Errorf("Decode(%s) = %v, want an *UnknownEventTypeError", bad, err)
	}
	bad = strings.Replace(good, "turn_started", "text_streamed", 1)
	if _, err := (*event.Kinds)(nil).Decode([]byte(bad)); !errors.As(err, &passing) {
		t.Errorf("Decode(%s) = %v, want an *EphemeralNotPersistableError", bad, err)
	}
}

// A refusal may end in a log that others read; what was refused may be private.
func TestRefusalsHoldNoValue(t *testing.T) {
	for _, bad := range []string{
		strings.Replace(good, `"index":1`, `"index":"hunter2"`, 1),
		strings.Replace(good, `"index":1`, `"index":-31337`, 1),
		strings.Replace(good, `"created_at":7`, `"created_at":31337.5`, 1),
		strings.Replace(good, `"header":{`, `"header":{"agent":"`+strings.Repeat("hunter2", 100)+`",`, 1),
	} {
		_, err := (*event.Kinds)(nil).Decode([]byte(bad))
		if err == nil || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "31337") {
			t.Errorf("Decode(%.200s) = %v, want an error without the value", bad, err)
		}
	}
	long := strings.Repeat("x", 1<<16)
	for _, bad := range []string{
		strings.Replace(good, `"index"`, `"`+long+`"`, 1),
		strings.Replace(good, `"index":1`, `"`+long+`":1,"`+long+`":1`, 1),
		strings.Replace(good, `turn_started`, long, 1),
	} {
		if _, err := (*event.Kinds)(nil).Decode([]byte(bad)); err == nil || len(err.Error()) > 300 {
			t.Errorf("Decode of a long name = %.400v, want a short error", err)
		}
	}
}

func TestDecodeBoundsTheWhole(t *testing.T) {
	b := append([]byte(good), make([]byte, event.MaxEventBytes)...)
	var refused *event.DecodeError
	if _, err := (*event.Kinds)(nil).Decode(b); !errors.As(err, &refused) || refused.Reason != event.ReasonTooLarge {
		t.Errorf("Decode of %d bytes = %v, want reason too_large", len(b), err)
	}
	e := full()[8]
	e.Body = event.MessageAdded{Role: event.RoleUser, Content: event.Text(strings.Repeat("x", event.MaxEventBytes))}
	var field *event.FieldError
	if b, err := (*event.Kinds)(nil).Encode(e); !errors.As(err, &field) || b != nil {
		t.Errorf("Encode of a large message = %d bytes, %v, want a *FieldError", len(b), err)
	}
	e.Body = event.MessageAdded{Role: event.RoleUser, Content: event.Text(strings.Repeat("x", event.MaxEventBytes-2048))}
	b = encode(t, e)
	if _, err := (*event.Kinds)(nil).Decode(b); err != nil {
		t.Errorf("Decode of %d bytes = %v", len(b), err)
	}
}
