package journal

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/internal/seglog"
)

func trust(keys ...*ident.Key) func(ident.NodeID) bool {
	return func(n ident.NodeID) bool {
		return slices.ContainsFunc(keys, func(k *ident.Key) bool { return k.Node() == n })
	}
}

// sessions are the sids whose opening was folded.
func sessions(j *Journal) (sids []string) {
	j.View(func(v View) {
		for s := range v.State().Sessions() {
			sids = append(sids, s.ID.SID)
		}
	})
	return sids
}

func wantSessions(t *testing.T, j *Journal, want ...string) {
	t.Helper()
	got := sessions(j)
	slices.Sort(got)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("sessions (-want +got):\n%s", d)
	}
}

func wantRefused(t *testing.T, j *Journal, want map[Refusal]uint64) {
	t.Helper()
	if d := cmp.Diff(want, j.Health().Refused); d != "" {
		t.Errorf("refused on reload (-want +got):\n%s", d)
	}
}

// chain is three events of bob's stream.
func chain(m *machine, bob *ident.Key, change func(*event.Event) *event.Event) []*event.Event {
	s := m.streamOf(bob)
	one := m.sealBy(bob, s, 1, 10, nil, session("b1"))
	two := change(m.sealBy(bob, s, 2, 11, one, session("b2")))
	return []*event.Event{one, two, m.sealBy(bob, s, 3, 12, two, session("b3"))}
}

func same(e *event.Event) *event.Event { return e }

func TestReloadChecksWhatThisNodeDidNotSeal(t *testing.T) {
	bob := keyOf(t, "bob")
	for _, tt := range []struct {
		name    string
		change  func(m *machine) func(*event.Event) *event.Event
		sealed  bool
		upTo    int // events written
		want    []string
		refused map[Refusal]uint64
	}{
		{"good signatures", nil, false, 3, []string{"b1", "b2", "b3"}, nil},
		{"forged and reached by the next", forging, false, 3, []string{"b1", "b2", "b3"}, nil},
		{"forged and last", forging, false, 2, []string{"b1"}, map[Refusal]uint64{RefusedSignature: 1}},
		{"forged and sealed by us", forging, true, 2, []string{"b1", "b2"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(t, "ada")
			m.cfg.Trust = trust(bob)
			change := same
			if tt.change != nil {
				change = tt.change(m)
			}
			for _, e := range chain(m, bob, change)[:tt.upTo] {
				m.put(RecordEvent, e.Raw, tt.sealed)
			}
			j := m.start()
			wantSessions(t, j, tt.want...)
			wantRefused(t, j, tt.refused)
			h := j.Health()
			if want := uint64(0); tt.sealed && h.BadMACs != want || !tt.sealed && h.BadMACs != uint64(tt.upTo) {
				t.Errorf("%d records without our seal", h.BadMACs)
			}
			if len(h.Damaged) != 0 {
				t.Errorf("damaged: %v", h.Damaged)
			}
			p, err := j.Page("", 10)
			if err != nil || len(p.Arrivals) != len(tt.want) || !slices.IsSortedFunc(p.Arrivals, func(a, b Arrival) int { return int(a.Index) - int(b.Index) }) {
				t.Errorf("page = %+v, %v", p, err)
			}
		})
	}
}

func forging(m *machine) func(*event.Event) *event.Event { return m.forge }

// Between the one that waits and the one that reaches it others arrive.
func TestEventThatWaitedKeepsItsPlaceInPages(t *testing.T) {
	bob, carol := keyOf(t, "bob"), keyOf(t, "carol")
	m := newMachine(t, "ada")
	m.cfg.Trust = trust(bob, carol)
	all := chain(m, bob, m.forge)
	all = slices.Insert(all, 2, m.sealBy(carol, m.streamOf(carol), 1, 50, nil, session("c")))
	for _, e := range all {
		m.put(RecordEvent, e.Raw, false)
	}
	j := m.start()
	var got []event.Key
	for cursor, more := "", true; more; {
		p, err := j.Page(cursor, 1)
		if err != nil {
			t.Fatal(err)
		}
		got, cursor, more = append(got, p.Arrivals[0].Event.Key()), p.Next, p.More
	}
	want := []event.Key{all[0].Key(), all[1].Key(), all[2].Key(), all[3].Key()}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("walk (-want +got):\n%s", d)
	}
	if e := m.append(j, session("s")); e.Lamport <= 50 {
		t.Errorf("stamp %d, want above every one seen", e.Lamport)
	}
}

// Another event in the place of a forged one: the forged one is never believed.
func TestForgedEventDoesNotTakeAnothersPlace(t *testing.T) {
	bob := keyOf(t, "bob")
	m := newMachine(t, "ada")
	m.cfg.Trust = trust(bob)
	all := chain(m, bob, same)
	forged := m.forge(m.sealBy(bob, all[0].Stream, 2, 11, all[0], session("forged")))
	for _, e := range []*event.Event{all[0], forged, all[1], all[2]} {
		m.put(RecordEvent, e.Raw, false)
	}
	j := m.start()
	wantSessions(t, j, "b1", "b2", "b3")
	wantRefused(t, j, map[Refusal]uint64{RefusedSignature: 1})
}

func TestReloadBelievesWhomTrustNames(t *testing.T) {
	bob := keyOf(t, "bob")
	m := newMachine(t, "ada")
	m.cfg.Trust = trust(bob)
	for _, e := range chain(m, bob, same) {
		m.put(RecordEvent, e.Raw, true)
	}
	j := m.start()
	wantSessions(t, j, "b1", "b2", "b3")
	m.append(j, session("mine"))
	cursor, clock := j.End(), j.Health().Clock

	m.cfg.Trust = nil
	j = m.start()
	wantSessions(t, j, "mine")
	wantRefused(t, j, map[Refusal]uint64{RefusedUntrusted: 3})
	var bad *CursorError
	if _, err := j.Page(cursor, 10); !errors.As(err, &bad) || bad.Reason != CursorView {
		t.Errorf("Page with a cursor of another view = %v, want it refused", err)
	}
	if got := j.Health().Clock; got < clock {
		t.Errorf("clock fell from %d to %d", clock, got)
	}

	m.cfg.Trust = trust(bob)
	j = m.start()
	wantSessions(t, j, "b1", "b2", "b3", "mine")
	if p, err := j.Page(cursor, 10); err != nil || len(p.Arrivals) != 0 {
		t.Errorf("Page with the cursor of this view = %+v, %v", p, err)
	}
}

// A stamp that was seen is never given out again, though its event is not
// believed any more.
func TestHighestStampIsKeptThoughItsEventIsNotBelieved(t *testing.T) {
	bob := keyOf(t, "bob")
	m := newMachine(t, "ada")
	m.put(RecordEvent, m.sealBy(bob, m.streamOf(bob), 1, 1000, nil, session("b")).Raw, true)
	if e := m.append(m.start(), session("s")); e.Lamport <= 1000 {
		t.Errorf("stamp = %d, want above 1000", e.Lamport)
	}
}

func TestReloadRefusesByReason(t *testing.T) {
	bob := keyOf(t, "bob")
	m := newMachine(t, "ada")
	m.cfg.Trust = trust(bob)
	all := chain(m, bob, same)
	s := all[0].Stream
	other := newMachine(t, "other")
	other.cfg.Repo = "00112233445566778899aabbccddeeff"
	m.put(RecordEvent, other.sealBy(bob, s, 1, 10, nil, session("x")).Raw, true)
	m.put(RecordEvent, all[0].Raw, true)
	m.put(RecordEvent, all[0].Raw, true)
	m.put(RecordEvent, m.sealBy(bob, s, 1, 10, nil, session("fork")).Raw, true)
	m.put(RecordEvent, m.sealBy(bob, s, 2, 10, all[0], session("x")).Raw, true)
	m.put(RecordEvent, m.sealBy(bob, s, 2, 11, all[1], session("x")).Raw, true)
	m.put(RecordEvent, []byte(`{"v":1}`), true)
	m.put(RecordEvent, []byte(strings.Repeat("x", event.MaxEventBytes+1)), true)
	m.put(RecordRow, []byte("nonsense"), true)
	m.put(RecordRow, row{"k", "a", []byte("1")}.encode(), false)
	m.log.recs = append(m.log.recs, []byte("short"))
	m.put(RecordEvent, all[1].Raw, true)
	j := m.start()
	wantSessions(t, j, "b1", "b2")
	wantRefused(t, j, map[Refusal]uint64{
		RefusedRepository: 1, RefusedDuplicate: 1, RefusedForked: 1, RefusedClockBehind: 1, RefusedChain: 1,
		Refusal(event.Malformed): 1, Refusal(event.Oversized): 1, RefusedRecord: 3,
	})
	if len(j.Local("k")) != 0 {
		t.Error("a row that this node did not write is believed")
	}
}

func TestUnknownRecordTypeIsKeptAndCounted(t *testing.T) {
	m := newMachine(t, "ada")
	m.put(9, []byte("of a later release"), true)
	j := m.start()
	m.append(j, session("s1"))
	h := j.Health()
	if h.Unknown[9] != 1 || h.Records[9] != 1 || h.ReadOnly != nil {
		t.Errorf("health = %+v", h)
	}
	j = m.start("s1")
	if rec, err := j.log.Read(1); err != nil || !strings.HasSuffix(string(rec.Data), "of a later release") {
		t.Errorf("record = %q, %v; want it kept", rec.Data, err)
	}
	if got := j.Health().Records; got[9] != 1 || got[RecordEvent] != 2 || got[RecordRow] != 1 {
		t.Errorf("records = %v", got)
	}
}

func TestNewerRecordMakesReadOnly(t *testing.T) {
	m := newMachine(t, "ada")
	m.append(m.start(), session("s1"))
	rec := slices.Clone(m.log.recs[0])
	rec[1] = recordVersion + 1
	m.log.recs = append(m.log.recs, rec)
	j := m.start()
	wantSessions(t, j, "s1")
	_, err := j.Append(t.Context(), session("s2"))
	var readOnly *ReadOnlyError
	if !errors.As(err, &readOnly) || !errors.Is(err, ErrNewerFormat) {
		t.Errorf("Append = %v, want read-only for a newer format", err)
	}
	if h := j.Health(); !errors.Is(h.ReadOnly, ErrNewerFormat) || h.Newer != 1 {
		t.Errorf("health = %+v", h)
	}
	if p, err := j.Page("", 10); err != nil || len(p.Arrivals) != 2 {
		t.Errorf("Page = %+v, %v; want what can be read", p, err)
	}
}

// lose takes a record out of the log as damage does: its index stays.
func (m *machine) lose(index uint64) {
	m.log.recs[index-1] = nil
	m.log.damage = append(m.log.damage, seglog.Damage{Segment: "x", FirstIndex: index, LastIndex: index, Reason: "test"})
}

func TestLostEventIsSteppedOver(t *testing.T) {
	m := newMachine(t, "ada")
	j := m.start()
	for _, sid := range []string{"s1", "s2", "s3"} { // indexes 2, 4, 5: 3 is the run record
		m.append(j, session(sid))
	}
	s := j.Stream()
	m.lose(4)
	j = m.start("s1", "s3")
	wantSessions(t, j, "s1", "s3")
	h := j.Health()
	if d := cmp.Diff(map[ident.Stream][]Range{s: {{3, 3}}}, h.Damaged); d != "" {
		t.Errorf("damaged (-want +got):\n%s", d)
	}
	if len(h.Suspects) != 0 || len(h.Damage) != 1 || h.Damage[0].Records != (Range{4, 4}) {
		t.Errorf("health = %+v", h)
	}
	j.View(func(v View) {
		for i := range v.State().Streams() {
			if i.Stream == s && (!i.Damaged || i.Head != 4) {
				t.Errorf("the fold shows %+v, want it damaged at head 4", i)
			}
		}
	})
	if e := m.append(j, session("s4")); e.Stream == s || e.Seq != 2 || e.Lamport != 6 {
		t.Errorf("next event %s, stamp %d; want it in a new stream", e.Key(), e.Lamport)
	}
}

// When the end of a stream is lost nothing shows how much it was: its stamps
// must not be given out again, and the stream is shown.
func TestLostEndOfAStreamIsShown(t *testing.T) {
	m := newMachine(t, "ada")
	j := m.start()
	m.append(j, session("s1"))
	e := m.append(j, session("s2"))
	m.lose(4)
	j = m.start()
	if d := cmp.Diff(map[ident.Stream]uint64{e.Stream: 3}, j.Health().Suspects); d != "" {
		t.Errorf("suspects (-want +got):\n%s", d)
	}
	if next := m.append(j, session("s3")); next.Lamport <= e.Lamport+1 { // the run's first event took one
		t.Errorf("stamp %d was given out again, the lost event had %d", next.Lamport-1, e.Lamport)
	}
}

func TestLocalRowsAreKept(t *testing.T) {
	m := newMachine(t, "ada")
	j := m.start()
	put := func(kind, key, value string) {
		t.Helper()
		if _, err := j.Decide(t.Context(), func(tx *Tx) error {
			tx.PutLocal(kind, key, []byte(value))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	put("told", "s1", "1")
	put("told", "s2", "1")
	put("told", "s1", "2")
	put("owner", "s1", "")
	if _, err := j.Decide(t.Context(), func(tx *Tx) error {
		if got := string(tx.Local("told", "s1")); got != "2" {
			t.Errorf("row in a decision = %q, want 2", got)
		}
		tx.PutLocal("told", "s2", nil)
		_, err := tx.Append(session("s1"))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if j.Stream() == "" {
		t.Error("no event was written with the rows")
	}
	check := func(j *Journal) {
		t.Helper()
		if d := cmp.Diff(map[string][]byte{"s1": []byte("2")}, j.Local("told")); d != "" {
			t.Errorf("rows (-want +got):\n%s", d)
		}
		if v, ok := j.Local("owner")["s1"]; !ok || v == nil || len(v) != 0 {
			t.Errorf("empty row = %v, %v; want it there and empty", v, ok)
		}
		if got := j.Local("nothing"); len(got) != 0 || got == nil {
			t.Errorf("rows of no kind = %v", got)
		}
	}
	check(j)
	check(m.start())
}

func TestRowsAloneDoNotBeginTheRun(t *testing.T) {
	m := newMachine(t, "ada")
	j := m.start()
	all, err := j.Decide(t.Context(), func(tx *Tx) error { tx.PutLocal("k", "a", []byte("1")); return nil })
	if err != nil || len(all) != 0 || j.Stream() != "" {
		t.Errorf("Decide = %v, %v; stream %q", all, err, j.Stream())
	}
}

func TestRowOutOfBoundsFailsTheDecision(t *testing.T) {
	m := newMachine(t, "ada")
	j := m.start()
	for _, r := range []row{
		{"", "k", nil},
		{strings.Repeat("k", MaxRowKind+1), "k", nil},
		{"k", strings.Repeat("k", MaxRowKey+1), nil},
		{"k", "k", make([]byte, MaxRowValue+1)},
	} {
		_, err := j.Decide(t.Context(), func(tx *Tx) error {
			tx.PutLocal(r.kind, r.key, r.value)
			_, err := tx.Append(session("s1"))
			return err
		})
		var bound *BatchError
		if !errors.As(err, &bound) {
			t.Errorf("Decide = %v, want a bound", err)
		}
	}
	_, err := j.Decide(t.Context(), func(tx *Tx) error {
		for range 40 {
			tx.PutLocal("k", "k", make([]byte, MaxRowValue))
		}
		return nil
	})
	var bound *BatchError
	if !errors.As(err, &bound) || bound.Limit != maxBatchBytes {
		t.Errorf("Decide of 10 MiB = %v, want a bound", err)
	}
	if len(m.log.recs) != 0 || j.Stream() != "" {
		t.Error("a refused decision left something")
	}
}

func TestDecisionUsedAfterItsEnd(t *testing.T) {
	m := newMachine(t, "ada")
	j := m.start()
	var kept *Tx
	if _, err := j.Decide(t.Context(), func(tx *Tx) error { kept = tx; return nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := kept.Append(session("s1")); err == nil {
		t.Error("Append after the end of the decision = nil")
	}
	if err := kept.Begin(); err == nil {
		t.Error("Begin after the end of the decision = nil")
	}
}
