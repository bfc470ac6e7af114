package link_test

import (
	"testing"
	"time"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/link"
	"github.com/comity-dev/comity/coop/link/linktest"
)

// crowded is a store that hears the beats of many runs besides.
type crowded struct {
	*linktest.Store
	marks event.Marks
}

func (c *crowded) MarksSince(version uint64) (event.Marks, uint64) {
	marks, v := c.Store.MarksSince(version)
	if version == 0 {
		for s, m := range c.marks {
			marks[s] = m
		}
	}
	return marks, v
}

func crowd(t *testing.T, s *linktest.Store, n int) event.Marks {
	t.Helper()
	marks := event.Marks{}
	for i := range n {
		run := linktest.StreamOf(s.Key, s.Repo, string(rune('a'+i%26))+time.Duration(i).String())
		b, err := event.SealBeat(s.Key, event.BeatHeader{Repo: s.Repo, Stream: run, Seq: 1, Lamport: 1, Uptime: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		marks[run] = event.Mark{Beat: b, Age: time.Second}
	}
	return marks
}

// However many marks there are, no frame of them is over the bound.
func TestMarksStayInTheirBound(t *testing.T) {
	a, b := duo()
	a.Append(1, 100)
	cfgs := [2]link.Config{linktest.ConfigOf(a, true), linktest.ConfigOf(b, false)}
	cfgs[1].Limits.Streams = 5000 // that it listens to all
	w := joinOn(t, time.Hour, cfgs, [2]link.Journal{&crowded{a, crowd(t, a, 4500)}, b})
	w.settle()
	agree(t, a, b)
	if n := w.side[0].sentOf(link.TypeMarks); n != 5 || !w.side[1].core.Stats().Joined {
		t.Errorf("%d frames of marks carried 4,501 marks, want 5", n)
	}
	if n := len(b.Beats()); n != 4501 {
		t.Errorf("%d of 4,501 beats came over", n)
	}
}

// However many marks and events there are, no frame is over the bound, and all
// come over.
func TestFramesStayInTheirBound(t *testing.T) {
	a, b := duo()
	marks, events := 4200, 20_000
	if testing.Short() { // the race detector makes signatures slow
		events = 5000
	}
	for run := range 40 {
		a.AppendTo(linktest.StreamOf(a.Key, a.Repo, time.Duration(run).String()), events/40, 100)
	}
	a.Append(30, 30_000)
	w := joinOn(t, time.Hour, [2]link.Config{linktest.ConfigOf(a, true), linktest.ConfigOf(b, false)},
		[2]link.Journal{&crowded{a, crowd(t, a, marks)}, b})
	w.settle()
	agree(t, a, b)
	w.once()
	total, longest := 0, 0
	for _, f := range w.side[0].sent {
		total, longest = total+f.Size, max(longest, f.Size)
		if f.Size > link.MaxFrame {
			t.Errorf("a frame of type %d has %d bytes", f.Type, f.Size)
		}
	}
	if n := w.side[0].sentOf(link.TypeMarks); n < 4 {
		t.Errorf("%d frames of marks carried %d marks with beats", n, marks)
	}
	if st := w.side[0].core.Stats(); st.EventsOut != uint64(events)+30 || st.Duplicate > 0 || !st.Joined {
		t.Errorf("%d events out, %d in vain", st.EventsOut, st.Duplicate)
	}
	t.Logf("%d marks and %d events: %d bytes in %d frames, the longest %d", marks, events, total, len(w.side[0].sent), longest)
}

// Marks that change cost what changed, however many there are.
func TestChangedMarksCostWhatChanged(t *testing.T) {
	a, b := duo()
	for run := range 500 {
		a.AppendTo(linktest.StreamOf(a.Key, a.Repo, time.Duration(run).String()), 1, 100)
	}
	w := join(t, time.Hour, a, b)
	w.settle()
	w.pass(10 * time.Second)
	before := w.side[0].core.Stats().Out.Bytes + w.side[1].core.Stats().Out.Bytes
	a.AppendTo(linktest.StreamOf(a.Key, a.Repo, time.Duration(7).String()), 1, 100)
	w.news()
	w.pass(5 * time.Second)
	after := w.side[0].core.Stats().Out.Bytes + w.side[1].core.Stats().Out.Bytes
	if cost := after - before; cost > 3000 {
		t.Errorf("one event among 500 streams and a heartbeat took %d bytes", cost)
	}
	agree(t, a, b)
}

// A report names as many streams as a link remembers, and is no longer than a frame may
// be: a journal may have had more, in time, and a peer may know them.
func TestReportStaysInItsBound(t *testing.T) {
	a, b := duo()
	many := event.Marks{}
	var f link.EventsFrame
	for n := range 20_000 {
		many[stream(n+1)] = event.Mark{Seq: 1}
		f.Runs = append(f.Runs, link.Run{Stream: stream(n + 1), First: 2, Raw: [][]byte{[]byte("x")}})
	}
	w := joinOn(t, time.Hour, [2]link.Config{linktest.ConfigOf(a, true), linktest.ConfigOf(b, false)}, [2]link.Journal{a, &crowded{b, many}})
	for _, i := range []int{0, 1, 0} {
		w.step(i)
	}
	h := &hostile{w, w.side[1].core, a, b}
	h.out()
	if err := h.say(f.Append(nil)); err != nil {
		t.Fatal(err)
	}
	h.side[1].ingest(w)
	for b := h.victim.Next(h.now); b != nil; b = h.victim.Next(h.now) {
		if link.Type(b[0]) != link.TypeReport {
			continue
		}
		r, err := link.ParseReport(b[5:])
		if err != nil || len(b) > link.MaxFrame || len(r.Blocked) != link.MaxStreams {
			t.Errorf("a report of %d bytes on %d streams, %v", len(b), len(r.Blocked), err)
		}
		return
	}
	t.Error("no report")
}
