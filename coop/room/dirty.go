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

// A command is what a session's shell does between the hooks before and after it,
// where its text does not tell what it writes. Commands of one session that run
// at once count as one.
type command struct {
	running int
	before  map[string]stamp // what was dirty when it began, or was last looked at
	theirs  []scope.Entry    // what the tools of others in the checkout wrote meanwhile
	beside  map[string]bool  // the sessions there that ran one at the same time
}

// baseline remembers what is dirty before a command of which it cannot be told
// what it writes. Alone in a checkout nothing is looked at.
func (r *Room) baseline(ctx context.Context, a Actor) {
	var shared bool
	r.view(func(v look) { shared = len(r.neighbours(v, a)) > 0 })
	if !shared {
		return
	}
	dirty, ok := r.dirtyNow(ctx, a)
	if !ok {
		return
	}
	r.view(func(v look) {
		mine := r.begin(a.Session)
		mine.before = dirty
		r.commands(v, a, func(sid string, theirs *command) {
			mine.beside[sid], theirs.beside[a.Session] = true, true
		})
	})
}

// begin is the session's command, running once more. The caller holds the lock.
func (r *Room) begin(sid string) *command {
	h := r.hooked(sid)
	if h.command == nil {
		h.command = &command{beside: map[string]bool{}}
	}
	h.command.running++
	return h.command
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
	var c *command
	r.view(func(look) {
		if h := r.hooks[a.Session]; h != nil {
			c = h.command
		}
	})
	if c == nil { // it was alone when the command began
		return nil
	}
	now, ok := r.dirtyNow(ctx, a)
	var free []scope.Entry
	r.view(func(v look) {
		if ok {
			free = r.written(v, a, c, now, reply)
			c.before = now
		}
		c.running--
		if h := r.hooks[a.Session]; h != nil && h.command == c && c.running <= 0 {
			h.command = nil
		}
	})
	return r.autoClaim(ctx, a, free[:min(len(free), MaxHookPaths)], reply)
}

// written tells of what changed under the claims of others while a command ran,
// and returns what changed under nobody's. What another's own tool wrote
// meanwhile was not the command.
func (r *Room) written(v look, a Actor, c *command, now map[string]stamp, reply *api.HookReply) (free []scope.Entry) {
	for path, s := range now {
		e, err := scope.Path(path)
		if err != nil || c.before[path] == s || slices.ContainsFunc(c.theirs, func(t scope.Entry) bool { return t.Covers(path) }) {
			continue
		}
		if !r.trespass(v, a, c, e, reply) {
			free = append(free, e)
		}
	}
	return free
}

// wrote notes what a session's tool is about to write, for those in the checkout
// whose command runs meanwhile.
func (r *Room) wrote(v look, a Actor, entries []scope.Entry) {
	r.commands(v, a, func(_ string, c *command) {
		c.theirs = append(c.theirs, entries...)
		if n := len(c.theirs); n > MaxHookPaths {
			c.theirs = c.theirs[n-MaxHookPaths:]
		}
	})
}

// commands calls f for each command that runs in the checkout, but the actor's own.
func (r *Room) commands(v look, a Actor, f func(sid string, c *command)) {
	for sid, h := range r.hooks {
		if sid != a.Session && h.command != nil && r.infoOf(v, sid).Checkout == a.Checkout {
			f(sid, h.command)
		}
	}
}

// trespass tells both sides of a write under another's claim that was found only
// when it had happened, unless the holder's own command may have been it.
func (r *Room) trespass(v look, a Actor, by *command, e scope.Entry, reply *api.HookReply) bool {
	p := r.checkPath(v, a, a.Session, e)
	if p.Verdict != api.CheckTaken {
		return false
	}
	for _, c := range p.Others {
		if r.siblings(a.Session, c.Session) || !r.stops(c, a.Checkout) || by.beside[c.Session] {
			continue
		}
		reply.Conflicts = append(reply.Conflicts, c)
		say(reply, "%s changed during the last command; it is claimed by %s%s", e.Show(), who(c), aside(c.Intent))
		r.tellNow(v, c.Session, api.Notice{
			Kind: api.NoticeOverlapped, Claim: c.Claim,
			Text: e.Show() + ", which you have claimed, changed during a command of " + a.Session,
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
