package link_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/link"
	"github.com/comity-dev/comity/coop/link/linktest"
)

// merging counts the beats that a link hands in, each of which may cost a signature.
type merging struct {
	*linktest.Store
	beats int
}

func (m *merging) MergeMarks(theirs event.Marks) int {
	m.beats += len(theirs)
	return m.Store.MergeMarks(theirs)
}

// asFrames are marks as a peer tells them, in frames as long as they may be.
func asFrames(marks event.Marks) (all [][]byte) {
	for some := range slices.Chunk(slices.Sorted(maps.Keys(marks)), 3800) {
		var f link.MarksFrame
		for _, s := range some {
			f.Marks = append(f.Marks, link.StreamMark{Stream: s, Mark: marks[s]})
		}
		all = append(all, f.Append(nil))
	}
	return all
}

// A peer that tells beats without end has as many looked at in a heartbeat as two rounds
// of all the streams that there may be, however it tells them.
func TestFloodOfBeats(t *testing.T) {
	a, b := duo()
	a.Append(5, 100)
	m := &merging{Store: b}
	w := joinOn(t, time.Hour, [2]link.Config{linktest.ConfigOf(a, true), linktest.ConfigOf(b, false)}, [2]link.Journal{a, m})
	w.settle()
	h := &hostile{w, w.side[1].core, a, b}
	most := 2 * event.DefaultLimits().Streams
	frames := asFrames(crowd(t, a, 4000))
	for beat := range 3 {
		h.now += 5 * time.Second
		h.victim.Tick(h.now)
		m.beats = 0
		for range 3 {
			for _, f := range frames {
				if err := h.say(f); err != nil {
					t.Fatal(err)
				}
			}
		}
		own, _ := a.Beat()
		for range 100 {
			if err := h.say(link.BeatFrame(own)); err != nil {
				t.Fatal(err)
			}
		}
		if m.beats != most {
			t.Errorf("heartbeat %d: %d of 12,100 beats are looked at, want %d", beat, m.beats, most)
		}
	}
	if n := h.victim.Stats().Unheard; n != uint64(3*(12_100-most)) {
		t.Errorf("%d beats are counted as passed over", n)
	}
}

// A peer that tells of as many runs that live as a journal may know, itself among them,
// has all of them heard, in each heartbeat, also when two of its rounds fall into it.
func TestLiveRunsAreHeardAtTheBound(t *testing.T) {
	h := newHostile(t) // which has told its own beat
	others := event.DefaultLimits().Streams - 1
	for beat := range 6 {
		if beat > 0 {
			own, _ := h.a.Beat()
			h.say(link.BeatFrame(own))
		}
		marks := event.Marks{}
		for i := range others {
			run := linktest.StreamOf(h.a.Key, h.a.Repo, fmt.Sprint("run ", i))
			b, err := event.SealBeat(h.a.Key, event.BeatHeader{Repo: h.a.Repo, Stream: run, Seq: 1, Lamport: 1, Uptime: time.Hour + time.Duration(beat)*5*time.Second})
			if err != nil {
				t.Fatal(err)
			}
			marks[run] = event.Mark{Beat: b}
		}
		for _, f := range asFrames(marks) {
			h.say(f)
		}
		heard := 0
		for s, up := range h.b.Beats() {
			if m, told := marks[s]; told && up == m.Beat.Uptime {
				heard++
			}
		}
		if heard != others {
			t.Fatalf("round %d: %d of %d runs are heard", beat, heard, others)
		}
		if beat%2 == 1 {
			h.now += 5 * time.Second
			h.victim.Tick(h.now)
		}
	}
	if n := h.victim.Stats().Unheard; n != 0 {
		t.Errorf("%d beats of an honest peer are passed over", n)
	}
}

// beating counts the beats that are made.
type beating struct {
	*linktest.Store
	made int
}

func (b *beating) Beat() (*event.Beat, bool) {
	b.made++
	return b.Store.Beat()
}

// A hello may be anybody's that was recorded: it makes no beat, which would count as a
// word to others, and tells the clock all the same.
func TestHelloMakesNoBeat(t *testing.T) {
	a, b := duo()
	b.Append(7, 100)
	s := &beating{Store: b}
	w := joinOn(t, time.Hour, [2]link.Config{linktest.ConfigOf(a, true), linktest.ConfigOf(b, false)}, [2]link.Journal{a, s})
	w.step(0)
	if w.step(1); s.made != 0 || w.side[1].sentOf(link.TypeWelcome) != 1 {
		t.Errorf("%d beats are made for a hello", s.made)
	}
	if w.settle(); s.made == 0 {
		t.Error("no beat is made for a peer")
	}
	if a.Clock() != 7 {
		t.Errorf("the clock is %d, want 7", a.Clock())
	}
}

// moody cannot read what it holds for a while.
type moody struct {
	*linktest.Store
	fails bool
	asked int
}

func (m *moody) Missing(theirs event.Marks, budget int, skip func(ident.Stream) bool) ([]event.Stored, error) {
	m.asked++
	if m.fails {
		return nil, nil
	}
	return m.Store.Missing(theirs, budget, skip)
}

// What could not be read is read again with the next heartbeat, though there is no news.
func TestEventsThatCannotBeReadAreTriedAgain(t *testing.T) {
	a, b := duo()
	b.Append(3, 100)
	m := &moody{Store: b, fails: true}
	w := joinOn(t, time.Hour, [2]link.Config{linktest.ConfigOf(a, true), linktest.ConfigOf(b, false)}, [2]link.Journal{a, m})
	w.settle()
	w.pass(time.Minute)
	if m.asked > 14 {
		t.Errorf("asked %d times in a minute, want once a heartbeat", m.asked)
	}
	if len(a.Held()) != 0 {
		t.Fatal("what cannot be read came over")
	}
	m.fails = false
	w.pass(5 * time.Second)
	agree(t, a, b)
	w.once()
}

// Nor does a peer have it read again by what it says.
func TestMarksOfWhatCannotBeReadReadNothing(t *testing.T) {
	a, b := duo()
	b.Append(3, 100)
	m := &moody{Store: b, fails: true}
	w := joinOn(t, time.Hour, [2]link.Config{linktest.ConfigOf(a, true), linktest.ConfigOf(b, false)}, [2]link.Journal{a, m})
	w.settle()
	h := &hostile{w, w.side[1].core, a, b}
	before := m.asked
	for range 100 {
		h.say(marks(true, map[ident.Stream]uint64{b.Stream: 1}))
		h.say(marks(true, map[ident.Stream]uint64{b.Stream: 0}))
		h.say(link.MarksFrame{First: true, Last: true}.Append(nil))
		h.out()
	}
	if n := m.asked - before; n > 0 {
		t.Errorf("300 marks within a heartbeat had the journal asked %d times", n)
	}
	h.say(marks(true, map[ident.Stream]uint64{b.Stream: 1}))
	m.fails = false
	h.now += 5 * time.Second
	h.victim.Tick(h.now)
	for _, f := range h.out() {
		if f.Type != link.TypeEvents {
			continue
		}
		if e, err := link.ParseEvents(f.Body); err != nil || len(e.Runs) != 1 || e.Runs[0].First != 2 {
			t.Errorf("a peer that holds the first is sent %+v, %v", e, err)
		}
		return
	}
	t.Error("what can be read again is not sent")
}

// Of what is no event to its receiver the journal names no stream: the sender is told it
// all the same, leaves the stream alone, and says so. Other streams go on.
func TestSenderIsToldWhatCannotBeParsed(t *testing.T) {
	for _, why := range []event.Reason{event.Oversized, event.Malformed, event.Versioned, event.Identity, event.OtherRepository} {
		a, b := duo()
		bad := linktest.StreamOf(a.Key, a.Repo, "bad")
		a.AppendTo(bad, 5, 100)
		a.Append(5, 100)
		s := &scripted{Store: b}
		s.refuse = func(batch [][]byte) *event.IngestReport {
			r := event.IngestReport{Outcomes: make([]event.Outcome, len(batch))}
			for i, raw := range batch {
				e, err := event.Parse(raw)
				if err != nil {
					t.Fatal(err)
				}
				if r.Outcomes[i] = (event.Outcome{Status: event.Rejected, Reason: why}); e.Stream != bad {
					r.Outcomes[i] = s.Store.Ingest(t.Context(), [][]byte{raw}).Outcomes[0]
				}
			}
			return &r
		}
		w := joinOn(t, time.Hour, [2]link.Config{linktest.ConfigOf(a, true), linktest.ConfigOf(b, false)}, [2]link.Journal{a, s})
		w.settle()
		for range 5 {
			a.AppendTo(bad, 1, 100)
			a.Append(1, 100)
			w.news()
			w.pass(time.Minute)
		}
		if n := w.side[0].events[event.Key{Stream: bad, Seq: 6}]; n != 0 {
			t.Errorf("%s: more of the stream is sent", why)
		}
		want := []event.Blocked{{Stream: bad, Seq: 1, Why: why}}
		if d := cmp.Diff(want, w.side[0].core.Stats().Blocked); d != "" {
			t.Errorf("%s: blocked (-want +got):\n%s", why, d)
		}
		if d := cmp.Diff(want, w.side[1].core.Stats().Refused); d != "" {
			t.Errorf("%s: refused (-want +got):\n%s", why, d)
		}
		if n := b.Held()[a.Stream]; n != 10 {
			t.Errorf("%s: of the other stream %d events came over", why, n)
		}
		w.once()
	}
}
