package link_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/comity-dev/comity/coop/link"
	"github.com/comity-dev/comity/coop/link/linktest"
)

// However the frames of a link interleave and wherever it is cut, the next links
// bring both sides to the same, and no link sends an event twice.
func TestAgreeAfterAnyCuts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a, b := duo()
		stores := []*linktest.Store{a, b}
		now := time.Hour
		for range rapid.IntRange(1, 4).Draw(rt, "links") {
			w := join(t, now, a, b)
			for range rapid.IntRange(0, 60).Draw(rt, "steps") {
				switch n := rapid.IntRange(0, 9).Draw(rt, "do"); n {
				case 0, 1:
					stores[n].AppendTo(linktest.StreamOf(stores[n].Key, stores[n].Repo, fmt.Sprint(rapid.IntRange(0, 3).Draw(rt, "run"))), 1+n*20, 100)
					w.side[n].core.News()
				case 2:
					w.now += time.Duration(rapid.IntRange(1, 6).Draw(rt, "seconds")) * time.Second
					for _, s := range w.side {
						s.core.Tick(w.now)
					}
				default:
					w.step(n % 2)
				}
			}
			for i, s := range w.side {
				if err := s.core.Err(); err != nil && !errors.Is(err, link.ErrSilent) && !refusedAs(err, link.CodeSilent) {
					rt.Fatalf("side %d ended by itself: %v", i, err)
				}
				s.core.End(fmt.Errorf("cut"))
			}
			w.once()
			now = w.now
		}
		w := join(t, now, a, b)
		w.settle()
		agree(t, a, b)
		w.once()
		if a.Joins()+b.Joins() != 0 {
			rt.Fatalf("first exchanges of links that are over are under way: %d, %d", a.Joins(), b.Joins())
		}
	})
}

func refusedAs(err error, code link.Code) bool {
	var no *link.RefusedError
	return errors.As(err, &no) && no.Refusal.Code == code
}

// A link that is cut behind any of its frames loses nothing that the next one
// does not bring.
func TestCutBehindEachFrame(t *testing.T) {
	for cut := 0; ; cut++ {
		a, b := duo()
		a.Append(30, 100)
		b.Append(30, 100)
		w := join(t, time.Hour, a, b)
		n := 0
		for n < cut && (w.step(n%2) || w.step(1-n%2)) {
			n++
		}
		for _, s := range w.side {
			s.core.End(fmt.Errorf("cut"))
		}
		w = join(t, time.Hour, a, b)
		w.settle()
		agree(t, a, b)
		w.once()
		if n < cut {
			return
		}
	}
}

// A line of three: what one end writes reaches the other through the middle.
func TestLineOfThree(t *testing.T) {
	a, b := duo()
	c := linktest.NewStore("eve")
	left, right := join(t, time.Hour, a, b), join(t, time.Hour, b, c)
	settle := func() {
		for range 4 {
			left.news()
			right.news()
		}
	}
	for range 10 {
		a.Append(2, 100)
		c.Append(3, 100)
		settle()
	}
	agree(t, a, b)
	agree(t, b, c)
	left.once()
	right.once()
	if left.side[1].core.Stats().EventsOut != 30 || right.side[0].core.Stats().EventsOut != 20 {
		t.Error("the middle sent back what it got")
	}
	left.pass(20 * time.Second)
	right.pass(20 * time.Second)
	left.pass(5 * time.Second)
	if a.Beats()[c.Stream] == 0 || c.Beats()[a.Stream] == 0 {
		t.Error("beats do not pass the middle")
	}
}
