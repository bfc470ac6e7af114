package fold_test

import (
	"bytes"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/scope"
	"github.com/comity-dev/comity/internal/canon"
)

// views is all that a State answers.
type views struct {
	Streams   []fold.StreamInfo
	Sessions  map[ident.SessionID]fold.Session
	Claims    map[event.Key]fold.Claim
	Standings map[event.Key]fold.Standing
	Handovers map[string]fold.Handover
	Reviews   map[event.Key]fold.Review
	// What the lists of open things yield.
	Open, Live, Offers, Asked []string
}

var equate = cmp.Options{cmpopts.EquateEmpty(), cmp.Comparer(func(a, b scope.Entry) bool { return a == b })}

func (h *history) sessions() (all []ident.SessionID) {
	for node := range h.keys {
		for _, sid := range sids {
			all = append(all, h.session(node, sid))
		}
	}
	return all
}

func (h *history) look(s *fold.State, gone func(ident.Stream) bool) views {
	v := views{
		Streams: slices.Collect(s.Streams()), Sessions: map[ident.SessionID]fold.Session{}, Claims: map[event.Key]fold.Claim{},
		Standings: map[event.Key]fold.Standing{}, Handovers: map[string]fold.Handover{}, Reviews: map[event.Key]fold.Review{},
	}
	for _, id := range h.sessions() {
		if x, ok := s.Session(id); ok {
			v.Sessions[id] = x
		}
	}
	for _, e := range h.events {
		if c, ok := s.Claim(e.Key()); ok {
			v.Claims[c.Key] = c
			v.Standings[c.Key] = s.Standing(c.Key, gone)
		}
		if r, ok := s.Review(e.Key()); ok {
			v.Reviews[r.Key] = r
		}
	}
	for x := range s.Handovers() {
		v.Handovers[x.ID] = x
	}
	for x := range s.OpenSessions() {
		v.Open = append(v.Open, x.ID.String())
	}
	for x := range s.Claims() {
		v.Live = append(v.Live, x.Key.String())
	}
	for x := range s.OpenHandovers() {
		v.Offers = append(v.Offers, x.ID)
	}
	for x := range s.OpenReviews() {
		v.Asked = append(v.Asked, x.Key.String())
	}
	v.sort()
	return v
}

func (v *views) sort() {
	for _, l := range [][]string{v.Open, v.Live, v.Offers, v.Asked} {
		slices.Sort(l)
	}
}

func (h *history) lookOracle(o *oracle, gone func(ident.Stream) bool) views {
	if gone == nil {
		gone = func(ident.Stream) bool { return false }
	}
	v := views{
		Streams: o.streamInfos(), Sessions: map[ident.SessionID]fold.Session{}, Claims: map[event.Key]fold.Claim{},
		Standings: o.standings(gone), Handovers: map[string]fold.Handover{}, Reviews: map[event.Key]fold.Review{},
	}
	for _, id := range h.sessions() {
		if x, ok := o.session(id); ok {
			v.Sessions[id] = x
			if x.State == fold.SessionOpen {
				v.Open = append(v.Open, id.String())
			}
		}
	}
	for _, c := range o.claims() {
		v.Claims[c.Key] = c
		if c.Live() {
			v.Live = append(v.Live, c.Key.String())
		}
	}
	for _, r := range o.reviews() {
		v.Reviews[r.Key] = r
		if r.Open {
			v.Asked = append(v.Asked, r.Key.String())
		}
	}
	for _, x := range o.handovers() {
		v.Handovers[x.ID] = x
		if x.Open {
			v.Offers = append(v.Offers, x.ID)
		}
	}
	v.sort()
	return v
}

// after is the oracle of what some steps brought.
func after(steps []step) *oracle {
	var events []*event.Event
	head := map[ident.Stream]uint64{}
	for _, x := range steps {
		head[x.e.Stream] = max(head[x.e.Stream], x.e.Seq)
		if !x.lost {
			events = append(events, x.e)
		}
	}
	return newOracle(events, head)
}

// The fold says at every moment what a walk through all that it holds says.
func TestFoldAgreesWithWalkThroughEverything(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := drawHistory(rt, t, 40, true)
		steps := h.interleave(rt, "order")
		look := map[int]bool{len(steps): true}
		for range 3 {
			look[rapid.IntRange(0, len(steps)).Draw(rt, "look")] = true
		}
		out := rapid.SliceOfDistinct(rapid.SampledFrom(h.streams), rapid.ID[ident.Stream]).Draw(rt, "gone")
		gone := func(st ident.Stream) bool { return slices.Contains(out, st) }
		s := fold.New()
		for i := range len(steps) + 1 {
			if look[i] {
				o := after(steps[:i])
				if d := cmp.Diff(h.lookOracle(o, nil), h.look(s, nil), equate); d != "" {
					rt.Fatalf("after %d of %d events (-want +got):\n%s", i, len(steps), d)
				}
				if d := cmp.Diff(o.standings(gone), h.look(s, gone).Standings, equate); d != "" {
					rt.Fatalf("after %d events, with runs gone, standings (-want +got):\n%s", i, d)
				}
			}
			if i < len(steps) {
				steps[i].apply(s)
			}
		}
	})
}

// Equal events give equal views and digests, in whichever order streams
// interleave, and when what was lost to damage comes late.
func TestAnyInterleavingGivesTheSameState(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := drawHistory(rt, t, 40, true)
		a, b := run(h.interleave(rt, "a")), run(h.interleave(rt, "b"))
		h.mustEqual(rt, a, b)

		var late []*event.Event
		for _, e := range h.events {
			if h.lost[e.Key()] {
				late = append(late, e)
			}
		}
		if len(late) == 0 {
			return
		}
		for _, e := range rapid.Permutation(late).Draw(rt, "late") {
			a.Apply(e)
		}
		h.lost = nil
		h.mustEqual(rt, a, run(h.interleave(rt, "whole")))
	})
}

func (h *history) mustEqual(rt *rapid.T, a, b *fold.State) {
	rt.Helper()
	if d := cmp.Diff(h.look(a, nil), h.look(b, nil), equate); d != "" {
		rt.Fatalf("views differ:\n%s", d)
	}
	if a.Digest(nil) != b.Digest(nil) || a.History(nil) != b.History(nil) {
		rt.Fatalf("digests differ with equal views, history %s and %s:\n%s", a.History(nil), b.History(nil), cmp.Diff(string(a.Form()), string(b.Form())))
	}
}

func count[V any](seq func(func(V) bool)) (n int) {
	for range seq {
		n++
	}
	return n
}

// What was fenced once is never held again, whatever comes: the release of the
// fence, the end of its session, the loss of what else its run wrote.
func TestFencedClaimIsNeverHeldAgain(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := drawRuns(rt, t)
		h, first := g.h, g.fence()
		fence := len(h.events)
		g.events(40)
		g.losses(h.events[fence:])
		if !h.faithful {
			return // a checkpoint that leaves a fence out takes it back, for everybody
		}
		for _, e := range h.events[:fence] {
			delete(h.lost, e.Key())
		}
		out := rapid.SliceOfDistinct(rapid.SampledFrom(h.streams), rapid.ID[ident.Stream]).Draw(rt, "gone")
		gone := func(st ident.Stream) bool { return slices.Contains(out, st) }
		s := fold.New()
		for _, e := range h.events[:fence] {
			s.Apply(e)
		}
		was := map[event.Key]bool{}
		look := func() {
			for _, e := range h.events {
				c, ok := s.Claim(e.Key())
				if ok && len(c.FencedBy) > 0 {
					was[c.Key] = true
				}
				if ok && was[c.Key] && (s.Standing(c.Key, nil).State == fold.StandingHeld || s.Standing(c.Key, gone).State == fold.StandingHeld) {
					rt.Fatalf("%v was fenced and is held", c.Key)
				}
			}
		}
		look()
		if !was[first] {
			rt.Fatalf("%v is not fenced", first)
		}
		for _, x := range h.interleave(rt, "order") {
			x.apply(s) // what it has of the fence already, it ignores
			look()
		}
	})
}

// The digest of some streams is that of a state that never saw another.
func TestDigestOfPartIsThatOfAStateThatSawNothingElse(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := drawHistory(rt, t, 40, true)
		steps := h.interleave(rt, "order")
		s := run(steps)
		part := rapid.SliceOfDistinct(rapid.SampledFrom(h.streams), rapid.ID[ident.Stream]).Draw(rt, "part")
		alone := run(slices.DeleteFunc(slices.Clone(steps), func(x step) bool { return !slices.Contains(part, x.e.Stream) }))
		if part == nil {
			part = []ident.Stream{}
		}
		if got, want := s.Digest(nil), whole(steps).Digest(nil); got != want {
			rt.Errorf("Digest(nil) = %s, want that of the streams that are whole, %s", got, want)
		}
		if got, want := s.Digest(part), alone.Digest(nil); got != want {
			rt.Errorf("Digest(%d of %d streams) = %s, want %s", len(part), len(h.streams), got, want)
		}
		if got, want := s.History(part), alone.History(nil); got != want {
			rt.Errorf("History = %s, want %s", got, want)
		}
	})
}

// whole is the state of the streams that are left when those that are damaged or
// incomplete never were, and those that this leaves so.
func whole(steps []step) *fold.State {
	for {
		s := run(steps)
		var bad []ident.Stream
		for i := range s.Streams() {
			if i.Damaged || i.Incomplete {
				bad = append(bad, i.Stream)
			}
		}
		if bad == nil {
			return s
		}
		steps = slices.DeleteFunc(slices.Clone(steps), func(x step) bool { return slices.Contains(bad, x.e.Stream) })
	}
}

// Equal digests mean equal state: what stands is in it.
func TestDigestTellsWhatStandsApart(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := drawHistory(rt, t, 12, false)
		s := fold.New()
		for _, x := range h.interleave(rt, "order") {
			before, stood := s.Digest(nil), h.standing(s)
			x.apply(s)
			now := h.standing(s)
			if stood == nil || now == nil {
				continue // some stream is left out of the digest
			}
			if d := cmp.Diff(stood, now, equate); (s.Digest(nil) == before) != (d == "") {
				rt.Fatalf("digest equal: %v, what stands differs by:\n%s", s.Digest(nil) == before, d)
			}
		}
	})
}

// What a digest is made from is canonical JSON under a line that names the version.
func TestInputOfDigestIsCanonical(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := drawHistory(rt, t, 40, false)
		line, form, ok := bytes.Cut(run(h.interleave(rt, "order")).Form(), []byte("\n"))
		if !ok || string(line) != "comity-fold/1" {
			rt.Errorf("the input begins with %q, want the fold version", line)
		}
		if err := canon.Check(form); err != nil {
			rt.Errorf("not canonical: %v\n%s", err, form)
		}
	})
}

// standing is what a digest is about.
func (h *history) standing(s *fold.State) (all []any) {
	for _, v := range slices.Collect(s.Streams()) {
		if v.Damaged || v.Incomplete {
			return nil
		}
	}
	all = []any{}
	for x := range s.OpenSessions() {
		x.Claims, x.OpenedAt, x.Reason = 0, 0, ""
		all = append(all, x)
	}
	for x := range s.Claims() {
		st := s.Standing(x.Key, nil)
		all = append(all, x.Key, x.Stream, x.Checkout, st.State, st.By)
	}
	for x := range s.OpenHandovers() {
		for _, p := range x.Publications {
			all = append(all, x.ID, p.Key, p.Taken, p.Withdrawn)
		}
		for _, d := range x.Declines {
			all = append(all, d.Key)
		}
	}
	for x := range s.OpenReviews() {
		all = append(all, x.Key)
		for _, a := range x.Answers {
			all = append(all, a.Key)
		}
	}
	return all
}

// Changes names everything that an event made differ.
func TestChangesNameAllThatDiffers(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := drawHistory(rt, t, 30, true)
		s := fold.New()
		before := h.look(s, nil)
		for _, x := range h.interleave(rt, "order") {
			c := x.apply(s)
			now := h.look(s, nil)
			unnamed(rt, "session", before.Sessions, now.Sessions, c.Sessions)
			unnamed(rt, "claim", withoutReason(before.Claims), withoutReason(now.Claims), c.Claims)
			unnamed(rt, "standing", before.Standings, now.Standings, c.Claims)
			unnamed(rt, "handover", withoutFrom(before.Handovers), withoutFrom(now.Handovers), c.Handovers)
			unnamed(rt, "review", withoutEnd(before.Reviews), withoutEnd(now.Reviews), c.Reviews)
			if !slices.IsSortedFunc(c.Claims, event.Key.Compare) || !slices.IsSorted(c.Handovers) {
				rt.Fatalf("changes are not sorted: %v", c)
			}
			before = now
		}
	})
}

// withoutFrom leaves out who published, which follows the session.
func withoutFrom(all map[string]fold.Handover) map[string]fold.Handover {
	all = maps.Clone(all)
	for id, h := range all {
		h.Publications = slices.Clone(h.Publications)
		for i := range h.Publications {
			h.Publications[i].From = ""
		}
		all[id] = h
	}
	return all
}

// withoutReason and withoutEnd leave out why a claim or review ended: a second
// end of what has ended already is no news.
func withoutReason(all map[event.Key]fold.Claim) map[event.Key]fold.Claim {
	all = maps.Clone(all)
	for k, c := range all {
		c.EndReason = ""
		all[k] = c
	}
	return all
}

func withoutEnd(all map[event.Key]fold.Review) map[event.Key]fold.Review {
	all = maps.Clone(all)
	for k, r := range all {
		r.EndReason = ""
		all[k] = r
	}
	return all
}

func unnamed[K comparable, V any](rt *rapid.T, what string, before, now map[K]V, named []K) {
	rt.Helper()
	for _, m := range []map[K]V{before, now} {
		for k := range m {
			x, inX := before[k]
			y, inY := now[k]
			if (inX != inY || !cmp.Equal(x, y, equate)) && !slices.Contains(named, k) {
				rt.Fatalf("%s %v differs and is not named:\n%s", what, k, cmp.Diff(x, y, equate))
			}
		}
	}
}

// What is undone in the middle was never there for what comes afterwards.
func TestWhatFollowsAnUndoFindsWhatWasThereBefore(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := drawHistory(rt, t, 30, true)
		steps := h.interleave(rt, "order")
		cut := rapid.IntRange(0, len(steps)).Draw(rt, "cut")
		s := run(steps[:cut])
		st := rapid.SampledFrom(h.streams).Draw(rt, "undone")
		s.Undo(st, 1)
		others := func(steps []step) []step {
			return slices.DeleteFunc(slices.Clone(steps), func(x step) bool { return x.e.Stream == st })
		}
		for _, x := range others(steps[cut:]) {
			x.apply(s)
		}
		h.mustEqual(rt, s, run(others(steps)))
	})
}

// What is undone was never there.
func TestUndoLeavesWhatWasThereBefore(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := drawHistory(rt, t, 30, true)
		steps := h.interleave(rt, "order")
		s := run(steps)
		for range 2 {
			st := rapid.SampledFrom(h.streams).Draw(rt, "undone")
			from := rapid.Uint64Range(1, max(1, s.Head(st))).Draw(rt, "from")
			if rapid.IntRange(0, 2).Draw(rt, "whole") == 0 {
				from = 1
			}
			s.Undo(st, from)
			left := slices.DeleteFunc(slices.Clone(steps), func(x step) bool { return x.e.Stream == st && x.e.Seq >= from })
			h.mustEqual(rt, s, run(left))
			for _, x := range steps { // and can come again
				if x.e.Stream == st && x.e.Seq >= from {
					x.apply(s)
				}
			}
			h.mustEqual(rt, s, run(steps))
		}
	})
}
