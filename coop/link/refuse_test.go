package link_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/link"
	"github.com/comity-dev/comity/coop/link/linktest"
)

// Of a key that the receiver does not believe the first batch is the last, until
// the receiver says that its trust changed.
func TestUntrustedSticksUntilTrustChanges(t *testing.T) {
	a, b := duo()
	eve := linktest.NewStore("eve")
	eve.Append(50, 100)
	join(t, time.Hour, a, eve).settle() // ada holds what eve wrote
	b.Believe(eve.Key.Node(), false)
	w := join(t, time.Hour, a, b)
	w.settle()
	for range 5 {
		eve.Append(1, 100)
		join(t, time.Hour, a, eve).settle()
		a.Append(1, 100)
		w.news()
		w.pass(time.Minute)
	}
	if w.side[0].sentOf(link.TypeEvents) > 6 || b.Held()[eve.Stream] != 0 || b.Held()[a.Stream] != 5 {
		t.Errorf("%d batches, bob holds %v", w.side[0].sentOf(link.TypeEvents), b.Held())
	}
	st := w.side[0].core.Stats()
	if len(st.Blocked) != 1 || st.Blocked[0] != (event.Blocked{Stream: eve.Stream, Seq: 1, Why: event.Untrusted}) {
		t.Errorf("blocked: %v", st.Blocked)
	}
	if st := w.side[1].core.Stats(); len(st.Refused) != 1 || st.Refused[0].Why != event.Untrusted {
		t.Errorf("refused: %v", st.Refused)
	}
	w.once()

	b.Believe(eve.Key.Node(), true)
	w.side[1].core.TrustChanged()
	w.settle()
	agree(t, a, b)
	if w.side[0].events[event.Key{Stream: a.Stream, Seq: 1}] != 1 {
		t.Error("what was taken is sent again when trust changes")
	}
}

func TestTrustWithdrawnEndsTheLink(t *testing.T) {
	a, b := duo()
	trusted := true
	w := join(t, time.Hour, a, b, func(c *[2]link.Config) { c[1].Trust = func(ident.NodeID) bool { return trusted } })
	w.settle()
	w.side[1].core.TrustChanged()
	w.settle()
	if w.side[1].core.Err() != nil {
		t.Fatal("a link ends though its peer is still trusted:", w.side[1].core.Err())
	}
	trusted = false
	w.side[1].core.TrustChanged()
	w.settle()
	var no *link.RefusedError
	if err := w.side[0].core.Err(); !errors.As(err, &no) || no.Refusal.Code != link.CodeUntrusted || no.By != b.Key.Node() {
		t.Errorf("the peer that is no longer trusted learns %v", err)
	}
}

// Nor does a peer get a link that was trusted when it said hello and is not when it
// confirms.
func TestTrustWithdrawnWhileTheyGreet(t *testing.T) {
	a, b := duo()
	trusted := true
	w := join(t, time.Hour, a, b, func(c *[2]link.Config) { c[1].Trust = func(ident.NodeID) bool { return trusted } })
	w.step(0)
	trusted = false
	w.side[1].core.TrustChanged()
	w.settle()
	var wrong *link.ProtocolError
	if err := w.side[1].core.Err(); !errors.As(err, &wrong) || wrong.Code != link.CodeUntrusted {
		t.Errorf("the greeting ended with %v, want %s", err, link.CodeUntrusted)
	}
	var no *link.RefusedError
	if err := w.side[0].core.Err(); !errors.As(err, &no) || no.Refusal.Code != link.CodeUntrusted || no.By != b.Key.Node() {
		t.Errorf("the peer that is no longer trusted learns %v", err)
	}
	if b.Joins() != 0 || w.side[1].sentOf(link.TypeMarks) != 0 {
		t.Error("a first exchange has begun")
	}
}

// A scripted journal refuses what a test says.
type scripted struct {
	*linktest.Store
	refuse func(batch [][]byte) *event.IngestReport // nil lets it in
	calls  int
}

func (s *scripted) Ingest(ctx context.Context, batch [][]byte) event.IngestReport {
	s.calls++
	if r := s.refuse(batch); r != nil {
		r.Count()
		return *r
	}
	return s.Store.Ingest(ctx, batch)
}

func all(batch [][]byte, o event.Outcome) *event.IngestReport {
	r := &event.IngestReport{Outcomes: make([]event.Outcome, len(batch))}
	for i := range r.Outcomes {
		r.Outcomes[i] = o
	}
	return r
}

// What may come right by itself is asked for again after an expiry, and later
// after twice the time each; what was taken does not come along.
func TestPassingRefusalsAreTriedAgain(t *testing.T) {
	for _, why := range []event.Reason{event.Capacity, event.ClockAhead, link.NotStored} {
		a, b := duo()
		a.Append(10, 100)
		full := false
		s := &scripted{Store: b, refuse: func(batch [][]byte) *event.IngestReport {
			if !full {
				return nil
			}
			if why == link.NotStored {
				return all(batch, event.Outcome{Status: event.NotStored})
			}
			r := all(batch, event.Outcome{Status: event.Rejected, Reason: why})
			r.Blocked = []event.Blocked{{Stream: a.Stream, Seq: 11, Why: why}}
			return r
		}}
		w := joinOn(t, time.Hour, [2]link.Config{linktest.ConfigOf(a, true), linktest.ConfigOf(b, false)}, [2]link.Journal{a, s})
		w.settle()
		w.pass(5 * time.Second)
		full = true
		a.Append(10, 100)
		w.news()
		a.Append(10, 100)
		w.news()
		if st := w.side[0].core.Stats(); len(st.Blocked) != 1 || st.Blocked[0] != (event.Blocked{Stream: a.Stream, Seq: 11, Why: why}) {
			t.Errorf("%s: blocked: %v", why, st.Blocked)
		}
		w.once()
		calls := s.calls
		w.pass(29 * time.Second)
		if s.calls != calls {
			t.Errorf("%s: tried again before an expiry", why)
		}
		w.pass(10 * time.Minute)
		if n := s.calls - calls; n < 3 || n > 5 { // after 30 s, 1, 2, 4 and 8 minutes
			t.Errorf("%s: tried %d times in 10 minutes", why, n)
		}
		full = false
		w.pass(11 * time.Minute)
		agree(t, a, b)
		for seq := uint64(1); seq <= 10; seq++ {
			if n := w.side[0].events[event.Key{Stream: a.Stream, Seq: seq}]; n != 1 {
				t.Errorf("%s: event %d was taken and sent %d times", why, seq, n)
			}
		}
		if st := w.side[1].core.Stats(); len(st.Refused) > 0 {
			t.Errorf("%s: still refused: %v", why, st.Refused)
		}
	}
}

// Behind an event whose signature is not good some are sent, which may vouch for
// it, and not more.
func TestBadSignatureIsFollowedByWhatMayVouch(t *testing.T) {
	a, b := duo()
	a.Append(1, 100)
	s := &scripted{Store: b, refuse: func(batch [][]byte) *event.IngestReport {
		r := all(batch, event.Outcome{Status: event.Pending})
		r.Blocked = []event.Blocked{{Stream: a.Stream, Seq: 1, Why: event.BadSignature}}
		return r
	}}
	w := joinOn(t, time.Hour, [2]link.Config{linktest.ConfigOf(a, true), linktest.ConfigOf(b, false)}, [2]link.Journal{a, s})
	w.settle()
	for range 10 {
		a.Append(1, 100)
		w.news()
	}
	if n := w.side[0].core.Stats().EventsOut; n != 11 {
		t.Errorf("%d events sent, want all 11: the next one may vouch", n)
	}
	a.Append(1000, 100)
	w.news()
	if n := w.side[0].core.Stats().EventsOut; n != 65 {
		t.Errorf("%d events sent, want 65", n)
	}
}

// Events that wait for one that comes from elsewhere: when it is there and they
// were given up meanwhile, they are asked for.
func TestDroppedWaitersAreAskedForAgain(t *testing.T) {
	a, b := duo()
	a.Append(5, 100)
	waiting := true
	s := &scripted{Store: b, refuse: func(batch [][]byte) *event.IngestReport {
		if !waiting {
			return nil
		}
		r := all(batch, event.Outcome{Status: event.Pending})
		r.Blocked = []event.Blocked{{Stream: a.Stream, Seq: 2, Why: event.Waiting}}
		return r
	}}
	w := joinOn(t, time.Hour, [2]link.Config{linktest.ConfigOf(a, true), linktest.ConfigOf(b, false)}, [2]link.Journal{a, s})
	w.settle()
	a.Append(5, 100)
	w.news()
	w.pass(time.Minute)
	if n := w.side[0].core.Stats().EventsOut; n != 5 {
		t.Errorf("%d events sent to a receiver that waits for one, want 5", n)
	}
	waiting = false
	held, err := a.Missing(event.Marks{}, 1<<20, func(ident.Stream) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	b.Ingest(t.Context(), [][]byte{held[0].Raw, held[1].Raw})
	w.side[1].sent = nil
	w.pass(10 * time.Second)
	agree(t, a, b)
	for _, f := range w.side[1].sent { // from where on it wants them is told before it asks
		if f.Type == link.TypeAgain {
			t.Error("asks again before it tells its marks")
		}
		if f.Type == link.TypeMarks {
			break
		}
	}
}

// A forged event that waits keeps nobody's stream back: who sends what comes before it
// has no gap.
func TestForgedEventThatWaitsParksNobody(t *testing.T) {
	ada, bob := newNode(t, "ada", time.Hour), newNode(t, "bob", time.Hour)
	f := newFleet(t, bob.Repository(), 1)
	l := f.line(0)
	all := [][]byte{f.open(l)}
	all = append(all, f.claims(l, 6)...)
	ada.take(event.Accepted, "", all[:1]...)
	w := linked(t, ada, bob)
	w.settle()
	bob.take(event.Pending, "", forged(t, all[4]))
	for _, raw := range all[1:] {
		ada.take(event.Accepted, "", raw)
		w.news()
	}
	if got := bob.held()[l.stream]; got != 7 {
		t.Errorf("bob holds %d events, want 7", got)
	}
	if st := w.side[0].core.Stats(); len(st.Blocked) != 0 {
		t.Errorf("blocked: %v", st.Blocked)
	}
	w.once()
}

// A round is not over while our own disk does not take what the peer sent, also when
// others of the stream only wait for it, in the same batch or behind it. It is over
// when all is here, whoever it comes from.
func TestRoundGoesOnWhileTheDiskTakesNothing(t *testing.T) {
	for _, tt := range []struct{ sameBatch, elsewhere bool }{{false, false}, {true, false}, {true, true}} {
		a, b := duo()
		a.Append(3, 100)
		full, taken := false, 0
		s := &scripted{Store: b, refuse: func(batch [][]byte) *event.IngestReport {
			if !full {
				return nil
			}
			r := all(batch, event.Outcome{Status: event.NotStored})
			if taken++; taken > 1 {
				r = all(batch, event.Outcome{Status: event.Pending})
			}
			if taken > 1 || tt.sameBatch {
				r.Blocked = []event.Blocked{{Stream: a.Stream, Seq: 4, Why: event.Waiting}}
			}
			return r
		}}
		cfgs := [2]link.Config{linktest.ConfigOf(a, true), linktest.ConfigOf(b, false)}
		cfgs[0].Limits.EventBatch = 2000
		w := joinOn(t, time.Hour, cfgs, [2]link.Journal{a, s})
		w.settle()
		core := w.side[1].core
		full = true
		a.Append(20, 500) // several batches, of which some are under way at once
		w.side[0].core.News()
		n := core.Round()
		w.settle()
		w.pass(29 * time.Second)
		if taken != link.Window {
			t.Errorf("%+v: %d batches came, want %d", tt, taken, link.Window)
		}
		if core.Stats().Round >= n {
			t.Errorf("%+v: the round is over, and nothing of it is stored", tt)
		}
		full = false
		if tt.elsewhere {
			b.Ingest(t.Context(), rawsOf(t, a))
		}
		w.until(time.Minute, func() bool { return core.Stats().Round >= n })
		agree(t, a, b)
		if tt.elsewhere && taken+1 < s.calls {
			t.Errorf("%+v: what came from elsewhere was sent again", tt)
		}
	}
}

// Nor does it go on behind what was not stored at first, and is refused when it comes
// again, or taken since trust changed.
func TestRoundEndsWhateverBecomesOfWhatWasNotStored(t *testing.T) {
	for _, trust := range []bool{false, true} {
		a, b := duo()
		a.Append(3, 100)
		full := true
		s := &scripted{Store: b, refuse: func(batch [][]byte) *event.IngestReport {
			switch {
			case full:
				return all(batch, event.Outcome{Status: event.NotStored})
			case trust:
				return nil
			}
			r := all(batch, event.Outcome{Status: event.Rejected, Reason: event.Untrusted})
			r.Blocked = []event.Blocked{{Stream: a.Stream, Seq: 1, Why: event.Untrusted}}
			return r
		}}
		w := joinOn(t, time.Hour, [2]link.Config{linktest.ConfigOf(a, true), linktest.ConfigOf(b, false)}, [2]link.Journal{a, s})
		w.settle()
		core := w.side[1].core
		n := core.Round()
		if w.settle(); core.Stats().Round > 0 {
			t.Fatal("the round is over, and nothing of it is stored")
		}
		if full = false; trust {
			core.TrustChanged()
		}
		if w.pass(time.Minute); core.Stats().Round < n {
			t.Errorf("trust changed %t: a minute later the round still goes on", trust)
		}
	}
}

// rawsOf is all that s holds.
func rawsOf(t *testing.T, s *linktest.Store) (raws [][]byte) {
	held, err := s.Missing(event.Marks{}, 1<<20, func(ident.Stream) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range held {
		raws = append(raws, e.Raw)
	}
	return raws
}

// The same for the first exchange; and what we refuse for what it is does not keep
// a round open.
func TestFirstExchangeGoesOnWhileTheDiskTakesNothing(t *testing.T) {
	for _, o := range []event.Outcome{{Status: event.NotStored}, {Status: event.Rejected, Reason: event.Capacity}} {
		a, b := duo()
		a.Append(3, 100)
		s := &scripted{Store: b, refuse: func(batch [][]byte) *event.IngestReport {
			r := all(batch, o)
			if o.Reason != "" {
				r.Blocked = []event.Blocked{{Stream: a.Stream, Seq: 1, Why: o.Reason}}
			}
			return r
		}}
		w := joinOn(t, time.Hour, [2]link.Config{linktest.ConfigOf(a, true), linktest.ConfigOf(b, false)}, [2]link.Journal{a, s})
		w.settle()
		w.pass(time.Second)
		if got, want := w.side[1].core.Stats().Joined, o.Reason != ""; got != want {
			t.Errorf("%+v: the first exchange is over: %v, want %v", o, got, want)
		}
		w.pass(118 * time.Second) // a second less than four expiries
		if got, want := w.side[1].core.Stats().Joined, o.Reason != ""; got != want {
			t.Errorf("%+v: within four expiries the first exchange is over: %v, want %v", o, got, want)
		}
		w.pass(time.Second)
		if !w.side[1].core.Stats().Joined {
			t.Errorf("%+v: the first exchange has no bound", o)
		}
	}
}

// A round goes on as well when the batch behind one that our disk did not take is too
// far ahead to wait: that is no bound that was reached, but what is missing before it.
func TestRoundGoesOnWhenTheFirstOfTwoBatchesIsNotStored(t *testing.T) {
	ada, bob := newNode(t, "ada", time.Hour), newNode(t, "bob", time.Hour)
	f := newFleet(t, bob.Repository(), 1)
	l := f.line(0)
	ada.take(event.Accepted, "", f.open(l))
	ada.take(event.Accepted, "", f.claims(l, 2000)...)
	w := joinOn(t, time.Hour, [2]link.Config{ada.config(true), bob.config(false)}, [2]link.Journal{ada, &fullOnce{node: bob}})
	w.settle()
	if st := w.side[1].core.Stats(); st.Round > 0 || st.Joined || len(st.Refused) != 1 || st.Refused[0].Why != link.NotStored {
		t.Errorf("round %d, joined %v, refused %+v; want the first one, and what is not stored", st.Round, st.Joined, st.Refused)
	}
	w.pass(2 * time.Minute)
	if st := w.side[1].core.Stats(); st.Round == 0 || bob.held()[l.stream] != 2001 {
		t.Errorf("round %d, %d events held; want 2001, and a round over", st.Round, bob.held()[l.stream])
	}
}

// A fullOnce is a node whose disk does not take the first batch.
type fullOnce struct {
	*node
	tried bool
}

func (n *fullOnce) Ingest(ctx context.Context, batch [][]byte) event.IngestReport {
	if !n.tried {
		n.tried = true
		return *all(batch, event.Outcome{Status: event.NotStored})
	}
	return n.node.Ingest(ctx, batch)
}

// A batch that is being taken is judged by the trust there was: it is reported
// before the refusals are void.
func TestTrustChangesBehindTheBatchUnderWay(t *testing.T) {
	h := newHostile(t)
	h.say(link.EventsFrame{Runs: []link.Run{{Stream: h.a.Stream, First: 6, Raw: [][]byte{[]byte("x")}}}}.Append(nil))
	batch, _ := h.victim.Batch()
	h.victim.TrustChanged()
	if n := count(h.out(), link.TypeAgain); n > 0 {
		t.Error("refusals are void while a batch is being refused")
	}
	h.victim.Ingested(h.now, *all(batch, event.Outcome{Status: event.Rejected, Reason: event.Untrusted}))
	var order []link.Type
	for _, f := range h.out() {
		if f.Type != link.TypeMarks || len(order) > 0 {
			order = append(order, f.Type)
		}
	}
	if d := cmp.Diff([]link.Type{link.TypeReport, link.TypeAgain, link.TypeMarks}, order); d != "" {
		t.Errorf("types of frames (-want +got):\n%s", d)
	}
}

// The report goes out when the disk has the batch, and the mark with it.
func TestReportComesAfterTheDisk(t *testing.T) {
	a, b := duo()
	a.Append(3, 100)
	w := join(t, time.Hour, a, b)
	for range 100 {
		if f := w.side[0].core.Next(w.now); f != nil {
			w.side[1].core.Receive(w.now, frame(t, f))
		}
		if _, ok := w.side[1].core.Batch(); ok {
			break
		}
		w.step(1)
	}
	for f := w.side[1].core.Next(w.now); f != nil; f = w.side[1].core.Next(w.now) {
		w.side[0].core.Receive(w.now, frame(t, f))
		switch one := frame(t, f); one.Type {
		case link.TypeReport:
			t.Fatal("a batch is reported that the journal does not have")
		case link.TypeMarks:
			if m, _ := link.ParseMarks(one.Body); len(m.Marks) > 0 {
				t.Fatalf("told as held: %v", m.Marks)
			}
		}
	}
	if w.side[1].core.Stats().Joined {
		t.Error("the first exchange is over though the journal does not have the batch")
	}
}
