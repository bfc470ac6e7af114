package journal

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/internal/clock"
)

// newCompactingWorld is a world whose clocks go on over restarts.
func newCompactingWorld(t *testing.T, rt *rapid.T) *world {
	w := &world{t: t, rt: rt}
	var keys []*ident.Key
	for _, name := range worldNames {
		keys = append(keys, keyOf(t, name))
	}
	for _, name := range worldNames {
		m := newMachine(t, name)
		m.clock = clock.NewFake(time.Unix(1e9, 0), time.Hour, "boot")
		m.cfg.Trust = trust(keys...)
		w.machines = append(w.machines, m)
		w.journals = append(w.journals, w.start(m))
	}
	return w
}

// goOn restarts a machine; the sessions that are open there go on, but for some.
func (w *world) goOn(i int) {
	var sids []string
	w.journals[i].View(func(v View) {
		for s := range v.State().OpenSessions() {
			if s.ID.Runtime == v.Runtime() && rapid.IntRange(0, 3).Draw(w.rt, "goes on") > 0 {
				sids = append(sids, s.ID.SID)
			}
		}
	})
	w.journals[i] = w.start(w.machines[i], sids...)
}

// live is what stands in a state, whatever is gone.
type live struct{ Claims, Sessions, Reviews, Handovers []string }

func liveOf(s *fold.State) (l live) {
	for c := range s.Claims() {
		st := s.Standing(c.Key, nil)
		l.Claims = append(l.Claims, c.Key.String()+" "+string(st.State)+" "+st.By.String())
	}
	for x := range s.OpenSessions() {
		l.Sessions = append(l.Sessions, x.ID.String()+" "+x.Info.Intent+" "+string(x.Info.Checkout))
	}
	for r := range s.OpenReviews() {
		l.Reviews = append(l.Reviews, r.Key.String())
	}
	for h := range s.OpenHandovers() {
		for _, p := range h.Publications {
			if !p.Taken && !p.Withdrawn {
				l.Handovers = append(l.Handovers, p.Key.String())
			}
		}
	}
	return l
}

func (w *world) live(j *Journal) (l live) {
	j.View(func(v View) { l = liveOf(v.State()) })
	return l
}

// compact drops what a machine can of what was not heard for a moment, used or
// not, and holds that nothing that stands changed,
// neither now nor for a state that is read from the disk anew.
func (w *world) compact(i int) {
	m, j := w.machines[i], w.journals[i]
	for _, one := range w.machines {
		one.clock.Advance(2 * time.Second)
	}
	before, digest := w.live(j), j.state.Digest(nil)
	r := m.compact(j, Policy{Force: true, Silence: time.Duration(rapid.IntRange(1, 9).Draw(w.rt, "silence")) * time.Second})
	if d := cmp.Diff(before, w.live(j)); d != "" || j.state.Digest(nil) != digest {
		w.rt.Fatalf("dropping %v changed what stands (-before +after):\n%s", r.Streams, d)
	}
	again := newJournal(m.cfg, m.log, m.clock)
	if err := again.reload(w.t.Context()); err != nil {
		w.rt.Fatal(err)
	}
	if d := cmp.Diff(show(j), show(again)); d != "" {
		w.rt.Fatalf("read from the disk it is another state (-in memory +read):\n%s", d)
	}
}

// busy lets one machine do something. Few names are used, so that they meet.
func (w *world) busy() {
	i := rapid.IntRange(0, len(w.machines)-1).Draw(w.rt, "machine")
	m, j := w.machines[i], w.journals[i]
	w.n++
	sid := fmt.Sprint("s", rapid.IntRange(0, 2).Draw(w.rt, "session"))
	switch rapid.IntRange(0, 13).Draw(w.rt, "do") {
	case 0, 1, 2:
		m.append(j, event.SessionOpened{Info: event.SessionInfo{
			Session: sid, Client: "t", Intent: fmt.Sprint(w.n),
			Checkout: rapid.SampledFrom([]ident.CheckoutID{"00000000000000c1", "00000000000000c2"}).Draw(w.rt, "checkout"),
		}})
	case 3, 4, 5:
		w.busyClaim(m, j, sid)
	case 6:
		for _, c := range w.claims(j) {
			if c.Session.Runtime == j.runtime && rapid.Bool().Draw(w.rt, "release") {
				m.release(j, c.Session.SID, c.Key)
				break
			}
		}
	case 7:
		m.append(j, event.SessionClosed{Session: sid, Reason: "done"})
	case 8:
		m.append(j, event.ReviewRequested{Session: sid, Subject: "look"})
	case 9:
		w.answer(m, j, sid)
	case 10:
		m.append(j, event.HandoverPublished{Session: sid, Handover: event.Handover{ID: event.HandoverID("text"), Body: "text"}})
	default:
		w.goOn(i)
	}
}

func (w *world) busyClaim(m *machine, j *Journal, sid string) {
	b := event.ClaimAcquired{Session: sid, Scope: m.scope(fmt.Sprint("f", rapid.IntRange(0, 1).Draw(w.rt, "path")))}
	b.Mode = rapid.SampledFrom([]event.Mode{event.ModeExclusive, event.ModeCheckout}).Draw(w.rt, "mode")
	for _, c := range w.claims(j) {
		if c.Session.Runtime != j.runtime && rapid.Bool().Draw(w.rt, "fence") {
			b.Fences = append(b.Fences, c.Key)
		}
	}
	m.append(j, b)
}

// answer takes what handovers are open and answers a review.
func (w *world) answer(m *machine, j *Journal, sid string) {
	var offers []fold.Handover
	var asked []fold.Review
	j.View(func(v View) {
		offers, asked = slices.Collect(v.State().OpenHandovers()), slices.Collect(v.State().OpenReviews())
	})
	for _, h := range offers {
		m.append(j, event.HandoverConsumed{Handover: h.ID, Publications: []event.Key{h.Publications[0].Key}, Session: sid})
	}
	if len(asked) > 0 {
		m.append(j, event.ReviewAnswered{Request: asked[0].Key, Session: sid, Verdict: event.VerdictApproved})
	}
}

// meet lets two machines tell each other all that they have.
func (w *world) meet() {
	a := rapid.IntRange(0, len(w.journals)-1).Draw(w.rt, "a")
	b := (a + 1 + rapid.IntRange(0, len(w.journals)-2).Draw(w.rt, "b")) % len(w.journals)
	exchange(w.t, w.journals[a], w.journals[b])
}

// However machines compact, and whatever they hear when: in the end the same
// things stand on all of them, as they do for one that never dropped anything, and
// over the streams that two of them hold their digests are the same.
func TestCompactionAtDifferentTimesGivesOneState(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newCompactingWorld(t, rt)
		all := newMachine(t, "zoe")
		all.cfg.Trust = w.machines[0].cfg.Trust
		witness := all.start()
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			switch rapid.IntRange(0, 5).Draw(rt, "step") {
			case 0:
				w.compact(rapid.IntRange(0, len(w.machines)-1).Draw(rt, "compact"))
			case 1:
				w.meet()
			default:
				w.busy()
			}
			for _, j := range w.journals { // it hears everything at once
				exchange(t, witness, j)
			}
		}
		for range 2 {
			for i := range w.journals {
				exchange(t, w.journals[i], w.journals[(i+1)%len(w.journals)])
			}
		}
		want := w.live(witness)
		for i, j := range w.journals {
			if d := cmp.Diff(want, w.live(j)); d != "" {
				rt.Fatalf("machine %d (-of all that was ever written +here):\n%s", i, d)
			}
			next := w.journals[(i+1)%len(w.journals)]
			var common []ident.Stream
			for s := range j.heads {
				if next.heads[s] != nil {
					common = append(common, s)
				}
			}
			if got, other := j.state.Digest(common), next.state.Digest(common); got != other {
				rt.Fatalf("machines %d and %d: digests %s and %s over %d streams that both hold", i, i+1, got, other, len(common))
			}
			w.compact(i)
		}
	})
}
