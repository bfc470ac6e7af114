package cli_test

import (
	"strings"
	"testing"

	happened "github.com/comity-dev/comity/session/event"
	records "github.com/comity-dev/comity/session/journal"
)

// The list tells of a session that was killed what its journal says, not what
// its owner had last noted.
func TestJournalListBehindAKill(t *testing.T) {
	s := newShelf(t).session(sid(1))
	w, err := s.store.Open(t.Context(), sid(1), nil)
	if err != nil {
		t.Fatal(err)
	}
	e := happened.Event{
		Header: happened.Header{ID: sid(77), At: happened.Coordinates{Session: sid(1), Loop: sid(2), Turn: sid(9)}},
		Body:   happened.TurnStarted{Index: 2, Input: happened.Text("and go on")},
	}
	if _, err := w.Append(t.Context(), records.NewEventRecord(e)); err != nil {
		t.Fatal(err)
	}
	s.shut() // under the writer, which cannot note anything any more
	f := newFake(t)
	r := f.run("journal", "list", "--store", s.dir)
	if r.code != 0 || !strings.Contains(r.out, "running") || !strings.Contains(r.out, "and go on") || !strings.Contains(r.out, "2 turns  1 step  8 events  last record 12\n") {
		t.Errorf("list: %+v", r)
	}
}

// Whoever sees the last records only is told that there are others.
func TestJournalShowOfTheLastRecords(t *testing.T) {
	s := newShelf(t).session(sid(1)).shut()
	f := newFake(t)
	for _, tt := range []struct {
		args []string
		said bool
	}{{[]string{"--limit", "3"}, true}, {nil, false}, {[]string{"--limit", "10"}, false}, {[]string{"--limit", "3", "--from", "2"}, false}} {
		r := f.run(append([]string{"journal", "show", "0", "--store", s.dir}, tt.args...)...)
		text := strings.Join(strings.Fields(r.errout), " ")
		if said := strings.Contains(text, "the last 3 of 10 records") && strings.Contains(text, "comity journal show 00000001 --from 1 --store"); r.code != 0 || said != tt.said {
			t.Errorf("show %v: %+v", tt.args, r)
		}
	}
}
