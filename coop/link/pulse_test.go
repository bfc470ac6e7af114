package link_test

import (
	"errors"
	"testing"
	"time"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/link"
	"github.com/comity-dev/comity/coop/link/linktest"
)

func TestStrangersMaySayLittle(t *testing.T) {
	a, b := duo()
	w := join(t, time.Hour, a, b)
	for i, s := range w.side {
		if n := s.core.Limit(); n != link.MaxGreeting {
			t.Errorf("side %d reads %d bytes of a stranger", i, n)
		}
	}
	var wrong *link.ProtocolError
	err := w.side[1].core.Receive(w.now, link.Frame{Type: link.TypeHello, Body: make([]byte, link.MaxGreeting), Size: link.MaxGreeting + 5})
	if !errors.As(err, &wrong) || wrong.Code != link.CodeOversized {
		t.Errorf("a greeting of %d bytes: %v", link.MaxGreeting, err)
	}
	w = join(t, time.Hour, a, b)
	w.step(0)
	if n := w.side[1].core.Limit(); n != link.MaxGreeting { // its hello may be anybody's that was recorded
		t.Errorf("%d bytes are read of who said hello", n)
	}
	w.settle()
	for i, s := range w.side {
		if n := s.core.Limit(); n != link.MaxFrame {
			t.Errorf("side %d reads %d bytes of its peer", i, n)
		}
	}
}

// Whoever reads the frames for it, a core takes none that is over the limit.
func TestCoreTakesNoFrameOverItsLimit(t *testing.T) {
	a, b := duo()
	for _, tt := range []struct {
		up    bool
		limit int
	}{{false, link.MaxGreeting}, {true, link.MaxFrame}} {
		for over := range 2 {
			w := join(t, time.Hour, a, b)
			if tt.up {
				w.settle()
			}
			f := frame(t, link.GoodbyeFrame("done"))
			f.Size = tt.limit + over
			err := w.side[1].core.Receive(w.now, f)
			var wrong *link.ProtocolError
			if oversized := errors.As(err, &wrong) && wrong.Code == link.CodeOversized; oversized != (over > 0) {
				t.Errorf("a frame of %d bytes, up %t: %v", f.Size, tt.up, err)
			}
		}
	}
}

// tick lets only one side's time go by, in seconds, while nothing comes.
func (h *hostile) tick(seconds int) {
	for range seconds {
		h.now += time.Second
		h.victim.Tick(h.now)
		h.out()
	}
}

func TestSilenceEndsTheLink(t *testing.T) {
	h := newHostile(t)
	h.tick(30)
	if err := h.victim.Err(); err != nil {
		t.Fatalf("after 30 s: %v", err)
	}
	h.now += time.Second
	h.victim.Tick(h.now)
	if last := h.out(); !errors.Is(h.victim.Err(), link.ErrSilent) || len(last) != 1 || last[0].Type != link.TypeRefusal {
		t.Errorf("after 31 s: %v, and says %v", h.victim.Err(), last)
	}
}

// The time that this side was away, or waited for its own disk, says nothing of
// the peer.
func TestOwnAbsenceIsNotThePeersSilence(t *testing.T) {
	h := newHostile(t)
	h.now += time.Hour // this machine slept
	h.victim.Tick(h.now)
	if err := h.victim.Err(); err != nil {
		t.Errorf("after a sleep: %v", err)
	}
	h = newHostile(t)
	h.tick(20)
	h.say(link.NumberFrame(link.TypePing, 1000))
	if h.victim.Next(h.now) == nil { // a frame that is not out while this machine sleeps
		t.Fatal("nothing is said")
	}
	h.now += time.Hour
	h.victim.Tick(h.now)
	if err := h.victim.Err(); err != nil {
		t.Errorf("after a sleep in the middle of a frame: %v", err)
	}
	h = newHostile(t)
	h.a.Append(1, 100)
	held, err := h.a.Missing(event.Marks{h.a.Stream: {Seq: 5}}, 1<<20, func(s ident.Stream) bool { return s != h.a.Stream })
	if err != nil {
		t.Fatal(err)
	}
	h.say(link.EventsFrame{Runs: []link.Run{{Stream: h.a.Stream, First: 6, Raw: [][]byte{held[0].Raw}}}}.Append(nil))
	batch, _ := h.victim.Batch()
	h.tick(120)
	if err := h.victim.Err(); err != nil {
		t.Errorf("while the disk was slow: %v", err)
	}
	h.victim.Ingested(h.now, h.b.Ingest(t.Context(), batch))
	h.tick(10)
	if err := h.victim.Err(); err != nil {
		t.Errorf("after the disk was slow: %v", err)
	}
}

// Only the peer's own beat, made after our ping, tells the difference of clocks.
func TestOnlyAnAnswerCounts(t *testing.T) {
	h := newHostile(t)
	h.out()
	h.tick(1)
	ping := uint64(0)
	for ping == 0 {
		h.now += time.Second
		h.victim.Tick(h.now)
		for _, f := range h.out() {
			if f.Type == link.TypePing {
				ping, _ = link.ParseNumber("ping", f.Body)
			}
		}
	}
	before := h.b.AnsweredBeats()
	eve := linktest.NewStore("eve")
	eve.Append(1, 100)
	foreign, _ := eve.Beat()
	beat, _ := h.a.Beat()
	h.say(link.PongFrame(ping-1, beat)) // to an earlier ping
	h.say(link.PongFrame(ping, foreign))
	if n := h.b.AnsweredBeats() - before; n != 0 {
		t.Errorf("%d beats that are no answer counted as one", n)
	}
	h.say(link.PongFrame(ping, beat)) // a second answer
	if n := h.b.AnsweredBeats() - before; n != 0 {
		t.Errorf("%d second answers counted", n)
	}
	if err := h.victim.Err(); err != nil {
		t.Error(err)
	}
}

// The greeting tells both journals each other's clocks before any event comes.
func TestGreetingTellsTheClocks(t *testing.T) {
	for _, old := range []int{0, 1} {
		nodes := [2]*node{newNode(t, "ada", time.Hour), newNode(t, "bob", time.Hour)}
		nodes[old].write(40)
		w := linked(t, nodes[0], nodes[1])
		for _, i := range []int{0, 1, 0} {
			w.step(i)
		}
		if got, want := nodes[1-old].Health().Clock, nodes[old].Health().Clock; got != want || want == 0 {
			t.Errorf("side %d has seen the stamp %d, the greeting told %d", 1-old, got, want)
		}
		if nodes[1-old].Welcome(1 << 40) {
			t.Error("a later welcome moves the clock at will")
		}
	}
}

// One clock is raised while the other machine is away, in steps that nobody refuses:
// what was written meanwhile comes over all the same.
func TestClockRaisedWhileAwaySplitsNobody(t *testing.T) {
	ada, bob := newNode(t, "ada", time.Hour), newNode(t, "bob", time.Hour)
	lim := event.DefaultLimits()
	for range 5 {
		ada.Welcome(ada.Clock() + lim.LamportLead)
		ada.clock.Advance(lim.Heartbeat)
	}
	bob.Welcome(1) // it has heard of somebody
	ada.write(2)
	bob.write(2)
	w := linked(t, ada, bob)
	w.settle()
	if bob.held()[ada.Stream()] != 0 {
		t.Fatal("bob's clock is not behind")
	}
	for range 2 * lim.Expiry / time.Second {
		ada.clock.Advance(time.Second)
		bob.clock.Advance(time.Second)
		w.pass(time.Second)
	}
	same(t, ada, bob)
}
