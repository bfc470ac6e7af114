package journal

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/internal/seglog"
)

// raws are the bytes of events.
func raws(events ...*event.Event) [][]byte {
	var all [][]byte
	for _, e := range events {
		all = append(all, e.Raw)
	}
	return all
}

func (m *machine) ingest(j *Journal, events ...*event.Event) event.IngestReport {
	m.t.Helper()
	r := j.Ingest(m.t.Context(), raws(events...))
	if r.Total() != len(events) {
		m.t.Errorf("the counters of the report hold %d of %d events: %+v", r.Total(), len(events), r)
	}
	return r
}

// wantOutcomes compares what became of each event: "accepted", "duplicate",
// "pending", "not_stored" or the reason of a rejection.
func wantOutcomes(t *testing.T, r event.IngestReport, want ...string) {
	t.Helper()
	var got []string
	for _, o := range r.Outcomes {
		if o.Status == event.Rejected {
			got = append(got, string(o.Reason))
			continue
		}
		got = append(got, o.Status.String())
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("outcomes (-want +got):\n%s", d)
	}
}

// line is n events of one stream of key, each opening a session of its name.
func (m *machine) line(key *ident.Key, name string, n int) []*event.Event {
	m.t.Helper()
	var all []*event.Event
	s, prev := m.streamOf(key), (*event.Event)(nil)
	for i := range n {
		prev = m.sealBy(key, s, uint64(i+1), uint64(10+i), prev, session(fmt.Sprint(name, i+1)))
		all = append(all, prev)
	}
	return all
}

func peered(t *testing.T) (m *machine, j *Journal, bob *ident.Key) {
	m, bob = newMachine(t, "ada"), keyOf(t, "bob")
	m.cfg.Trust = trust(bob)
	return m, m.start(), bob
}

func TestIngestTakesARunInOrderForOneSignature(t *testing.T) {
	m, j, bob := peered(t)
	b := m.line(bob, "b", 5)
	r := m.ingest(j, b...)
	wantOutcomes(t, r, "accepted", "accepted", "accepted", "accepted", "accepted")
	wantSessions(t, j, "b1", "b2", "b3", "b4", "b5")
	h := j.Health()
	if h.Verified != 1 || h.Received != 5 || h.Clock != 14 || len(r.Blocked) != 0 {
		t.Errorf("%d signatures checked, %d received, clock %d, blocked %v; want 1, 5, 14, none", h.Verified, h.Received, h.Clock, r.Blocked)
	}
	if got := j.Marks()[b[0].Stream]; got.Seq != 5 {
		t.Errorf("mark = %+v, want 5", got)
	}
}

func TestIngestedEventsAreTakenUpByTheNextRun(t *testing.T) {
	m, j, bob := peered(t)
	m.append(j, session("a1"))
	m.ingest(j, m.line(bob, "b", 3)...)
	digest := j.state.Digest(nil)
	j = m.start()
	if got := j.state.Digest(nil); got != digest || j.Health().Clock != 12 {
		t.Errorf("after a restart: digest %s, clock %d; want %s, 12", got, j.Health().Clock, digest)
	}
	if h := j.Health(); h.Verified != 0 || h.BadMACs != 0 {
		t.Errorf("the reload checked %d signatures, and %d records are not ours", h.Verified, h.BadMACs)
	}
}

func TestHeldEventIsADuplicateWithoutACheck(t *testing.T) {
	m, j, bob := peered(t)
	b := m.line(bob, "b", 3)
	m.ingest(j, b...)
	r := m.ingest(j, b[0], b[2], b[2])
	wantOutcomes(t, r, "duplicate", "duplicate", "duplicate")
	if n := j.Health().Verified; n != 1 {
		t.Errorf("%d signatures checked, want 1", n)
	}
	own := m.append(j, session("a1"))
	wantOutcomes(t, m.ingest(j, own), "duplicate")
	if j.Stream() != own.Stream || j.Health().Forsaken != nil {
		t.Error("an own event that comes back ends the stream")
	}
}

func TestIngestRefusesByReason(t *testing.T) {
	bob, eve := keyOf(t, "bob"), keyOf(t, "eve")
	repo, err := ident.RepositoryDeclared("another")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		want string
		make func(m *machine, b []*event.Event) []byte
	}{
		{"oversized", func(*machine, []*event.Event) []byte { return make([]byte, event.MaxEventBytes+1) }},
		{"malformed", func(_ *machine, b []*event.Event) []byte { return append(slices.Clone(b[1].Raw), ' ') }},
		{"malformed", func(*machine, []*event.Event) []byte { return nil }},
		{"version", func(_ *machine, b []*event.Event) []byte {
			return []byte(string(b[1].Raw[:len(b[1].Raw)-2]) + "2}")
		}},
		{"identity", func(_ *machine, b []*event.Event) []byte {
			return []byte(replaced(string(b[1].Raw), string(bob.Node()), string(eve.Node())))
		}},
		{"repository", func(m *machine, b []*event.Event) []byte {
			m.cfg.Repo = repo
			return m.sealBy(bob, b[0].Stream, 2, 20, b[0], session("x")).Raw
		}},
		{"untrusted", func(m *machine, _ []*event.Event) []byte { return m.line(eve, "e", 1)[0].Raw }},
		{"clock_ahead", func(m *machine, b []*event.Event) []byte {
			return m.sealBy(bob, b[0].Stream, 2, 1<<24+1, b[0], session("x")).Raw
		}},
		{"accepted", func(m *machine, b []*event.Event) []byte { // at the bound
			return m.sealBy(bob, b[0].Stream, 2, 1<<24, b[0], session("x")).Raw
		}},
		{"clock_behind", func(m *machine, b []*event.Event) []byte {
			return m.sealBy(bob, b[0].Stream, 2, b[0].Lamport, b[0], session("x")).Raw
		}},
		{"pending", func(m *machine, b []*event.Event) []byte { return m.forge(b[1]).Raw }}, // the next one may vouch for it
		{"signature", func(m *machine, b []*event.Event) []byte { return m.forge(b[0]).Raw }},
		{"forked", func(m *machine, b []*event.Event) []byte {
			return m.sealBy(bob, b[0].Stream, 1, 10, nil, session("x")).Raw
		}},
		{"forked", func(m *machine, b []*event.Event) []byte { // names another event before it
			other := m.sealBy(bob, b[0].Stream, 1, 10, nil, session("x"))
			return m.sealBy(bob, b[0].Stream, 2, 11, other, session("y")).Raw
		}},
		{"signature", func(m *machine, b []*event.Event) []byte {
			other := m.sealBy(bob, b[0].Stream, 1, 10, nil, session("x"))
			return m.forge(m.sealBy(bob, b[0].Stream, 2, 11, other, session("y"))).Raw
		}},
		{"capacity", func(m *machine, b []*event.Event) []byte { // beyond the window in which events wait
			return m.sealBy(bob, b[0].Stream, 258, 1000, b[0], session("x")).Raw
		}},
	} {
		t.Run(tt.want, func(t *testing.T) {
			m, j, bob := peered(t)
			b := m.line(bob, "b", 2)
			m.ingest(j, b[0])
			raw := tt.make(m, b)
			r := j.Ingest(t.Context(), [][]byte{raw})
			wantOutcomes(t, r, tt.want)
			if tt.want == "accepted" {
				return
			}
			if got := len(j.heads); got != 1 {
				t.Errorf("%d streams are held, want 1", got)
			}
			wantSessions(t, j, "b1")
			if got := j.Marks()[b[0].Stream].Seq; got != 1 {
				t.Errorf("mark = %d, want 1", got)
			}
		})
	}
}

func replaced(s, old, with string) string {
	for i := 0; i+len(old) <= len(s); i++ {
		if s[i:i+len(old)] == old {
			return s[:i] + with + s[i+len(old):]
		}
	}
	panic("not found")
}

// An event whose own signature is bad, met alone, waits; met together with the
// one that reaches it, it is taken. In the end both histories are the same.
func TestBadSignatureIsJudgedByTheChainHoweverItComes(t *testing.T) {
	m, j, bob := peered(t)
	b := chain(m, bob, m.forge)
	wantOutcomes(t, m.ingest(j, b[0]), "accepted")
	alone := m.ingest(j, b[1])
	wantOutcomes(t, alone, "pending")
	if d := cmp.Diff([]event.Blocked{{Stream: b[0].Stream, Seq: 2, Why: event.BadSignature}}, alone.Blocked); d != "" {
		t.Errorf("blocked (-want +got):\n%s", d)
	}
	r := m.ingest(j, b[2])
	wantOutcomes(t, r, "accepted")
	if r.Released != 1 || len(r.Blocked) != 0 {
		t.Errorf("released %d, blocked %v; want 1, none", r.Released, r.Blocked)
	}

	m2, j2, _ := peered(t)
	wantOutcomes(t, m2.ingest(j2, b...), "accepted", "accepted", "accepted")
	m3, j3, _ := peered(t)
	wantOutcomes(t, m3.ingest(j3, b[2], b[1], b[0]), "accepted", "accepted", "accepted")
	m4, j4, _ := peered(t)
	wantOutcomes(t, m4.ingest(j4, b[2]), "pending")
	wantOutcomes(t, m4.ingest(j4, b[0]), "accepted")
	r = m4.ingest(j4, b[1])
	wantOutcomes(t, r, "accepted")
	if r.Released != 1 {
		t.Errorf("released %d, want the one that vouched", r.Released)
	}
	if d := j.state.Digest(nil); d != j2.state.Digest(nil) || d != j3.state.Digest(nil) || d != j4.state.Digest(nil) {
		t.Error("the digest depends on how the history was cut")
	}
}

func TestAuthenticEventThatNamesAnotherRefusesTheOneThatWaits(t *testing.T) {
	m, j, bob := peered(t)
	b := m.line(bob, "b", 3)
	m.ingest(j, b[0])
	wantOutcomes(t, m.ingest(j, m.forge(b[1])), "pending")
	r := m.ingest(j, b[2]) // names the true one
	wantOutcomes(t, r, "pending")
	if r.Dropped != 1 {
		t.Errorf("dropped %d, want the forged one", r.Dropped)
	}
	if d := cmp.Diff([]event.Blocked{{Stream: b[0].Stream, Seq: 2, Why: event.Waiting}}, r.Blocked); d != "" {
		t.Errorf("blocked (-want +got):\n%s", d)
	}
	r = m.ingest(j, b[1])
	wantOutcomes(t, r, "accepted")
	if r.Released != 1 {
		t.Errorf("released %d, want 1", r.Released)
	}
	wantSessions(t, j, "b1", "b2", "b3")
}

// A candidate that nobody vouches for never keeps out one that is authentic.
func TestVerifyingCandidateTakesThePlaceOfAForgedOne(t *testing.T) {
	for _, gap := range []bool{false, true} {
		m, j, bob := peered(t)
		b := m.line(bob, "b", 3)
		at := 1
		m.ingest(j, b[0])
		if gap {
			at = 2
		}
		wantOutcomes(t, m.ingest(j, m.forge(b[at]), m.forge(b[at])), "pending", "duplicate")
		r := m.ingest(j, b[at])
		if gap {
			wantOutcomes(t, r, "pending")
			r2 := m.ingest(j, b[1])
			wantOutcomes(t, r2, "accepted")
			r.Dropped, r.Released = r.Dropped+r2.Dropped, r2.Released
		} else {
			wantOutcomes(t, r, "accepted")
		}
		if r.Dropped != 1 {
			t.Errorf("gap %v: dropped %d, want 1", gap, r.Dropped)
		}
		if got := j.Marks()[b[0].Stream].Seq; got != uint64(at+1) {
			t.Errorf("gap %v: mark %d, want %d", gap, got, at+1)
		}
		if j.waiting.total.events != 0 || len(j.waiting.nodes) != 0 {
			t.Errorf("gap %v: %d still wait", gap, j.waiting.total.events)
		}
	}
}

// A sender is told of a gap before its own events, and of none before what somebody
// else brought, who may have forged it: it would keep back what comes next.
func TestSenderIsToldOfAGapBeforeItsOwnEvents(t *testing.T) {
	m, j, bob := peered(t)
	b := m.line(bob, "b", 5)
	want := func(r event.IngestReport, seqs ...uint64) {
		t.Helper()
		var all []event.Blocked
		for _, seq := range seqs {
			all = append(all, event.Blocked{Stream: b[0].Stream, Seq: seq, Why: event.Waiting})
		}
		if d := cmp.Diff(all, r.Blocked); d != "" {
			t.Errorf("blocked (-want +got):\n%s", d)
		}
	}
	want(m.ingest(j, b[0]))
	want(m.ingest(j, m.forge(b[4])), 2)
	want(m.ingest(j, b[1]))
	want(m.ingest(j, b[1]))
	want(m.ingest(j, b[3]), 3)
	want(m.ingest(j, b[3]), 3) // as a duplicate
	r := m.ingest(j, b[4])     // in the place of the forged one
	want(r, 3)
	if r.Dropped != 1 {
		t.Errorf("dropped %d, want the forged one", r.Dropped)
	}
	r = m.ingest(j, b[2])
	want(r)
	if r.Released != 2 || j.Marks()[b[0].Stream].Seq != 5 {
		t.Errorf("released %d, held up to %d; want 2, 5", r.Released, j.Marks()[b[0].Stream].Seq)
	}
}

// Who sends what is too far ahead is told of the gap: what fills that may come from
// elsewhere, and no bound has to fall for it.
func TestSenderOfWhatIsTooFarAheadIsToldOfTheGap(t *testing.T) {
	m, j, bob := peered(t)
	b := m.line(bob, "b", 300)
	m.ingest(j, b[:3]...)
	want := []event.Blocked{{Stream: b[0].Stream, Seq: 4, Why: event.Waiting}}
	for _, batch := range [][]*event.Event{b[4:200], b[265:]} {
		if d := cmp.Diff(want, m.ingest(j, batch...).Blocked); d != "" {
			t.Errorf("blocked (-want +got):\n%s", d)
		}
	}
}

func TestForkIsKeptAsProofAndTheFirstStands(t *testing.T) {
	m, j, bob := peered(t)
	b := m.line(bob, "b", 2)
	m.ingest(j, b...)
	other := m.sealBy(bob, b[0].Stream, 2, 11, b[0], session("x"))
	r := m.ingest(j, other)
	wantOutcomes(t, r, "forked")
	if d := cmp.Diff([]event.Blocked{{Stream: b[0].Stream, Seq: 2, Why: event.Forked}}, r.Blocked); d != "" {
		t.Errorf("blocked (-want +got):\n%s", d)
	}
	checked := j.Health().Verified
	wantOutcomes(t, m.ingest(j, other), "forked")
	if n := j.Health().Verified; n != checked {
		t.Error("the proof that is kept was checked again")
	}
	wantOutcomes(t, m.ingest(j, m.sealBy(bob, b[0].Stream, 3, 12, b[1], session("b3"))), "accepted")
	for range 2 {
		if d := cmp.Diff(map[ident.Stream]uint64{b[0].Stream: 2}, j.Health().Forked); d != "" {
			t.Errorf("forked (-want +got):\n%s", d)
		}
		wantSessions(t, j, "b1", "b2", "b3")
		if v, err := j.Verify(t.Context()); err != nil || !v.OK() {
			t.Errorf("Verify = %+v, %v", v, err)
		}
		j = m.start()
	}
	var kept int
	for _, rec := range m.log.recs {
		if RecordType(rec[0]) == RecordFork {
			kept++
		}
	}
	if kept != 1 {
		t.Errorf("%d proofs are kept, want 1", kept)
	}
}

// Of a stream of which nothing is held no proof is kept, or one key could fill the disk
// with them. One that an earlier build kept goes with the next rewrite.
func TestNoProofIsKeptOfAStreamThatIsNotHeld(t *testing.T) {
	m, bob := lasting(t, "ada"), keyOf(t, "bob")
	m.cfg.Trust = trust(bob)
	j := m.start()
	m.append(j, session("a1"))
	b := m.line(bob, "b", 5)
	other := m.sealBy(bob, b[0].Stream, 5, 20, b[3], session("x"))
	proofs := func() (n int) {
		for _, rec := range m.log.recs {
			if len(rec) > 0 && RecordType(rec[0]) == RecordFork {
				n++
			}
		}
		return n
	}
	for range 2 {
		r := m.ingest(j, b[4], other)
		if r.Outcomes[1].Reason != event.Forked {
			t.Errorf("outcomes %v, want the second refused as forked", r.Outcomes)
		}
	}
	if n := proofs(); n != 0 || len(j.Health().Forked) != 0 {
		t.Errorf("%d proofs are kept, of %v", n, j.Health().Forked)
	}

	m.put(RecordFork, other.Raw, true)
	j = m.start()
	if got := j.Health().Forked; len(got) != 0 {
		t.Errorf("forked: %v", got)
	}
	m.compact(j, force)
	if n := proofs(); n != 0 {
		t.Errorf("%d proofs outlive a rewrite", n)
	}

	wantOutcomes(t, m.ingest(j, b...), "accepted", "accepted", "accepted", "accepted", "accepted")
	wantOutcomes(t, m.ingest(j, other), "forked")
	if n := proofs(); n != 1 || j.Health().Forked[b[0].Stream] != 5 {
		t.Errorf("%d proofs are kept of what is held, of %v", n, j.Health().Forked)
	}
}

func TestEventsWaitWithinTheirBounds(t *testing.T) {
	m, bob, eve := newMachine(t, "ada"), keyOf(t, "bob"), keyOf(t, "eve")
	m.cfg.Trust = trust(bob, eve)
	m.cfg.Limits.Pending, m.cfg.Limits.PendingTotal = 4, 5
	j := m.start()
	b, e := m.line(bob, "b", 8), m.line(eve, "e", 8)
	wantOutcomes(t, m.ingest(j, b[1:7]...), "pending", "pending", "pending", "capacity", "capacity", "capacity")
	wantOutcomes(t, m.ingest(j, e[1:7]...), "pending", "pending", "capacity", "capacity", "capacity", "capacity")
	wantOutcomes(t, m.ingest(j, e[2]), "duplicate")
	if len(j.heads) != 0 {
		t.Errorf("%d streams are held, want none", len(j.heads))
	}
	r := m.ingest(j, b[0]) // in order: needs no place
	wantOutcomes(t, r, "accepted")
	if r.Released != 3 || j.waiting.total.events != 2 {
		t.Errorf("released %d, %d wait; want 3, 2", r.Released, j.waiting.total.events)
	}
	wantOutcomes(t, m.ingest(j, e[0]), "accepted")
	wantOutcomes(t, m.ingest(j, slices.Concat(b[4:], e[3:])...), "accepted", "accepted", "accepted", "accepted", "accepted", "accepted", "accepted", "accepted", "accepted")
}

// What waits is bounded in bytes too, for each node and for all.
func TestEventsWaitWithinTheirBytes(t *testing.T) {
	m, bob, eve := newMachine(t, "ada"), keyOf(t, "bob"), keyOf(t, "eve")
	m.cfg.Trust = trust(bob, eve)
	b, e := m.line(bob, "b", 6), m.line(eve, "e", 6)
	size := int64(len(b[1].Raw)) // all of them are as long
	for _, x := range slices.Concat(b[1:], e[1:]) {
		if int64(len(x.Raw)) != size {
			t.Fatalf("%v has %d bytes, want %d", x.Key(), len(x.Raw), size)
		}
	}
	m.cfg.Limits.NodePendingSize, m.cfg.Limits.PendingSize = 2*size, 4*size-1
	j := m.start()
	wantOutcomes(t, m.ingest(j, b[1:5]...), "pending", "pending", "capacity", "capacity")
	wantOutcomes(t, m.ingest(j, e[1:4]...), "pending", "capacity", "capacity")
	wantOutcomes(t, m.ingest(j, b[0]), "accepted") // and frees what the two took
	wantOutcomes(t, m.ingest(j, e[2:4]...), "pending", "capacity")
	forged := m.forge(b[4])
	wantOutcomes(t, m.ingest(j, forged), "pending")
	wantOutcomes(t, m.ingest(j, b[4]), "pending") // takes the forged one's place
	if got := j.waiting.total; got != (held{3, 3 * size}) {
		t.Errorf("waiting are %+v, want 3 events", got)
	}
	wantOutcomes(t, m.ingest(j, b[3]), "accepted")
	wantOutcomes(t, m.ingest(j, e[0]), "accepted")
	if got := j.waiting.total; got != (held{}) || len(j.waiting.nodes) != 0 {
		t.Errorf("waiting are %+v, want none", got)
	}
}

// One believed key cannot take all places to wait from the others.
func TestEachNodeHasItsShareOfThePlacesToWait(t *testing.T) {
	m, bob, eve := newMachine(t, "ada"), keyOf(t, "bob"), keyOf(t, "eve")
	m.cfg.Trust = trust(bob, eve)
	m.cfg.Limits.NodePending, m.cfg.Limits.PendingTotal = 3, 8
	j := m.start()
	for i := range 5 { // a second event each, of streams that nobody else has heard of
		want := "pending"
		if i >= 3 {
			want = "capacity"
		}
		wantOutcomes(t, m.ingest(j, m.line(eve, fmt.Sprint("e", i, "-"), 2)[1]), want)
	}
	wantOutcomes(t, m.ingest(j, m.line(bob, "b", 4)[1:]...), "pending", "pending", "pending")
}

func TestQuotasOfANode(t *testing.T) {
	m, bob := newMachine(t, "ada"), keyOf(t, "bob")
	m.cfg.Trust = trust(bob)
	m.cfg.Limits.NodeStreams, m.cfg.Limits.NodeEvents = 2, 6
	j := m.start()
	for i, want := range []string{"accepted", "accepted", "capacity"} {
		wantOutcomes(t, m.ingest(j, m.line(bob, fmt.Sprint("s", i, "-"), 1)...), want)
	}
	if len(j.heads) != 2 || len(j.lives.byStream) != 2 {
		t.Errorf("%d streams are held, %d known; want 2, 2: a refusal leaves no entry", len(j.heads), len(j.lives.byStream))
	}
	m.append(j, session("a1")) // our own do not count

	m, bob = newMachine(t, "ada"), keyOf(t, "bob")
	m.cfg.Trust = trust(bob)
	m.cfg.Limits.NodeEvents = 3
	j = m.start()
	b := m.line(bob, "b", 5)
	wantOutcomes(t, m.ingest(j, b[0], b[2], b[1], b[3]), "accepted", "accepted", "accepted", "capacity")
	wantOutcomes(t, m.ingest(j, b[4]), "capacity")
}

// Restarts of one machine never fill its quota: what a later run succeeded does
// not count.
func TestSucceededRunsDoNotCount(t *testing.T) {
	m, bob := newMachine(t, "ada"), keyOf(t, "bob")
	m.cfg.Trust = trust(bob)
	m.cfg.Limits.NodeStreams = 2
	j := m.start()
	record := ident.NewRecord()
	for run := range 70 {
		s := m.streamOf(bob)
		e := m.sealBy(bob, s, 1, uint64(run+1), nil, event.StreamSucceeded{Record: record, Run: uint64(run + 1)})
		wantOutcomes(t, m.ingest(j, e), "accepted")
	}
}

func TestFreshJournalTakesTheClockOfItsFirstWelcome(t *testing.T) {
	m, j, bob := peered(t)
	far := uint64(1) << 40
	e := m.sealBy(bob, m.streamOf(bob), 1, far, nil, session("b1"))
	wantOutcomes(t, m.ingest(j, e), "clock_ahead")
	if !j.Welcome(far - 5) {
		t.Fatal("the first welcome does not count")
	}
	if j.Welcome(far << 2) {
		t.Error("a second welcome moves the clock beyond the lead")
	}
	wantOutcomes(t, m.ingest(j, e), "accepted")
	if own := m.append(j, session("a1")); own.Lamport <= far {
		t.Errorf("own stamp %d, want above %d", own.Lamport, far)
	}
	j = m.start() // somebody was heard of
	if j.Welcome(far << 2) {
		t.Error("after a restart a welcome moves the clock beyond the lead")
	}
}

// Nobody is set where the others never get.
func TestFirstWelcomeSetsTheClockWhereOthersClimb(t *testing.T) {
	_, j, _ := peered(t)
	if j.Welcome(event.MaxInt) {
		t.Error("all of the highest clock counts")
	}
	if got := j.Clock(); got != 1<<40 {
		t.Errorf("clock = %d after the first welcome, want %d", got, uint64(1<<40))
	}
	j.Welcome(event.MaxInt)
	if got, want := j.Clock(), 1<<40+event.DefaultLimits().LamportLead; got != want {
		t.Errorf("clock = %d after the second welcome, want %d", got, want)
	}
}

// The disk was set back, or the memory of a running machine was copied: somebody
// holds events of the stream that this run writes.
func TestAlienEventOfTheOwnStreamEndsIt(t *testing.T) {
	for _, tt := range []struct {
		name string
		make func(m *machine, last *event.Event) *event.Event
		want string
	}{
		{"one that we lack", func(m *machine, last *event.Event) *event.Event {
			return m.sealBy(m.cfg.Key, last.Stream, last.Seq+1, last.Lamport+1, last, session("lost"))
		}, "accepted"},
		{"one in the place of ours", func(m *machine, last *event.Event) *event.Event {
			return m.sealBy(m.cfg.Key, last.Stream, last.Seq, last.Lamport, nil, session("x"))
		}, "malformed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, j, _ := peered(t)
			m.cfg.Trust = nil
			m.append(j, session("a1"))
			last := m.append(j, session("a2"))
			if tt.want == "malformed" { // chained as ours is
				h := event.Header{Repo: m.cfg.Repo, Stream: last.Stream, Seq: last.Seq, Lamport: last.Lamport, At: 7, Prev: last.Prev}
				e, err := event.Seal(m.cfg.Key, h, session("x"))
				if err != nil {
					t.Fatal(err)
				}
				wantOutcomes(t, m.ingest(j, m.forge(e)), "signature")
				if len(j.Health().Forsaken) != 0 {
					t.Fatal("a forged event ends the stream")
				}
				wantOutcomes(t, m.ingest(j, e), "forked")
			} else {
				wantOutcomes(t, m.ingest(j, tt.make(m, last)), tt.want)
			}
			if d := cmp.Diff([]ident.Stream{last.Stream}, j.Health().Forsaken); d != "" {
				t.Errorf("forsaken (-want +got):\n%s", d)
			}
			j.cfg.Continue = func(View) []string { return []string{"a2"} }
			next := m.append(j, session("a3"))
			if next.Stream == last.Stream || next.Seq != 2 {
				t.Errorf("the next event is %s", next.Key())
			}
			if b := first(t, j, next.Stream); b.Run != 2 || !slices.Equal(b.Sessions, []string{"a2"}) {
				t.Errorf("first event of the new run = %+v", b)
			}
			if l, _ := j.Liveness(last.Stream); l != Own {
				t.Errorf("the stream that was given up is %v", l)
			}
			if v, err := j.Verify(t.Context()); err != nil || !v.OK() {
				t.Errorf("Verify = %+v, %v", v, err)
			}
		})
	}
}

// An event that the disk lost in the middle of a stream is fetched again.
func TestLostRecordIsFilledByAPeer(t *testing.T) {
	m, j, bob := peered(t)
	b := m.line(bob, "b", 6)
	m.ingest(j, b...)
	whole := j.state.Digest(nil)
	for _, index := range []uint64{2, 3, 5} { // b2, b3, b5
		m.lose(index)
	}
	j = m.start()
	s := b[0].Stream
	if got := j.Marks()[s].Seq; got != 1 {
		t.Errorf("mark = %d, want the contiguous head 1", got)
	}
	if j.state.Digest(nil) == whole {
		t.Error("the digest holds a damaged stream")
	}
	if missing := missing(t, j, event.Marks{}); len(missing) != 1 {
		t.Errorf("offers %d events, want the one before the hole", len(missing))
	}
	wantOutcomes(t, m.ingest(j, m.forge(b[4])), "signature")
	wantOutcomes(t, m.ingest(j, b[1]), "pending") // what names it is lost too
	r := m.ingest(j, b[0], b[1], b[2], b[3], b[4], b[5])
	wantOutcomes(t, r, "duplicate", "duplicate", "accepted", "duplicate", "accepted", "duplicate")
	if r.Released != 1 {
		t.Errorf("released %d, want 1", r.Released)
	}
	for range 2 {
		h := j.Health()
		if len(h.Damaged) != 0 || j.Marks()[s].Seq != 6 || j.state.Digest(nil) != whole {
			t.Errorf("damaged %v, mark %d, digest equal %v", h.Damaged, j.Marks()[s].Seq, j.state.Digest(nil) == whole)
		}
		if h.Verified > 1 { // of the forged one
			t.Errorf("%d signatures checked: the chain vouches for what was lost", h.Verified)
		}
		j = m.start()
	}
	if len(missing(t, j, event.Marks{})) != 6 {
		t.Error("what was filled is not offered")
	}
}

func missing(t *testing.T, j *Journal, theirs event.Marks) []event.Stored {
	t.Helper()
	all, err := j.Missing(theirs, 1<<20, nil)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestMissingIsWhatAPeerLacks(t *testing.T) {
	m, j, bob := peered(t)
	b := m.line(bob, "b", 4)
	m.ingest(j, b...)
	own := m.append(j, session("a1"))
	all := missing(t, j, event.Marks{b[0].Stream: {Seq: 3}, own.Stream: {Seq: 1}})
	var got []string
	for _, s := range all {
		got = append(got, s.Key.String())
		if e, err := event.Parse(s.Raw); err != nil || e.Key() != s.Key {
			t.Errorf("the bytes of %s: %v", s.Key, err)
		}
	}
	slices.Sort(got)
	want := []string{b[3].Key().String(), own.Key().String()}
	slices.Sort(want)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("missing (-want +got):\n%s", d)
	}
	if all := missing(t, j, j.Marks()); len(all) != 0 {
		t.Errorf("a peer with equal marks lacks %d", len(all))
	}
}

func TestMissingStaysInItsBudgetAndTurns(t *testing.T) {
	m, bob, eve := newMachine(t, "ada"), keyOf(t, "bob"), keyOf(t, "eve")
	m.cfg.Trust = trust(bob, eve)
	j := m.start()
	m.ingest(j, slices.Concat(m.line(bob, "b", 10), m.line(eve, "e", 10))...)
	firsts := map[ident.Stream]bool{}
	for range 4 {
		all, err := j.Missing(event.Marks{}, 2000, nil)
		if err != nil || len(all) == 0 {
			t.Fatal(all, err)
		}
		size := 0
		for i, s := range all {
			size += len(s.Raw)
			if s.Key.Seq != uint64(i+1) {
				t.Errorf("event %d is %s", i, s.Key)
			}
		}
		if size > 2000 || size < 1000 {
			t.Errorf("%d bytes for a budget of 2,000", size)
		}
		firsts[all[0].Key.Stream] = true
	}
	if len(firsts) != 2 {
		t.Error("one stream comes first every time")
	}
	if all, err := j.Missing(event.Marks{}, 1, nil); err != nil || len(all) != 1 {
		t.Errorf("with a budget of 1: %d, %v; want one event", len(all), err)
	}
	all, err := j.Missing(event.Marks{}, 1<<20, func(s ident.Stream) bool { return s.Node() == eve.Node() })
	if err != nil || len(all) != 10 {
		t.Errorf("without eve's: %d, %v; want 10", len(all), err)
	}
}

// What vouches for an event may itself be refused, for its stamp or a bound: the
// one it reaches is taken all the same, in one batch or in two.
// unreadable is a log of which some records cannot be read any more.
type unreadable struct {
	*damaged
	gone func(index uint64) bool
}

func (u unreadable) Read(index uint64) (seglog.Record, error) {
	if u.gone(index) {
		return seglog.Record{}, seglog.ErrNotFound
	}
	return u.damaged.Read(index)
}

// What cannot be read keeps out what is behind it in its stream, and no other stream,
// however much it is.
func TestMissingPassesWhatCannotBeRead(t *testing.T) {
	m, j, bob := peered(t)
	b, c := m.line(bob, "b", 60), m.line(bob, "c", 60)
	m.ingest(j, append(b, c...)...)
	m.append(j, session("a1"))
	for name, tt := range map[string]struct {
		gone func(index uint64) bool
		want map[ident.Stream]int
	}{
		"two streams": {func(i uint64) bool { return i <= 120 }, map[ident.Stream]int{j.own.stream: 2}},
		"one event":   {func(i uint64) bool { return i <= 60 || i == 63 }, map[ident.Stream]int{c[0].Stream: 2, j.own.stream: 2}},
		"all":         {func(i uint64) bool { return true }, map[ident.Stream]int{}},
	} {
		j.log = unreadable{m.log, tt.gone}
		got, marks := map[ident.Stream]int{}, event.Marks{}
		for range 6 { // whichever stream a call begins with
			all, err := j.Missing(marks, 10*minEventBytes, nil)
			if err != nil || len(all) == 0 && len(got) == 0 && len(tt.want) > 0 {
				t.Errorf("%s: Missing = %d events, %v", name, len(all), err)
			}
			for _, s := range all {
				got[s.Key.Stream]++
				marks[s.Key.Stream] = event.Mark{Seq: s.Key.Seq}
			}
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s: events by stream (-want +got):\n%s", name, d)
		}
	}
}

func TestRefusedEventVouchesForTheOneBefore(t *testing.T) {
	for _, together := range []bool{true, false} {
		m, j, bob := peered(t)
		s := m.streamOf(bob)
		one := m.sealBy(bob, s, 1, 10, nil, session("b1"))
		two := m.forge(m.sealBy(bob, s, 2, 11, one, session("b2")))
		ahead := m.sealBy(bob, s, 3, 1<<30, two, session("b3"))
		forged := m.forge(ahead) // names it too, and vouches for nothing
		m.ingest(j, one)
		if together {
			wantOutcomes(t, m.ingest(j, two, forged, ahead), "accepted", "clock_ahead", "clock_ahead")
		} else {
			wantOutcomes(t, m.ingest(j, two), "pending")
			wantOutcomes(t, m.ingest(j, forged), "clock_ahead")
			r := m.ingest(j, ahead)
			wantOutcomes(t, r, "clock_ahead")
			if r.Released != 1 {
				t.Errorf("released %d, want 1", r.Released)
			}
		}
		wantSessions(t, j, "b1", "b2")
	}
}

// A batch is no smaller than what may wait: its order within a stream is no matter.
func TestBatchInAnyOrderNeedsNoRoomToWait(t *testing.T) {
	m, j, bob := peered(t)
	b := m.line(bob, "b", 300)
	slices.Reverse(b)
	if r := m.ingest(j, b...); r.Accepted != 300 || j.Health().Verified != 1 {
		t.Errorf("of 300 events backwards %d were taken, %d signatures checked: %v", r.Accepted, j.Health().Verified, r.Rejected)
	}
}

// While it waits, an event's signature is looked at once, whatever comes.
func TestWaitingSignatureIsLookedAtOnce(t *testing.T) {
	m, j, bob := peered(t)
	b := m.line(bob, "b", 5)
	bad := m.forge(b[1])
	m.ingest(j, b[0])
	for range 3 {
		m.ingest(j, bad)
		m.ingest(j, b[3]) // waits behind it, and vouches for another one
		m.ingest(j, b[4])
	}
	if n := j.Health().Verified; n != 2 {
		t.Errorf("%d signatures checked, want those of the first event and of the bad one", n)
	}
}

func TestEventThatWaitsIsNotTakenOnceItsKeyIsWithdrawn(t *testing.T) {
	m, bob := newMachine(t, "ada"), keyOf(t, "bob")
	believed := true
	m.cfg.Trust = func(ident.NodeID) bool { return believed }
	j := m.start()
	b := m.line(bob, "b", 3)
	m.ingest(j, b[0])
	m.ingest(j, m.forge(b[1]))
	believed = false
	r := m.ingest(j, b[2])
	wantOutcomes(t, r, "untrusted")
	if r.Dropped != 1 || len(r.Blocked) != 1 || r.Blocked[0].Why != event.Untrusted {
		t.Errorf("dropped %d, blocked %v", r.Dropped, r.Blocked)
	}
	wantSessions(t, j, "b1")
}

// Copies of a long run that nobody vouches for must not multiply the work.
func TestCopiesOfAForgedRunCostNoMoreThanTheirNumber(t *testing.T) {
	m, j, bob := peered(t)
	s := m.streamOf(bob)
	var run, twice []*event.Event
	prev := (*event.Event)(nil)
	for i := range 200 {
		prev = m.forge(m.sealBy(bob, s, uint64(i+1), uint64(i+10), prev, session(fmt.Sprint("b", i))))
		run = append(run, prev)
		twice = append(twice, prev, prev)
	}
	if r := m.ingest(j, twice...); r.Pending != 200 || r.Duplicate != 200 {
		t.Errorf("%d pending, %d duplicates: %v", r.Pending, r.Duplicate, r.Rejected)
	}
	m.ingest(j, run...)
	if n := j.Health().Verified; n > 800 {
		t.Errorf("%d signatures checked for 200 events that came three times", n)
	}
	wantOutcomes(t, m.ingest(j, m.sealBy(bob, s, 201, 300, prev, session("good"))), "accepted")
	if got := j.Marks()[s].Seq; got != 201 {
		t.Errorf("mark = %d, want 201: the last one vouches for all", got)
	}
}

// A hostile relay fills all places to wait with forged events of everybody.
// Streams that come in order go on as if nothing was.
func TestFloodOfForgedEventsBlocksNobody(t *testing.T) {
	m, bob, eve := newMachine(t, "ada"), keyOf(t, "bob"), keyOf(t, "eve")
	m.cfg.Trust = trust(bob, eve)
	m.cfg.Limits.PendingTotal = 50
	j := m.start()
	b, e := m.line(bob, "b", 40), m.line(eve, "e", 40)
	var flood []*event.Event
	for _, one := range slices.Concat(b, e) {
		flood = append(flood, m.forge(one))
	}
	m.ingest(j, flood...)
	if j.waiting.total.events != 50 {
		t.Fatalf("%d wait, want all places taken", j.waiting.total.events)
	}
	for n := 0; n < 40; n += 8 {
		if r := m.ingest(j, slices.Concat(b[n:n+8], e[n:n+8])...); r.Accepted != 16 {
			t.Errorf("of 16 events in order %d were taken: %v", r.Accepted, r.Rejected)
		}
		m.ingest(j, flood...)
	}
	if len(j.heads) != 2 || j.waiting.total.events != 0 || len(j.waiting.nodes) != 0 {
		t.Errorf("%d streams held, %d still wait", len(j.heads), j.waiting.total.events)
	}
}
