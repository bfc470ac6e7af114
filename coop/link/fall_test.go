package link_test

import (
	"testing"
	"time"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/journal"
	"github.com/comity-dev/comity/coop/link"
	"github.com/comity-dev/comity/coop/link/linktest"
)

// A stream that was dropped and is wanted again is fetched whole over the link that
// there is: for one stream nobody greets anew, and nothing else is sent again.
func TestDroppedStreamComesBackOnTheSameLink(t *testing.T) {
	a, b, c := newNode(t, "ada", time.Hour), newNode(t, "bob", 50*time.Hour), newNode(t, "eve", time.Minute)
	a.write(5)
	b.write(40)
	c.write(7)
	linked(t, b, c).settle()
	w := linked(t, a, c)
	w.settle()
	pass := func(seconds int) {
		for range seconds {
			for _, n := range []*node{a, b, c} {
				n.clock.Advance(time.Second)
			}
			w.pass(time.Second)
		}
	}
	pass(1000) // bob is silent
	if r, err := a.Compact(t.Context(), journal.Policy{Force: true}); err != nil || len(r.Streams) != 1 {
		t.Fatalf("Compact = %+v, %v", r, err)
	}
	pass(20)
	beat, _ := b.Beat()
	if c.MergeMarks(event.Marks{beat.Stream: {Seq: beat.Seq, Beat: beat}}) != 1 {
		t.Fatal("the beat is not taken")
	}
	pass(20)
	if got := a.Marks()[b.Stream()]; got.Seq != beat.Seq {
		t.Errorf("of the stream that came back %d events are here, want %d", got.Seq, beat.Seq)
	}
	for i, s := range w.side {
		if err := s.core.Err(); err != nil || s.sentOf(link.TypeHello)+s.sentOf(link.TypeWelcome) != 1 {
			t.Errorf("side %d: the link ended: %v", i, err)
		}
		for k, n := range s.events {
			if want := 1; n > want && k.Stream != b.Stream() || n > want+1 {
				t.Errorf("side %d sent %s %d times", i, k, n)
			}
		}
		if st := s.core.Stats(); len(st.Blocked)+len(st.Refused)+st.Lagging > 0 {
			t.Errorf("side %d: %+v", i, st)
		}
	}
	same(t, a, c)
}

// fallen is a store that dropped a stream and wants it again, once it fell.
type fallen struct {
	*scripted
	stream ident.Stream
	fell   bool
}

func (f *fallen) MarksSince(version uint64) (event.Marks, uint64) {
	marks, v := f.Store.MarksSince(version)
	if f.fell {
		marks[f.stream] = event.Mark{}
	}
	return marks, v
}

// What was on its way when a stream was asked for anew waits for what was dropped, and the
// peer takes that for sent as far as this: it is asked once more.
func TestStreamThatFellIsAskedForBehindWhatWasOnItsWay(t *testing.T) {
	a, b := duo()
	eve := linktest.NewStore("eve")
	eve.Append(6, 100)
	raws := rawsOf(t, eve)
	b.Ingest(t.Context(), raws[:5])
	f := &fallen{stream: eve.Stream, scripted: &scripted{Store: b, refuse: func(batch [][]byte) *event.IngestReport {
		r := all(batch, event.Outcome{Status: event.Pending})
		r.Blocked = []event.Blocked{{Stream: eve.Stream, Seq: 1, Why: event.Waiting}}
		return r
	}}}
	w := joinOn(t, time.Hour, [2]link.Config{linktest.ConfigOf(a, true), linktest.ConfigOf(b, false)}, [2]link.Journal{a, f})
	for _, i := range []int{0, 1, 0} {
		w.step(i)
	}
	h := &hostile{w, w.side[1].core, a, b}
	h.say(marks(true, map[ident.Stream]uint64{eve.Stream: 6}))
	h.out()
	agains := func() int {
		h.now += 5 * time.Second
		h.victim.Tick(h.now)
		return count(h.out(), link.TypeAgain)
	}
	f.fell = true
	h.victim.News()
	if n := agains(); n != 1 {
		t.Fatalf("a stream that fell is asked for %d times, want once", n)
	}
	h.say(link.EventsFrame{Runs: []link.Run{{Stream: eve.Stream, First: 6, Raw: raws[5:]}}}.Append(nil))
	h.side[1].ingest(w)
	if n := agains(); n != 1 {
		t.Errorf("behind what was on its way it is asked for %d times, want once", n)
	}
	if n := agains(); n != 0 {
		t.Errorf("then it is asked for %d times more", n)
	}
}
