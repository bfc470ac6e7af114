package sim

import (
	"strings"
	"testing"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/event"
)

// What is acknowledged is there when the power goes, whatever the disk keeps of
// the rest.
func TestPowerLossRightAfterTheAnswer(t *testing.T) {
	tell(t, func(h *history) {
		h.open(h.a, "a0")
		for _, word := range []string{"src/", "docs/", "@db"} {
			h.claims(h.a, "a0", word)
			h.a.powerLoss()
			h.a.start()
			h.open(h.a, "a0")
		}
	})
}

// An event whose predecessor is not there waits for it.
func TestHoleInAStream(t *testing.T) {
	tell(t, func(h *history) {
		o := h.hostile
		one, two, three := o.next(0, o.opening()), o.next(0, o.opening()), o.next(0, o.claim("dir:src"))
		h.a.ingest("mallory", [][]byte{one.Raw})
		h.a.ingest("mallory", [][]byte{three.Raw})
		h.a.ingest("mallory", [][]byte{two.Raw})
		if got := h.a.j.Marks()[one.Stream].Seq; got != 3 {
			h.Errorf("the stream is held up to %d, want 3", got)
		}
	})
}

// An event that names another one before it than the one that is held is a fork,
// and is not put behind it.
func TestEventThatNamesAnotherOne(t *testing.T) {
	tell(t, func(h *history) {
		o := h.hostile
		one := o.next(0, o.opening())
		other := o.at
		other.Seq, other.Lamport, other.Prev = 2, 50, strings.Repeat("ab", 32)
		h.a.ingest("mallory", [][]byte{one.Raw})
		if r := h.a.ingest("mallory", [][]byte{o.seal(other, o.claim("dir:src")).Raw}); r.Rejected[event.Forked] != 1 {
			h.Errorf("it is not refused as forked: %+v", r)
		}
	})
}

// A stamp that was seen is kept though all that carried it was dropped.
func TestHighestStampOutlivesWhatCarriedIt(t *testing.T) {
	tell(t, func(h *history) {
		o := h.hostile
		h.open(h.a, "a0")
		h.a.ingest("mallory", [][]byte{
			o.next(0, o.opening()).Raw,
			o.next(1_000_000, event.SessionClosed{Session: "m", Reason: "done"}).Raw,
		})
		h.wait(5 * time.Minute)
		if r := h.a.compact(time.Minute); len(r.Streams) != 1 {
			h.Fatalf("dropped %d streams, want mallory's: %+v", len(r.Streams), r)
		}
		h.a.kill()
		h.a.start()
		h.claims(h.a, "a0", "src/")
	})
}

// A stream that was dropped is not taken again from a peer that still has it, also
// after a restart.
func TestDroppedStreamIsNotTakenAgain(t *testing.T) {
	tell(t, func(h *history) {
		h.meet(h.a, h.b)
		h.meet(h.a, h.c)
		h.meet(h.b, h.c)
		h.open(h.c, "c0")
		h.closes(h.c, "c0")
		h.wait(time.Second)
		h.c.kill()
		h.open(h.a, "a0")
		h.open(h.b, "b0")
		h.wait(5 * time.Minute)
		if r := h.a.compact(time.Minute); len(r.Streams) != 1 {
			h.Fatalf("dropped %d streams, want c's: %+v", len(r.Streams), r)
		}
		h.a.kill()
		h.a.start()
		h.wait(time.Minute)
	})
}

// Who lost its claim while it slept finds that out though the machine that fenced
// it has compacted everything that can go.
func TestCompactedFencerWhenTheSleeperReturns(t *testing.T) {
	tell(t, func(h *history) {
		h.meet(h.a, h.b)
		h.open(h.a, "a0")
		k := h.claims(h.a, "a0", "src/")
		h.open(h.b, "b0")
		h.wait(10 * time.Second)
		h.a.halt(suspended)
		h.wait(time.Minute)
		h.claims(h.b, "b0", "src/a.go")
		h.closes(h.b, "b0")
		h.b.kill()
		h.b.start()
		h.open(h.b, "b1")
		h.wait(10 * time.Minute)
		h.b.compact(time.Minute)
		h.a.wake()
		h.wait(10 * time.Second)
		if got := h.checks(h.a, "a0", "src/a.go"); got == api.CheckYours {
			h.Error("it is told yours of what it lost")
		}
		h.wait(10 * time.Second)
		h.agree([]*machine{h.a, h.b})
		h.claims(h.b, "b1", "src/a.go")
		h.stands(h.b, k, "released")
	})
}

// A walk over the events of a key that is not believed any more begins anew.
func TestWalkOverAnotherView(t *testing.T) {
	tell(t, func(h *history) {
		h.meet(h.a, h.b)
		h.open(h.b, "b0")
		h.claims(h.b, "b0", "src/")
		h.wait(time.Second)
		h.disconnect(h.link(h.a, h.b))
		h.a.distrust(h.b, true)
		h.open(h.a, "a0")
		h.claims(h.a, "a0", "src/a.go")
		h.a.distrust(h.b, false)
		h.meet(h.a, h.b)
		h.agree([]*machine{h.a, h.b})
	})
}

// What one link says is in frames of their bound, however much there is to say.
func TestMuchToSayOnALink(t *testing.T) {
	tellOver(t, true, func(h *history) {
		h.open(h.a, "a0")
		for n := range 40 {
			h.at(h.a, func() {
				body := strings.Repeat("word ", 6000) + strings.Repeat("x", n)
				if _, err := h.a.room.HandoverPublish(t.Context(), h.a.actor("a0"), api.HandoverPublishRequest{Body: body}); err != nil {
					h.Fatal(err)
				}
			})
		}
		h.meet(h.a, h.b)
		h.wait(time.Second)
		h.agree([]*machine{h.a, h.b})
	})
}

// A batch is reported when it is on disk.
func TestReportsComeAfterTheDisk(t *testing.T) {
	tell(t, func(h *history) {
		h.meet(h.a, h.b)
		h.open(h.a, "a0")
		h.claims(h.a, "a0", "src/")
		h.wait(time.Second)
		h.agree([]*machine{h.a, h.b})
		h.quiet([]*machine{h.a, h.b})
	})
}
