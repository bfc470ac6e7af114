package event_test

import (
	"bytes"
	"errors"
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
