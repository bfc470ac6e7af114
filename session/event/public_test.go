package event_test

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/comity-dev/comity/session/event"
)

func TestPublicFormIsAnEventAndItsOwnPublicForm(t *testing.T) {
	var ks *event.Kinds
	for _, e := range full() {
		if ephemeral(e) || e.Visibility == event.Internal {
			continue
		}
		public, err := ks.Public(e)
		if err != nil {
			t.Fatal(err)
		}
		back, err := ks.Decode(public)
		if err != nil {
			t.Errorf("Decode of the public form of %s: %v", e.Body.Kind(), err)
			continue
		}
		if again, err := ks.Public(back); err != nil || !bytes.Equal(again, public) {
			t.Errorf("public form of the public form of %s = %s, %v, want %s", e.Body.Kind(), again, err, public)
		}
		if back.ID != e.ID || back.At != e.At {
			t.Errorf("%s: public header %+v, want that of %+v", e.Body.Kind(), back.Header, e.Header)
		}
	}
}

// Both forms at once are those that are made one by one.
func TestEncodeBoth(t *testing.T) {
	own := registry(t, event.NewKind(event.Rules[secret]{
		Check: func(b secret) error {
			if b.Text == "" {
				return errors.New("no text")
			}
			return nil
		},
		Public: func(_ event.Header, b secret) secret { return secret{strings.TrimPrefix(b.Text, "all of it")} },
	}))
	h := event.Header{ID: id(1), At: session}
	for _, e := range append(full(), event.Event{}, event.Event{Header: h, Body: event.TurnStarted{}},
		event.Event{Header: h, Body: secret{"a"}}, event.Event{Header: h, Body: secret{"all of it"}}, event.Event{Header: h, Body: secret{}}) {
		wantStored, wantErr := own.Encode(e)
		var wantPublic []byte
		if wantErr == nil {
			wantPublic, wantErr = own.Public(e)
		}
		var internal *event.NotPublicError
		if errors.As(wantErr, &internal) {
			wantErr = nil
		} else if wantErr != nil {
			wantStored = nil
		}
		stored, public, err := own.EncodeBoth(e)
		if !bytes.Equal(stored, wantStored) || !bytes.Equal(public, wantPublic) || (public == nil) != (wantPublic == nil) {
			t.Errorf("EncodeBoth(%+v) = %s, %s, want %s, %s", e, stored, public, wantStored, wantPublic)
		}
		if cause := errors.Unwrap(err); cause != nil {
			err = cause // of the public form
		}
		if !reflect.DeepEqual(err, wantErr) {
			t.Errorf("EncodeBoth(%+v) = %v, want %v", e, err, wantErr)
		}
	}
	if _, err := own.Public(event.Event{Header: h, Body: secret{"all of it"}}); err == nil {
		t.Error("a projection against the rule of its kind was taken")
	}
}

type secret struct {
	Text string `json:"text"`
}

func (secret) Kind() string { return "test.secret" }

// What is withheld is in no public form, and what is not is in it.
func TestPublicFormWithholds(t *testing.T) {
	withheld := []string{"/home/ada", "secret answer", "secret audit"}
	all := ""
	for _, e := range full() {
		if ephemeral(e) || e.Visibility == event.Internal {
			continue
		}
		stored, public := string(encode(t, e)), ""
		if b, err := (*event.Kinds)(nil).Public(e); err == nil {
			public = string(b)
		}
		all += stored
		for _, s := range withheld {
			if strings.Contains(public, s) {
				t.Errorf("public form of %s has %q: %s", e.Body.Kind(), s, public)
			}
		}
		switch e.Body.(type) {
		case event.SessionStarted:
			if want := "/sessions/" + string(e.At.Session) + "/workspace"; !strings.Contains(public, want) {
				t.Errorf("public form of a start = %s, want %s in it", public, want)
			}
		case event.ConfigurationAdopted:
			if !strings.Contains(public, `"new":"m-2"`) || !strings.Contains(public, `{"field":"workspace","level":"warn"}`) {
				t.Errorf("public form of an adoption = %s", public)
			}
		case event.GateResolved:
			if !strings.Contains(public, `"name":"ada"`) || !strings.Contains(public, `"reason":"r"`) {
				t.Errorf("public form of a decision = %s", public)
			}
		default:
			if public != stored {
				t.Errorf("public form of %s = %s, want %s", e.Body.Kind(), public, stored)
			}
		}
	}
	for _, s := range withheld {
		if !strings.Contains(all, s) {
			t.Errorf("the stored forms lack %q: the test shows nothing", s)
		}
	}
}

// The projection leaves the event that it is made from alone.
func TestPublicDoesNotWriteToItsArgument(t *testing.T) {
	for _, e := range full() {
		if ephemeral(e) {
			continue
		}
		before := encode(t, e)
		_, _ = (*event.Kinds)(nil).Public(e)
		if after := encode(t, e); !bytes.Equal(before, after) {
			t.Errorf("%s changed from %s to %s", e.Body.Kind(), before, after)
		}
	}
}

func TestInternalAndEphemeralEventsHaveNoPublicForm(t *testing.T) {
	internal, live := 0, 0
	for _, e := range full() {
		b, err := (*event.Kinds)(nil).Public(e)
		var hidden *event.NotPublicError
		var passing *event.EphemeralNotPersistableError
		switch {
		case e.Visibility == event.Internal:
			internal++
			if !errors.As(err, &hidden) || b != nil {
				t.Errorf("Public(%s) = %q, %v, want a *NotPublicError", e.Body.Kind(), b, err)
			}
		case ephemeral(e):
			live++
			if !errors.As(err, &passing) || b != nil {
				t.Errorf("Public(%s) = %q, %v, want an *EphemeralNotPersistableError", e.Body.Kind(), b, err)
			}
			if b, err := (*event.Kinds)(nil).Encode(e); !errors.As(err, &passing) || b != nil {
				t.Errorf("Encode(%s) = %q, %v, want an *EphemeralNotPersistableError", e.Body.Kind(), b, err)
			}
		}
	}
	if internal != 2 || live != 2 {
		t.Errorf("%d internal and %d ephemeral kinds, want 2 and 2", internal, live)
	}
}
