package room

import (
	"context"
	"slices"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/journal"
	"github.com/comity-dev/comity/coop/scope"
)

// Work looks at the working tree of a checkout.
type Work interface {
	// Dirty lists the paths that differ from the commit that is checked out, each
	// with a stamp that changes when the file does.
	Dirty(ctx context.Context) (map[string]string, error)
}

type (
	checkoutID = ident.CheckoutID
	stamp      = string
)

// lookTime bounds one look at the working tree: an agent waits for it.
const lookTime = 300 * time.Millisecond

// dirtyNow is what is dirty in the actor's checkout; false when it cannot be
// told in time.
func (r *Room) dirtyNow(ctx context.Context, a Actor) (map[string]stamp, bool) {
	if a.Work == nil {
		return nil, false
	}
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	dirty, err := a.Work.Dirty(ctx)
	return dirty, err == nil
}

// baseline remembers what is dirty before a command of which it cannot be told
// what it writes. Alone in a checkout nothing is looked at.
func (r *Room) baseline(ctx context.Context, a Actor) {
	var shared bool
	r.view(func(v look) { shared = len(r.neighbours(v, a)) > 0 })
	if !shared {
		return
	}
	if dirty, ok := r.dirtyNow(ctx, a); ok {
		r.view(func(look) { r.dirty[a.Checkout] = dirty })
	}
}

// hookAfter finds what a command has written that could not be told before, and
// tells what changed meanwhile.
func (r *Room) hookAfter(ctx context.Context, a Actor, req api.HookRequest, reply *api.HookReply) error {
	if req.Whole {
		if err := r.afterCommand(ctx, a, reply); err != nil {
			return err
		}
	}
	r.tellNotices(a.Session, reply)
	return nil
}

func (r *Room) afterCommand(ctx context.Context, a Actor, reply *api.HookReply) error {
	var before map[string]stamp
	r.view(func(look) { before = r.dirty[a.Checkout] })
	if before == nil { // it was alone when the command began
		return nil
	}
	now, ok := r.dirtyNow(ctx, a)
	if !ok {
		return nil
	}
	r.view(func(look) { r.dirty[a.Checkout] = now })
	var free []scope.Entry
	r.view(func(v look) {
		for path, s := range now {
			if before[path] == s {
				continue
			}
			e, err := scope.Path(path)
			if err != nil {
				continue // no claim could have it
			}
			if !r.trespass(v, a, e, reply) {
				free = append(free, e)
			}
		}
	})
	return r.autoClaim(ctx, a, free[:min(len(free), MaxHookPaths)], reply)
}

// trespass tells both sides of a write under another's claim that was found only
// when it had happened.
func (r *Room) trespass(v look, a Actor, e scope.Entry, reply *api.HookReply) bool {
	p := r.checkPath(v, a, a.Session, e)
	if p.Verdict != api.CheckTaken {
		return false
	}
	for _, c := range p.Others {
		if r.siblings(a.Session, c.Session) || !r.stops(c, a.Checkout) {
			continue
		}
		reply.Conflicts = append(reply.Conflicts, c)
		say(reply, "the last command changed %s, which is claimed by %s%s", e.Show(), who(c), aside(c.Intent))
		r.tellNow(c.Session, api.Notice{
			Kind: api.NoticeOverlapped, Claim: c.Claim,
			Text: "a command of " + a.Session + " changed " + e.Show() + ", which you have claimed",
		})
	}
	return true
}

// releaseClean ends the session's own auto-claims on paths that are clean again
// in its checkout: committed, or put back.
func (r *Room) releaseClean(ctx context.Context, a Actor) error {
	var auto []event.Key
	r.view(func(v look) { auto = r.autoClaims(v, a) })
	if len(auto) == 0 {
		return nil
	}
	dirty, ok := r.dirtyNow(ctx, a)
	if !ok {
		return nil
	}
	_, err := r.decide(ctx, func(tx *journal.Tx) error {
		wrote := false
		for _, k := range auto {
			c, ok := tx.State().Claim(k)
			if !ok || !c.Live() || r.releasing(tx, k) || anyDirty(c.Scope, dirty) {
				continue
			}
			wrote = true
			tx.Reserve()
			if _, err := tx.Append(event.ClaimReleased{Claim: k, Session: a.Session, Reason: "clean"}); err != nil {
				return err
			}
			tx.PutLocal(rowAuto, k.String(), nil)
		}
		if !wrote {
			return errUnchanged
		}
		return nil
	})
	return err
}

// rowAuto is the kind of the local rows that mark claims which hooks made: those
// end when their paths are clean, others only when they are released. A row is
// taken out once its claim has ended, in whichever way.
const rowAuto = "auto"

// forgetSpent takes out the rows of auto-claims that have ended.
func (r *Room) forgetSpent(ctx context.Context) error {
	var due []string
	r.view(func(look) { due = slices.Clone(r.spent) })
	for some := range slices.Chunk(due, maxReleases) {
		_, err := r.decide(ctx, func(tx *journal.Tx) error {
			tx.Reserve()
			for _, row := range some {
				if tx.Local(rowAuto, row) != nil {
					tx.PutLocal(rowAuto, row, nil)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		r.view(func(look) { r.spent = r.spent[len(some):] })
	}
	return nil
}

func (r *Room) autoClaims(v look, a Actor) []event.Key {
	var out []event.Key
	for _, c := range v.State().ClaimsOf(r.id(a.Session)) {
		if c.Checkout == a.Checkout && v.Local(rowAuto, c.Key.String()) != nil {
			out = append(out, c.Key)
		}
	}
	return out
}

func anyDirty(s scope.Set, dirty map[string]stamp) bool {
	for path := range dirty {
		if _, ok := s.Covers(path); ok {
			return true
		}
	}
	return false
}
