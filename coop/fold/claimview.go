package fold

import (
	"iter"
	"slices"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/scope"
)

// Claim is the view of a claim. It is live while it is neither Released nor Ended.
type Claim struct {
	Key       event.Key
	Session   ident.SessionID
	Stream    ident.Stream     // the run its session lives in now; its own once it has ended
	Checkout  ident.CheckoutID // of its session when it was acquired, "" while that is not known
	Scope     scope.Set
	Mode      event.Mode
	Intent    string
	Issue     string
	Reason    string
	Epoch     uint64 // the stamp of its event
	At        int64  // Unix seconds, its author's clock
	Fences    []event.Key
	Breaks    []event.Key
	FencedBy  []event.Key // claims whose fence of this one counts, in order
	Released  bool        // by an event of its session that names it
	Ended     bool        // with its session, and not released
	EndReason string      // of the release, else of the session's end
}

// Live reports whether the claim is unreleased and its session goes on.
func (c *Claim) Live() bool { return !c.Released && !c.Ended }

// Claim returns a claim whose event is held and not removed by a checkpoint,
// also a released or ended one.
func (s *State) Claim(k event.Key) (Claim, bool) {
	c := s.claim(k)
	if c == nil {
		return Claim{}, false
	}
	return s.viewClaim(c), true
}

func (s *State) claim(k event.Key) *claim {
	if st := s.streams[k.Stream]; st != nil {
		if c, ok := st.target(k.Seq).(*claim); ok && c.held {
			return c
		}
	}
	return nil
}

func (s *State) viewClaim(c *claim) Claim {
	w := c.said()
	v := Claim{
		Key: c.key(), Session: c.session(), Stream: c.ln.st.id, Scope: c.scope.set, Mode: modes[c.mode],
		Intent: w.intent, Issue: w.issue, Reason: w.reason, Epoch: c.lamport, At: c.at,
		Fences: keysOf(c.fencesOf()), Breaks: keysOf(c.breaksOf()),
	}
	if c.opening != nil {
		v.Checkout = c.opening.info.checkout()
	}
	for _, by := range s.fencers(c) {
		v.FencedBy = append(v.FencedBy, by.key())
	}
	if c.live {
		v.Stream = c.ln.st.now().id
		return v
	}
	if r := c.released(); r != nil {
		v.Released, v.EndReason = true, said(r.why.reason)
		return v
	}
	v.Ended, v.EndReason = true, c.ended()
	return v
}

// Claims yields the live claims, by key.
func (s *State) Claims() iter.Seq[Claim] {
	var all []*claim
	for c := range s.index.All() {
		all = append(all, c)
	}
	return s.claimViews(all)
}

// ClaimsOf returns the live claims of a session, by key.
func (s *State) ClaimsOf(id ident.SessionID) []Claim {
	rt := s.runtimes[id.Runtime]
	if rt == nil || rt.sessions[id.SID] == nil {
		return nil
	}
	var all []*claim
	for _, t := range rt.sessions[id.SID].things() {
		if c, ok := t.(*claim); ok {
			all = append(all, c)
		}
	}
	return slices.Collect(s.claimViews(all))
}

func (s *State) claimViews(all []*claim) iter.Seq[Claim] {
	slices.SortFunc(all, func(a, b *claim) int { return a.key().Compare(b.key()) })
	return sorted(all, s.viewClaim)
}

// Meeting yields the live claims of any mode that set meets, by key.
func (s *State) Meeting(set scope.Set) iter.Seq[Claim] {
	return s.claimViews(slices.Collect(s.index.Meeting(set.Plan())))
}
