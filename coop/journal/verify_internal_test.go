package journal

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/comity-dev/comity/coop/event"
)

// Verify believes no seal: what it names is what a stranger with the log finds.
func TestVerifyNamesEachFinding(t *testing.T) {
	bob := keyOf(t, "bob")
	carol := keyOf(t, "carol")
	m := newMachine(t, "ada")
	m.cfg.Trust = trust(bob)
	all := chain(m, bob, same)
	s := all[0].Stream
	forged := m.forge(all[2])
	good := m.put(RecordEvent, all[0].Raw, true)
	m.put(RecordRow, row{"k", "a", nil}.encode(), true)
	m.put(RecordEvent, m.sealBy(carol, m.streamOf(carol), 1, 1, nil, session("c")).Raw, true)
	chainAt := m.put(RecordEvent, m.sealBy(bob, s, 2, 11, all[1], session("x")).Raw, true)
	macAt := m.put(RecordEvent, all[1].Raw, false)
	forgedAt := m.put(RecordEvent, forged.Raw, true)
	dupAt := m.put(RecordEvent, all[1].Raw, true)
	rowAt := m.put(RecordRow, []byte{9}, true)
	formAt := m.put(RecordEvent, []byte("{}"), true)
	later := m.sealBy(bob, s, 5, 20, all[2], session("b5"))
	lostAt := m.put(RecordEvent, later.Raw, true)
	newer := newSealer(nil).seal(RecordEvent, nil)
	newer[1] = 7
	m.log.recs = append(m.log.recs, newer, []byte("x"))
	newerAt := uint64(len(m.log.recs)) - 1

	r, err := m.start().Verify(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[uint64]string{}
	for _, f := range r.Findings {
		what, _, _ := strings.Cut(f.What, ":")
		if f.Stream != "" && f.Stream != s {
			t.Errorf("finding %+v is of another stream", f)
		}
		got[f.Index] += what + " "
	}
	want := map[uint64]string{
		chainAt: "chain ", macAt: "record ", forgedAt: "signature ", dupAt: "duplicate ", rowAt: "local row ",
		formAt: "event malformed ", lostAt: "lost before this record ", newerAt: "record ", newerAt + 1: "record ",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("findings (-want +got):\n%s", d)
	}
	if r.Records != newerAt+1 || r.Events != 3 || r.Withheld != 1 || r.Streams != 1 || r.OK() || r.Found != uint64(len(r.Findings)) {
		t.Errorf("report = %+v", r)
	}
	if good == 0 {
		t.Error("no first record")
	}
}

func TestVerifyCountsMoreThanItLists(t *testing.T) {
	m := newMachine(t, "ada")
	for range maxFindings + 5 {
		m.put(RecordEvent, []byte("{}"), true)
	}
	r, err := m.start().Verify(t.Context())
	if err != nil || len(r.Findings) != maxFindings || r.Found != maxFindings+5 {
		t.Errorf("Verify lists %d of %d, %v", len(r.Findings), r.Found, err)
	}
}

func TestVerifyOfAGoodJournalFindsNothing(t *testing.T) {
	m := newMachine(t, "ada")
	for range 3 {
		j := m.start("s1")
		m.append(j, session("s1"))
		m.append(j, event.SessionClosed{Session: "s1", Reason: "done"})
	}
	r, err := m.start().Verify(t.Context())
	if err != nil || !r.OK() || r.Events != 9 || r.Streams != 3 {
		t.Errorf("Verify = %+v, %v", r, err)
	}
}
