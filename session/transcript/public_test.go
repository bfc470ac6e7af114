package transcript_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/session/transcript"
)

// Without Private a harness's own record is shown as it made it public, or not at
// all; neither is something to warn of.
func TestOwnRecordsAreShownInTheirPublicForm(t *testing.T) {
	s := begun()
	s.records = append(s.records,
		journal.OpaqueRecord{Kind: "acme.cache", ID: "1", Body: []byte("hunter2"), Public: []byte("harmless <b>")},
		journal.OpaqueRecord{Kind: "acme.secret", ID: "2", Body: []byte("hunter3")},
		journal.OpaqueRecord{Kind: "acme.bytes", ID: "3", Body: []byte("\xff\xfe"), Public: []byte("\xff\xfe\xfd")})
	for _, f := range formats {
		_, before := write(t, f, nil, begun().records...)
		for _, private := range []bool{false, true} {
			got, sum := write(t, f, &transcript.Options{Private: private}, s.records...)
			for text, want := range map[string]bool{
				"acme.cache": true, "harmless": !private, "hunter2": private, "acme.secret": private, "hunter3": private, "3 bytes": !private, "2 bytes": private,
			} {
				if strings.Contains(got, text) != want {
					t.Errorf("%s, private %v: has %q is %v, want %v:\n%s", f, private, text, !want, want, got)
				}
			}
			if sum.Warnings != before.Warnings {
				t.Errorf("%s, private %v: %d warnings", f, private, sum.Warnings)
			}
		}
	}
}

// Where a journal makes the public form of events by a function of its harness, the
// transcript shows what that makes, of own kinds and of others, and nothing of
// which it makes nothing.
func TestProjectMakesThePublicForm(t *testing.T) {
	kinds, err := event.NewKinds(event.NewKind(event.Rules[own]{}))
	if err != nil {
		t.Fatal(err)
	}
	project := func(e event.Event) ([]byte, error) {
		switch b := e.Body.(type) {
		case own:
			if b.Text == "broken" {
				return nil, errors.New("no")
			}
			return []byte(`{"shape":"of its own"}`), nil
		case event.MessageAdded:
			if strings.Contains(b.Content[0].Text, "hunter2") {
				return nil, nil
			}
			e.Body = event.MessageAdded{Role: b.Role, Content: event.Text(strings.ReplaceAll(b.Content[0].Text, "ada", "somebody"))}
		}
		return kinds.Public(e)
	}
	s := begun().event(say("ask ada")).event(say("hunter2")).event(own{"hunter3"}).event(own{"broken"})
	for _, f := range formats {
		got, sum := write(t, f, &transcript.Options{Kinds: kinds, Project: project}, s.records...)
		for text, want := range map[string]bool{"ask somebody": true, "ask ada": false, "hunter": false, "of its own": true} {
			if strings.Contains(got, text) != want {
				t.Errorf("%s: has %q is %v, want %v:\n%s", f, text, !want, want, got)
			}
		}
		if sum.Warnings != 1 {
			t.Errorf("%s: %d warnings", f, sum.Warnings)
		}
		got, _ = write(t, f, &transcript.Options{Kinds: kinds, Project: project, Private: true}, s.records...)
		if !strings.Contains(got, "ask ada") || !strings.Contains(got, "hunter2") || !strings.Contains(got, "hunter3") {
			t.Errorf("%s, private:\n%s", f, got)
		}
	}
}
