package event_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/comity-dev/comity/session/event"
)

// plan is a kind of a harness's own; its second version has a field more.
type plan struct {
	Text  string `json:"text"`
	Notes string `json:"notes,omitzero"` // not sorted: the codec sorts
	Owner string `json:"owner,omitzero"` // since version 2
}

func (plan) Kind() string { return "acme.plan" }

func plans(version uint64) event.Rules[plan] {
	return event.Rules[plan]{
		Version: version,
		Check: func(p plan) error {
			if p.Text == "" {
				return &event.FieldError{Kind: "acme.plan", Field: "body.text", Detail: "missing"}
			}
			return nil
		},
		Public: func(_ event.Header, p plan) plan { p.Notes = ""; return p },
	}
}

func registry(t *testing.T, kinds ...event.Kind) *event.Kinds {
	t.Helper()
	ks, err := event.NewKinds(kinds...)
	if err != nil {
		t.Fatal(err)
	}
	return ks
}

func TestOwnKind(t *testing.T) {
	ks := registry(t, event.NewKind(plans(1)))
	e := event.Event{Header: event.Header{ID: id(1), At: session}, Body: plan{Text: "t", Notes: "private"}}
	b, err := ks.Encode(e)
	want := `{"body":{"notes":"private","text":"t"},"header":{"at":{"session":"` + string(id(1)) + `"},"id":"` + string(id(1)) + `"},"kind":"acme.plan","v":1}`
	if err != nil || string(b) != want {
		t.Fatalf("Encode = %s, %v, want %s", b, err, want)
	}
	if back, err := ks.Decode(b); err != nil || back != e {
		t.Errorf("Decode(%s) = %+v, %v, want %+v", b, back, err, e)
	}
	public, err := ks.Public(e)
	if want := strings.Replace(want, `"notes":"private",`, "", 1); err != nil || string(public) != want {
		t.Errorf("Public = %s, %v, want %s", public, err, want)
	}
	var field *event.FieldError
	if _, err := ks.Encode(event.Event{Header: e.Header, Body: plan{}}); !errors.As(err, &field) || field.Field != "body.text" {
		t.Errorf("Encode of a bad plan = %v, want a *FieldError", err)
	}
	var refused *event.DecodeError
	for _, bad := range []string{strings.Replace(want, `"notes"`, `"remarks"`, 1), strings.Replace(want, `"text":"t"`, `"text":""`, 1), strings.Replace(want, `"notes":"private","text":"t"`, `"text":"t","notes":"private"`, 1)} {
		if _, err := ks.Decode([]byte(bad)); !errors.As(err, &refused) {
			t.Errorf("Decode(%s) = %v, want a *DecodeError", bad, err)
		}
	}
	// Who does not have the kind refuses it, and the built-in ones are still there.
	var unknown *event.UnknownEventTypeError
	if _, err := (*event.Kinds)(nil).Decode(b); !errors.As(err, &unknown) {
		t.Errorf("Decode without the kind = %v, want an *UnknownEventTypeError", err)
	}
	if _, err := (*event.Kinds)(nil).Encode(e); !errors.As(err, &unknown) {
		t.Errorf("Encode without the kind = %v, want an *UnknownEventTypeError", err)
	}
	if _, err := ks.Decode([]byte(good)); err != nil {
		t.Errorf("Decode of a built-in kind = %v", err)
	}
	if got, want := len(ks.All()), len((*event.Kinds)(nil).All())+1; got != want {
		t.Errorf("%d kinds, want %d", got, want)
	}
}

// An event of an older schema is read by a newer build and keeps its bytes; the other
// way round it is refused by name.
func TestSchemaGrows(t *testing.T) {
	older, newer := registry(t, event.NewKind(plans(1))), registry(t, event.NewKind(plans(2)))
	h := event.Header{ID: id(1), At: session}
	old, err := older.Encode(event.Event{Header: h, Body: plan{Text: "t"}})
	if err != nil {
		t.Fatal(err)
	}
	e, err := newer.Decode(old)
	if err != nil || e.Schema != 1 {
		t.Fatalf("Decode of version 1 = %+v, %v, want schema 1", e, err)
	}
	if again, err := newer.Encode(e); err != nil || string(again) != string(old) {
		t.Errorf("Encode = %s, %v, want %s", again, err, old)
	}
	b, err := newer.Encode(event.Event{Header: h, Body: plan{Text: "t", Owner: "ada"}})
	if err != nil || !strings.HasSuffix(string(b), `"v":2}`) {
		t.Fatalf("Encode = %s, %v, want version 2", b, err)
	}
	if e, err := newer.Decode(b); err != nil || e.Schema != 0 {
		t.Errorf("Decode of version 2 = %+v, %v, want schema 0", e, err)
	}
	var unsupported *event.UnsupportedSchemaError
	if _, err := older.Decode(b); !errors.As(err, &unsupported) || unsupported.Version != 2 {
		t.Errorf("Decode by the older build = %v, want an *UnsupportedSchemaError", err)
	}
	e.Schema = 3
	if _, err := newer.Encode(e); !errors.As(err, &unsupported) {
		t.Errorf("Encode in schema 3 = %v, want an *UnsupportedSchemaError", err)
	}
}

type named string

func (n named) Kind() string { return string(n) }

type builtinName struct{}

func (builtinName) Kind() string { return event.KindTurnEnded }

type noDot struct{}

func (noDot) Kind() string { return "plan" }

type loud struct{}

func (loud) Kind() string { return "acme.Plan" }

type long struct{}

func (long) Kind() string { return "acme." + strings.Repeat("x", event.MaxKind) }

type emptyWord struct{}

func (emptyWord) Kind() string { return "acme." }

func TestRegistryRefuses(t *testing.T) {
	for about, kinds := range map[string][]event.Kind{
		"a name of this package":        {event.NewKind(event.Rules[builtinName]{})},
		"a name without a dot":          {event.NewKind(event.Rules[noDot]{})},
		"a name in upper case":          {event.NewKind(event.Rules[loud]{})},
		"a long name":                   {event.NewKind(event.Rules[long]{})},
		"a name with an empty word":     {event.NewKind(event.Rules[emptyWord]{})},
		"no name":                       {event.NewKind(event.Rules[named]{})},
		"a kind twice":                  {event.NewKind(plans(1)), event.NewKind(plans(2))},
		"a kind made by hand":           {{Name: "acme.plan", Version: 1, Least: event.AtLoop, Most: event.AtLoop}},
		"coordinates that never fit":    {event.NewKind(event.Rules[plan]{Least: event.AtTurn, Most: event.AtLoop})},
		"coordinates that do not exist": {event.NewKind(event.Rules[plan]{Most: event.AtStep + 1})},
		"an unknown visibility":         {event.NewKind(event.Rules[plan]{Visibility: "secret"})},
		"an unknown class":              {event.NewKind(event.Rules[plan]{Class: 7})},
		"a version out of range":        {event.NewKind(event.Rules[plan]{Version: event.MaxInt + 1})},
	} {
		if ks, err := event.NewKinds(kinds...); err == nil || ks != nil {
			t.Errorf("NewKinds with %s = %v, %v, want an error", about, ks, err)
		}
	}
}

// A body that merely says that it is of a kind is not.
type impostor struct{ event.TurnEnded }

func (impostor) Kind() string { return event.KindSessionStopped }

func TestBodyOfAnotherTypeIsRefused(t *testing.T) {
	var ks *event.Kinds
	h := event.Header{ID: id(1), At: session}
	for _, body := range []event.Body{impostor{}, &event.SessionStopped{}, nil} {
		if b, err := ks.Encode(event.Event{Header: h, Body: body}); err == nil {
			t.Errorf("Encode(%T) = %s, want an error", body, b)
		}
	}
}
