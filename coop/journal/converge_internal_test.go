package journal

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
)

// A world is three machines that work on one repository and tell each other
// what they wrote now and then.
type world struct {
	t        *testing.T
	rt       *rapid.T
	machines []*machine
	journals []*Journal
	n        int
}

var worldNames = []string{"ada", "bob", "eve"}

func newWorld(t *testing.T, rt *rapid.T) *world {
	w := &world{t: t, rt: rt}
	var keys []*ident.Key
	for _, name := range worldNames {
		keys = append(keys, keyOf(t, name))
	}
	for _, name := range worldNames {
		m := newMachine(t, name)
		m.cfg.Trust = trust(keys...)
		w.machines = append(w.machines, m)
		w.journals = append(w.journals, w.start(m))
	}
	return w
}

// start begins a run in a stream whose name a replay of the draw repeats.
func (w *world) start(m *machine, sids ...string) *Journal {
	j := m.start(sids...)
	j.own.stream = ident.NewStream(j.runtime.Node, j.runtime.ID, ident.InstanceID(fmt.Sprintf("%016x", m.run)))
	return j
}

// step lets one machine do something, or hear from another.
func (w *world) step() {
	if rapid.IntRange(0, 9).Draw(w.rt, "what") < 9 {
		w.local()
		return
	}
	j := w.journals[rapid.IntRange(0, len(w.machines)-1).Draw(w.rt, "machine")]
	from := w.journals[rapid.IntRange(0, len(w.journals)-1).Draw(w.rt, "from")]
	var batch [][]byte
	for _, s := range missing(w.t, from, j.Marks()) {
		batch = append(batch, s.Raw)
	}
	if r := j.Ingest(w.t.Context(), batch); r.Accepted != len(batch) {
		w.rt.Fatalf("of %d events that a peer lacked it took %d: %+v", len(batch), r.Accepted, r)
	}
}

// local lets one machine do something by itself.
func (w *world) local() {
	i := rapid.IntRange(0, len(w.machines)-1).Draw(w.rt, "machine")
	m, j := w.machines[i], w.journals[i]
	w.n++
	switch rapid.IntRange(0, 8).Draw(w.rt, "do") {
	case 0, 1:
		m.append(j, session(fmt.Sprint("s", w.n%4)))
	case 2, 3, 4:
		w.claim(m, j)
	case 5:
		for _, c := range w.claims(j) {
			if c.Session.Runtime == j.runtime {
				m.release(j, c.Session.SID, c.Key)
				break
			}
		}
	case 6:
		m.append(j, event.SessionClosed{Session: fmt.Sprint("s", w.n%4), Reason: "done"})
	case 7:
		m.append(j, event.HandoverPublished{Session: "s1", Handover: event.Handover{ID: event.HandoverID("text"), Body: "text"}})
	default:
		w.journals[i] = w.start(m, "s1", "s2")
	}
}

func (w *world) claims(j *Journal) (all []fold.Claim) {
	j.View(func(v View) { all = slices.Collect(v.State().Claims()) })
	return all
}

func (w *world) claim(m *machine, j *Journal) {
	b := event.ClaimAcquired{Session: fmt.Sprint("s", w.n%4), Scope: m.scope(fmt.Sprint("f", w.n%3)), Mode: event.ModeExclusive}
	for _, c := range w.claims(j) {
		if c.Session.Runtime != j.runtime && rapid.Bool().Draw(w.rt, "fence") {
			b.Fences = append(b.Fences, c.Key)
		}
	}
	m.append(j, b)
}

// history is all that anybody wrote, by stream.
func (w *world) history() (streams [][]*event.Event) {
	byStream := map[ident.Stream][]*event.Event{}
	for _, j := range w.journals {
		for _, s := range missing(w.t, j, event.Marks{}) {
			e, err := event.Parse(s.Raw)
			if err != nil {
				w.t.Fatal(err)
			}
			if len(byStream[e.Stream]) == int(e.Seq)-1 {
				byStream[e.Stream] = append(byStream[e.Stream], e)
			}
		}
	}
	for _, all := range byStream {
		streams = append(streams, all)
	}
	slices.SortFunc(streams, func(a, b []*event.Event) int { return a[0].Key().Compare(b[0].Key()) })
	return streams
}

// spoil gives some events a signature that is not good, and chains what follows
// to them: authors that nobody may believe before the next event.
func (w *world) spoil(streams [][]*event.Event) {
	keys := map[ident.NodeID]*ident.Key{}
	for _, m := range w.machines {
		keys[m.cfg.Key.Node()] = m.cfg.Key
	}
	for _, all := range streams {
		for i, e := range all {
			if i > 0 {
				h := event.Header{Repo: e.Repo, Stream: e.Stream, Seq: e.Seq, Lamport: e.Lamport, At: e.At, Prev: fmt.Sprintf("%x", all[i-1].Hash)}
				again, err := event.Seal(keys[e.Stream.Node()], h, e.Body)
				if err != nil {
					w.t.Fatal(err)
				}
				all[i] = again
			}
			if i < len(all)-1 && rapid.IntRange(0, 5).Draw(w.rt, "bad signature") == 0 {
				all[i] = w.machines[0].forge(all[i])
			}
		}
	}
}

// deliver hands a history to j: in any order, cut anywhere, some of it twice,
// some of it lost, with forged copies between, until nothing is missing.
func (w *world) deliver(j *Journal, streams [][]*event.Event) {
	want := event.Marks{}
	for _, all := range streams {
		want[all[0].Stream] = event.Mark{Seq: uint64(len(all))}
	}
	for round := 0; ; round++ {
		var due []*event.Event
		for _, all := range streams {
			due = append(due, all[j.Marks()[all[0].Stream].Seq:]...)
		}
		if len(due) == 0 {
			return
		}
		if round > 40 {
			w.rt.Fatalf("%d events are not taken after %d rounds: %v", len(due), round, j.Health().Blocked)
		}
		if round < 30 {
			due = w.disturb(due)
		}
		for len(due) > 0 {
			n := rapid.IntRange(1, len(due)).Draw(w.rt, "batch")
			w.hand(j, due[:n])
			due = due[n:]
		}
	}
}

func (w *world) disturb(due []*event.Event) []*event.Event {
	due = rapid.Permutation(due).Draw(w.rt, "order")
	var out []*event.Event
	for _, e := range due {
		switch rapid.IntRange(0, 6).Draw(w.rt, "fate") {
		case 0: // lost
		case 1:
			out = append(out, e, e)
		case 2:
			out = append(out, w.garble(e), e)
		case 3:
			out = append(out, e, w.garble(e))
		default:
			out = append(out, e)
		}
	}
	return out
}

// garble is a copy of e that nobody signed, and no later event names.
func (w *world) garble(e *event.Event) *event.Event {
	raw := slices.Clone(e.Raw)
	at := indexOf(raw, fmt.Sprintf("%x", e.Sig)) + 100
	raw[at] = "10"[raw[at]&1]
	garbled, err := event.Parse(raw)
	if err != nil {
		w.t.Fatal(err)
	}
	return garbled
}

func (w *world) hand(j *Journal, batch []*event.Event) {
	waiting := j.Health().Waiting
	r := j.Ingest(w.t.Context(), raws(batch...))
	if r.Total() != len(batch) || len(r.Outcomes) != len(batch) {
		w.rt.Fatalf("the report holds %d of %d events: %+v", r.Total(), len(batch), r)
	}
	if got := j.Health().Waiting; got != waiting+r.Pending-r.Released-r.Dropped {
		w.rt.Fatalf("%d waited, then %d: %+v", waiting, got, r)
	}
}

// A shown state is what a person would see of it.
type shownState struct {
	Digest, History string
	Marks           map[ident.Stream]uint64
	Claims          []string
}

func show(j *Journal) (s shownState) {
	s.Marks = map[ident.Stream]uint64{}
	for stream, m := range j.Marks() {
		s.Marks[stream] = m.Seq
	}
	j.View(func(v View) {
		s.Digest, s.History = v.State().Digest(nil), v.State().History(nil)
		for c := range v.State().Claims() {
			s.Claims = append(s.Claims, fmt.Sprintf("%s %s %v", c.Key, c.Session, v.State().Standing(c.Key, nil)))
		}
	})
	slices.Sort(s.Claims)
	return s
}

func TestAnyDeliveryGivesOneState(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t, rt)
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			w.step()
		}
		streams := w.history()
		if rapid.Bool().Draw(rt, "spoil") {
			w.spoil(streams)
		}
		var all []*event.Event
		for _, s := range streams {
			all = append(all, s...)
		}
		reader := func() (*machine, *Journal) {
			m := newMachine(t, "zoe")
			m.cfg.Trust = w.machines[0].cfg.Trust
			return m, m.start()
		}
		_, plain := reader()
		if r := plain.Ingest(t.Context(), raws(all...)); r.Accepted != len(all) {
			rt.Fatalf("of %d events in order %d were taken: %+v", len(all), r.Accepted, r)
		}
		want := show(plain)
		if d := cmp.Diff(len(streams), int(plain.Health().Verified)); d != "" && !slices.ContainsFunc(all, func(e *event.Event) bool { return !e.Verify() }) {
			rt.Fatalf("signatures checked for %d streams in order: %d", len(streams), plain.Health().Verified)
		}
		m, j := reader()
		w.deliver(j, streams)
		if d := cmp.Diff(want, show(j)); d != "" {
			rt.Fatalf("the state depends on the delivery (-in order +as delivered):\n%s", d)
		}
		if d := cmp.Diff(want, show(m.start())); d != "" {
			rt.Fatalf("the state is another one after a restart (-before +after):\n%s", d)
		}
		p, err := j.Page("", len(all)+1)
		if err != nil || len(p.Arrivals) != len(all) || p.More {
			rt.Fatalf("a walk has %d of %d events, %v", len(p.Arrivals), len(all), err)
		}
	})
}
