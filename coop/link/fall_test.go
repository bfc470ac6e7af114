package link_test

import (
	"testing"
	"time"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/journal"
	"github.com/comity-dev/comity/coop/link"
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
