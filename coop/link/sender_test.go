package link_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/link"
	"github.com/comity-dev/comity/coop/link/linktest"
)

// greeted is a link whose side 0 is the test: bob, side 1, has said nothing yet.
func greeted(t *testing.T, a, b *linktest.Store) *hostile {
	t.Helper()
	w := join(t, time.Hour, a, b)
	for _, i := range []int{0, 1, 0} {
		w.step(i)
	}
	return &hostile{w, w.side[1].core, a, b}
}

func marks(last bool, of map[ident.Stream]uint64) []byte {
	f := link.MarksFrame{Last: last}
	for s, seq := range of {
		f.Marks = append(f.Marks, link.StreamMark{Stream: s, Mark: event.Mark{Seq: seq}})
	}
	return f.Append(nil)
}

// Before all marks of the peer are there nobody knows what it lacks.
func TestNothingIsSentBeforeThePeersMarks(t *testing.T) {
	a, b := duo()
	b.Append(9, 100)
	h := greeted(t, a, b)
	h.say(link.MarksFrame{First: true}.Append(nil))
	if n := count(h.out(), link.TypeEvents); n > 0 {
		t.Error("events are sent to a peer that has not told all its marks")
	}
	h.say(marks(true, map[ident.Stream]uint64{b.Stream: 4}))
	var sent []link.Run
	for _, f := range h.out() {
		if f.Type == link.TypeEvents {
			e, _ := link.ParseEvents(f.Body)
			sent = append(sent, e.Runs...)
		}
	}
	if len(sent) != 1 || sent[0].First != 5 || sent[0].Last() != 9 {
		t.Errorf("a peer that holds 4 of 9 is sent %v", sent)
	}
}

// A peer that reports nothing has two batches on their way, however much it lacks.
func TestSlowPeerHasTwoBatchesOnTheirWay(t *testing.T) {
	a, b := duo()
	b.Append(120, 30_000)
	h := greeted(t, a, b)
	h.say(link.MarksFrame{First: true, Last: true}.Append(nil))
	if n := count(h.out(), link.TypeEvents); n != link.Window {
		t.Errorf("%d batches without a report, want %d", n, link.Window)
	}
	if st := h.victim.Stats(); st.Unreported != link.Window || st.Lagging != 1 {
		t.Errorf("%+v", st)
	}
	h.say(link.NumberFrame(link.TypeAsk, 4))
	h.say(link.Report{Batch: 1, Accepted: 1}.Append(nil))
	all := h.out()
	if n := count(all, link.TypeEvents); n != 1 {
		t.Errorf("a report makes room for %d batches, want 1", n)
	}
	for batch := uint64(2); count(all, link.TypeLevel) == 0; batch++ {
		if sent := h.victim.Stats(); sent.EventsOut == 120 {
			t.Fatalf("all was sent, and no level: %+v", sent)
		}
		h.say(link.Report{Batch: batch, Accepted: 1}.Append(nil))
		all = h.out()
	}
	if n := h.victim.Stats().EventsOut; n != 120 {
		t.Errorf("level after %d of 120 events", n)
	}
}

// relayed writes an event more to each of some streams of one store, which another one has
// at once.
func relayed(t *testing.T, from, to *linktest.Store, streams ...ident.Stream) {
	t.Helper()
	for _, s := range streams {
		from.AppendTo(s, 1, 100)
		next, err := from.Missing(event.Marks{s: {Seq: uint64(to.Held()[s])}}, 1<<20, func(o ident.Stream) bool { return o != s })
		if err != nil || len(next) != 1 {
			t.Fatalf("%d events, %v", len(next), err)
		}
		to.Ingest(t.Context(), [][]byte{next[0].Raw})
	}
}

// Nor is it left to others when the peer had the rest of a batch already, and what was
// new in it waits, was not stored or is refused: the report does not say of which stream.
func TestPeerThatTookNothingNewIsStillSentAtOnce(t *testing.T) {
	for _, r := range []link.Report{
		{Duplicate: 1, Pending: 1}, {Duplicate: 1, NotStored: 1}, {Duplicate: 1, Rejected: map[event.Reason]int{event.Capacity: 1}},
	} {
		a, b := duo()
		eve := linktest.NewStore("eve")
		had, lacked := linktest.StreamOf(eve.Key, eve.Repo, "had"), linktest.StreamOf(eve.Key, eve.Repo, "lacked")
		relayed(t, eve, b, had, lacked)
		h := greeted(t, a, b)
		h.say(link.MarksFrame{First: true, Last: true}.Append(nil))
		h.out()
		r.Batch, r.Blocked = 1, []event.Blocked{{Stream: lacked, Seq: 1, Why: event.Waiting}}
		h.say(r.Append(nil))
		relayed(t, eve, b, had)
		h.victim.News()
		if n := count(h.out(), link.TypeEvents); n != 1 {
			t.Errorf("behind the report %+v %d batches go out at once, want 1", r, n)
		}
	}
}

// What the peer lacked is sent at once from then on, though the same batch held also what
// it had from elsewhere.
func TestLackingPeerIsSentAtOnceWhateverElseItHad(t *testing.T) {
	a, b := duo()
	eve := linktest.NewStore("eve")
	lacked, busy := linktest.StreamOf(eve.Key, eve.Repo, "lacked"), linktest.StreamOf(eve.Key, eve.Repo, "busy")
	grow := func(all ...ident.Stream) {
		t.Helper()
		relayed(t, eve, b, all...)
	}
	grow(lacked, busy)
	h := greeted(t, a, b)
	h.say(link.MarksFrame{First: true, Last: true}.Append(nil))
	h.out()
	h.say(link.Report{Batch: 1, Duplicate: 2}.Append(nil))
	grow(lacked, busy)
	h.victim.News()
	if n := count(h.out(), link.TypeEvents); n > 0 {
		t.Fatal("what the peer has from elsewhere sooner is sent at once")
	}
	for range 2 {
		h.now += 5 * time.Second
		h.victim.Tick(h.now)
	}
	if n := count(h.out(), link.TypeEvents); n != 1 {
		t.Fatalf("two heartbeats later %d batches go out, want 1 with both", n)
	}
	h.say(link.Report{Batch: 2, Accepted: 1, Duplicate: 1}.Append(nil))
	grow(lacked)
	h.victim.News()
	if n := count(h.out(), link.TypeEvents); n != 1 {
		t.Error("what the peer lacked waits for a heartbeat again")
	}
}

// A peer may hold the stream that it refuses, as far as it goes with its own: its
// marks take nothing back.
func TestMarksDoNotUnstick(t *testing.T) {
	for why, sticks := range map[event.Reason]bool{event.Forked: true, event.Untrusted: true, event.Capacity: false, event.Waiting: false, "new_word": false} {
		a, b := duo()
		b.Append(3, 100)
		h := greeted(t, a, b)
		h.say(link.MarksFrame{First: true, Last: true}.Append(nil))
		h.out()
		h.say(link.Report{Batch: 1, Rejected: map[event.Reason]int{why: 3}, Blocked: []event.Blocked{{Stream: b.Stream, Seq: 2, Why: why}}}.Append(nil))
		b.Append(3, 100)
		h.victim.News()
		if n := count(h.out(), link.TypeEvents); n > 0 {
			t.Errorf("%s: a refused stream goes on at once", why)
		}
		h.say(marks(true, map[ident.Stream]uint64{b.Stream: 1}))
		if n := count(h.out(), link.TypeEvents); n > 0 {
			t.Errorf("%s: a refused stream goes on though the peer got no further", why)
		}
		h.say(marks(true, map[ident.Stream]uint64{b.Stream: 2}))
		if n := count(h.out(), link.TypeEvents); n > 0 == sticks {
			t.Errorf("%s: the peer's marks are past the place, and %d batches go out", why, n)
		}
	}
}

// What is on its way when the peer asks again is not sent twice.
func TestAgainLeavesOutWhatIsOnItsWay(t *testing.T) {
	a, b := duo()
	b.Append(3, 100)
	h := greeted(t, a, b)
	h.say(link.MarksFrame{First: true, Last: true}.Append(nil))
	if n := count(h.out(), link.TypeEvents); n != 1 {
		t.Fatal("no batch")
	}
	h.say(link.Again{Streams: []ident.Stream{b.Stream}}.Append(nil))
	if n := count(h.out(), link.TypeEvents); n > 0 {
		t.Error("a batch without its report is sent again")
	}
	h.say(link.Report{Batch: 1, NotStored: 3, Blocked: []event.Blocked{{Stream: b.Stream, Seq: 1, Why: link.NotStored}}}.Append(nil))
	h.now += 6 * time.Second
	h.say(link.Again{Streams: []ident.Stream{b.Stream}}.Append(nil))
	if n := count(h.out(), link.TypeEvents); n != 1 {
		t.Error("a batch that was not stored is not sent again when it is asked for")
	}
}

// What is reported as taken while the peer tells its marks anew is not sent again,
// though those marks were read before.
func TestAgainLeavesOutWhatLandsMeanwhile(t *testing.T) {
	for _, streams := range [][]ident.Stream{nil, {linktest.NewStore("bob").Stream}} {
		a, b := duo()
		b.Append(3, 100)
		h := greeted(t, a, b)
		h.say(link.MarksFrame{First: true, Last: true}.Append(nil))
		if n := count(h.out(), link.TypeEvents); n != 1 {
			t.Fatal("no batch")
		}
		h.say(link.Again{Streams: []ident.Stream{stream(1)}}.Append(nil)) // the next one has to wait
		h.say(marks(true, map[ident.Stream]uint64{stream(1): 1}))
		h.say(link.Again{Streams: []ident.Stream{stream(1)}}.Append(nil))
		h.say(link.Again{Streams: streams}.Append(nil))
		h.say(link.MarksFrame{First: true}.Append(nil))
		h.say(link.Report{Batch: 1, Accepted: 3}.Append(nil))
		h.say(link.MarksFrame{Last: true}.Append(nil))
		h.now += 6 * time.Second
		h.victim.Tick(h.now)
		if n := count(h.out(), link.TypeEvents); n != 0 {
			t.Errorf("again for %v: what landed meanwhile is sent again", streams)
		}
	}
}

// What is reported as refused behind the word was judged behind it: it stands until the
// peer asks again. The peer has had it, and would take it for a replay.
func TestRefusalBehindTheWordStands(t *testing.T) {
	for _, late := range []bool{false, true} {
		a, b := duo()
		b.Append(3, 100)
		h := greeted(t, a, b)
		h.say(link.MarksFrame{First: true, Last: true}.Append(nil))
		h.out()
		if late { // the word has to wait
			h.say(marks(true, map[ident.Stream]uint64{stream(1): 1}))
			h.say(link.Again{Streams: []ident.Stream{stream(1)}}.Append(nil))
		}
		h.say(link.Again{}.Append(nil))
		h.say(link.Report{Batch: 1, Rejected: map[event.Reason]int{event.Untrusted: 3}, Blocked: []event.Blocked{{Stream: b.Stream, Seq: 1, Why: event.Untrusted}}}.Append(nil))
		h.say(link.MarksFrame{First: true, Last: true}.Append(nil))
		h.now += 6 * time.Second
		h.victim.Tick(h.now)
		if n := count(h.out(), link.TypeEvents); n != 0 {
			t.Errorf("late %t: what was refused behind the word is sent again", late)
		}
		h.say(link.Again{Streams: []ident.Stream{b.Stream}}.Append(nil))
		h.now += 6 * time.Second
		h.victim.Tick(h.now)
		if n := count(h.out(), link.TypeEvents); n != 1 {
			t.Errorf("late %t: what is asked for again is not sent", late)
		}
	}
}

// What landed before the last word of two may have been dropped since.
func TestWhatLandedBetweenTwoWordsIsSentAgain(t *testing.T) {
	for _, streams := range [][]ident.Stream{nil, {linktest.NewStore("bob").Stream}} {
		a, b := duo()
		b.Append(3, 100)
		h := greeted(t, a, b)
		h.say(link.MarksFrame{First: true, Last: true}.Append(nil))
		if n := count(h.out(), link.TypeEvents); n != 1 {
			t.Fatal("no batch")
		}
		h.say(marks(true, map[ident.Stream]uint64{stream(1): 1}))
		h.say(link.Again{Streams: []ident.Stream{stream(1)}}.Append(nil)) // the next one has to wait
		h.say(link.Again{Streams: streams}.Append(nil))
		h.say(link.Report{Batch: 1, Accepted: 3}.Append(nil))
		h.say(link.MarksFrame{First: true, Last: true}.Append(nil))
		h.say(link.Again{Streams: streams}.Append(nil))
		h.say(link.MarksFrame{First: true, Last: true}.Append(nil))
		h.now += 6 * time.Second
		h.victim.Tick(h.now)
		if n := count(h.out(), link.TypeEvents); n != 1 {
			t.Errorf("again for %v: what landed before the last word is not sent again", streams)
		}
	}
}

// The first exchange is over when the journal has what came before the level.
func TestLevelWaitsForTheJournal(t *testing.T) {
	a, b := duo()
	a.Append(3, 100)
	h := greeted(t, a, b)
	h.say(link.MarksFrame{First: true, Last: true}.Append(nil))
	h.out()
	held, err := a.Missing(event.Marks{}, 1<<20, func(ident.Stream) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	h.say(link.EventsFrame{Runs: []link.Run{{Stream: a.Stream, First: 1, Raw: [][]byte{held[0].Raw}}}}.Append(nil))
	h.say(link.NumberFrame(link.TypeLevel, 1))
	if st := h.victim.Stats(); st.Joined || st.Round > 0 || b.Joins() != 1 {
		t.Errorf("joined before the journal has the batch: %+v", st)
	}
	h.side[1].ingest(h.wire)
	if st := h.victim.Stats(); !st.Joined || st.Round != 1 || b.Joins() != 0 {
		t.Errorf("not joined though all is there: %+v", st)
	}
}

// Ages are those of when a frame is made, however long what they are of waited.
func TestAgesGrowWhileMarksWait(t *testing.T) {
	a, b := duo()
	b.Append(1, 100)
	cfg := [2]link.Config{linktest.ConfigOf(a, true), linktest.ConfigOf(b, false)}
	w := joinOn(t, time.Hour, cfg, [2]link.Journal{a, &crowded{b, crowd(t, b, 3000)}})
	for _, i := range []int{0, 1, 0} {
		w.step(i)
	}
	h := &hostile{w, w.side[1].core, a, b}
	var ages []time.Duration
	for b := h.victim.Next(h.now); b != nil; b = h.victim.Next(h.now) {
		if f := frame(t, b); f.Type == link.TypeMarks {
			m, err := link.ParseMarks(f.Body)
			if err != nil {
				t.Fatal(err)
			}
			ages = append(ages, m.Marks[len(m.Marks)/2].Age)
			h.now += time.Second
		}
	}
	if d := cmp.Diff([]time.Duration{time.Second, 2 * time.Second, 3 * time.Second}, ages); d != "" {
		t.Errorf("ages of marks told a second apart (-want +got):\n%s", d)
	}

	eve := linktest.NewStore("eve")
	eve.Append(1, 100)
	beat, _ := eve.Beat()
	h.b.MergeMarks(event.Marks{eve.Stream: {Beat: beat}})
	h.victim.News()
	h.out() // it is read now, and told at the next heartbeat
	h.now += 3 * time.Second
	h.victim.Tick(h.now)
	for _, f := range h.out() {
		if f.Type == link.TypeMarks {
			m, _ := link.ParseMarks(f.Body)
			if len(m.Marks) != 1 || m.Marks[0].Age != 3*time.Second {
				t.Errorf("three seconds after it was read: %d marks, the first %v", len(m.Marks), m.Marks[0].Age)
			}
			return
		}
	}
	t.Error("no marks at the heartbeat")
}

// blank is a journal that cannot read what it holds.
type blank struct{ *linktest.Store }

func (blank) Missing(event.Marks, int, func(ident.Stream) bool) ([]event.Stored, error) {
	return nil, nil
}

func TestEventsThatCannotBeReadHoldNothingUp(t *testing.T) {
	a, b := duo()
	b.Append(3, 100)
	w := joinOn(t, time.Hour, [2]link.Config{linktest.ConfigOf(a, true), linktest.ConfigOf(b, false)}, [2]link.Journal{a, blank{b}})
	w.settle()
	if st := w.side[0].core.Stats(); !st.Joined || st.Round != 1 {
		t.Errorf("the first exchange waits for what cannot be read: %+v", st)
	}
}

func TestReportsComeInOrder(t *testing.T) {
	a, b := duo()
	b.Append(3, 100)
	h := greeted(t, a, b)
	h.say(link.MarksFrame{First: true, Last: true}.Append(nil))
	h.out()
	if h.say(link.Report{Batch: 2}.Append(nil)) == nil {
		t.Error("a report on another batch than the first passes")
	}
}

// A journal that is closed ends its links cleanly.
func TestClosedJournalEndsTheLink(t *testing.T) {
	a, b := duo()
	b.Append(3, 100)
	w := joinOn(t, time.Hour, [2]link.Config{linktest.ConfigOf(a, true), linktest.ConfigOf(b, false)}, [2]link.Journal{a, closed{b}})
	w.settle()
	var bye *link.GoodbyeError
	if err := w.side[0].core.Err(); !errors.As(err, &bye) {
		t.Errorf("the peer learns %v", err)
	}
	if err := w.side[1].core.Err(); !errors.Is(err, errClosed) {
		t.Errorf("the link ended with %v", err)
	}
}

var errClosed = errors.New("closed")

type closed struct{ *linktest.Store }

func (closed) Missing(event.Marks, int, func(ident.Stream) bool) ([]event.Stored, error) {
	return nil, errClosed
}
