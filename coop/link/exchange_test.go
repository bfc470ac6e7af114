package link_test

import (
	"testing"
	"time"

	"github.com/comity-dev/comity/coop/link"
)

func TestBothGetWhatTheyLack(t *testing.T) {
	a, b := duo()
	a.Append(500, 100)
	b.Append(300, 100)
	w := join(t, time.Hour, a, b)
	w.settle()
	agree(t, a, b)
	w.once()
	for i, s := range w.side {
		st := s.core.Stats()
		if !st.Up || !st.Joined || st.Duplicate > 0 || st.Lagging > 0 || st.Unreported > 0 || st.Round != 1 {
			t.Errorf("side %d: %+v", i, st)
		}
	}
	if w.side[0].core.Stats().EventsOut != 500 || w.side[1].core.Stats().EventsOut != 300 {
		t.Errorf("sent %d and %d events", w.side[0].core.Stats().EventsOut, w.side[1].core.Stats().EventsOut)
	}
	if a.Joins() != 0 || b.Joins() != 0 {
		t.Errorf("%d and %d first exchanges are still under way", a.Joins(), b.Joins())
	}
}

func TestNewsIsPushedAtOnceAndOnce(t *testing.T) {
	a, b := duo()
	w := join(t, time.Hour, a, b)
	w.settle()
	for range 20 {
		a.Append(3, 100)
		b.Append(2, 100)
		w.news()
		agree(t, a, b)
	}
	w.once()
	if n := w.side[0].sentOf(link.TypeEvents); n != 20 {
		t.Errorf("20 pieces of news took %d batches", n)
	}
}

func TestQuietLinkCarriesBeatsAlone(t *testing.T) {
	a, b := duo()
	a.Append(1, 100)
	b.Append(1, 100)
	w := join(t, time.Hour, a, b)
	w.settle()
	w.pass(5 * time.Second) // what came in the first exchange is told once
	for _, s := range w.side {
		s.sent = nil
	}
	w.pass(time.Minute)
	for i, s := range w.side {
		for _, f := range s.sent {
			switch f.Type {
			case link.TypeBeat, link.TypePing, link.TypePong:
			default:
				t.Errorf("side %d sent a frame of type %d on a quiet link", i, f.Type)
			}
		}
		if n := s.sentOf(link.TypeBeat); n != 12 {
			t.Errorf("side %d sent %d beats in a minute", i, n)
		}
	}
	if a.AnsweredBeats() < 12 || b.AnsweredBeats() < 12 {
		t.Errorf("%d and %d answers in a minute", a.AnsweredBeats(), b.AnsweredBeats())
	}
}
