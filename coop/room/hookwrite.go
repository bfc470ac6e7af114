package room

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/scope"
)

// hookBefore decides whether a tool may write, and claims what it is going to
// write.
func (r *Room) hookBefore(ctx context.Context, a Actor, req api.HookRequest, reply *api.HookReply) error {
	entries, elsewhere, odd, err := r.targets(a, req)
	if err != nil {
		return err
	}
	r.view(func(v look) {
		for _, e := range elsewhere {
			r.mayWrite(v, a, e.checkout, e.entry, reply)
			say(reply, "%s is in another checkout (%s) than this session", e.entry.Show(), e.top)
		}
		for _, e := range entries {
			r.mayWrite(v, a, a.Checkout, e, reply)
		}
		for _, path := range odd {
			r.weighWrite(a, a.Checkout, fact(path, maxShownPath), r.checkName(v, a, a.Session, path), reply)
		}
		if req.Tree != "" {
			r.warnOfTree(v, a, req, reply)
		}
	})
	if reply.Deny != "" {
		reply.Tell = ""
		return nil
	}
	r.view(func(v look) { r.wrote(v, a, entries) })
	if req.Whole {
		r.baseline(ctx, a)
	}
	return r.autoClaim(ctx, a, entries, reply)
}

// An abroad is a path in another checkout of the repository.
type abroad struct {
	entry    scope.Entry
	checkout checkoutID
	top      string
}

// targets are the entries that a tool writes, in the actor's checkout and in
// others, and the paths that no entry can name. What is outside the repository
// is nobody's business.
func (r *Room) targets(a Actor, req api.HookRequest) (here []scope.Entry, elsewhere []abroad, odd []string, err error) {
	words := req.Writes
	for _, into := range req.Into {
		words = append(words, intoWords(a, into)...)
	}
	for _, w := range req.Under {
		words = append(words, strings.TrimSuffix(w, "/")+"/")
	}
	if len(words) > MaxHookPaths {
		words = words[:MaxHookPaths]
	}
	seen := map[scope.Entry]bool{}
	for _, w := range words {
		e, err := scope.Door(a.Tree, w, true)
		if err != nil {
			if err = badScope(err); !ignorable(err) {
				return nil, nil, nil, err
			}
			if path, outside := a.Tree.Rel(w); outside == nil {
				odd = append(odd, path)
			}
			continue
		}
		if seen[e] {
			continue
		}
		seen[e] = true
		if id, top, ok := a.lies(w); ok {
			elsewhere = append(elsewhere, abroad{e, id, top})
			continue
		}
		here = append(here, e)
	}
	return here, elsewhere, odd, nil
}

// lies tells that a word lies in another checkout than the actor's.
func (a Actor) lies(word string) (checkoutID, string, bool) {
	if a.Elsewhere == nil || word == "" {
		return "", "", false
	}
	return a.Elsewhere(word)
}

// intoWords are the paths that a copy or move writes.
func intoWords(a Actor, into api.HookInto) []string {
	path, err := a.Tree.Rel(into.Target)
	if err != nil {
		return []string{into.Target} // the door says what is wrong with it
	}
	if kind, err := a.Tree.Kind(path); err != nil || kind != Folder {
		return []string{into.Target}
	}
	var out []string
	for _, name := range into.Names {
		out = append(out, strings.TrimSuffix(into.Target, "/")+"/"+name)
	}
	if len(out) == 0 {
		out = []string{into.Target}
	}
	return out
}

// mayWrite denies what another holds, and tells once of claims on the same path
// in other checkouts: those will meet at the merge.
func (r *Room) mayWrite(v look, a Actor, in checkoutID, e scope.Entry, reply *api.HookReply) {
	at := a
	at.Checkout = in
	r.weighWrite(a, in, e.Show(), r.checkPath(v, at, a.Session, e), reply)
}

// weighWrite makes of a check what a hook answers for the path shown.
func (r *Room) weighWrite(a Actor, in checkoutID, shown string, p api.CheckPath, reply *api.HookReply) {
	for _, c := range p.Others {
		if r.siblings(a.Session, c.Session) {
			continue
		}
		if p.Verdict == api.CheckTaken && c.Mode != string(event.ModeAdvisory) && r.stops(c, in) {
			reply.Conflicts = append(reply.Conflicts, c)
			if reply.Deny == "" {
				reply.Deny = denial(shown, c)
			}
			continue
		}
		key, err := event.ParseKey(c.Claim)
		if err != nil || r.hooked(a.Session).told[key] {
			continue
		}
		r.hooked(a.Session).told[key] = true
		say(reply, "%s works on %s too, in another checkout%s: you will meet at the merge", who(c), shown, aside(c.Intent))
	}
}

// stops tells a claim that excludes a write in a checkout from one that only
// meets it.
func (r *Room) stops(c api.Conflict, in checkoutID) bool {
	return c.Mode == string(event.ModeExclusive) || c.Checkout == string(in)
}

func denial(shown string, c api.Conflict) string {
	s := fmt.Sprintf("%s is claimed by %s, since %s", shown, who(c), age(c.AgeMS))
	if c.Intent != "" {
		s += ": " + c.Intent
	}
	return s + fmt.Sprintf(". It covers %s. `comity claim %s --wait 10m` waits for it; other files are free.", strings.Join(showAll(c.Scope), " "), shown)
}

func who(c api.Conflict) string {
	var about []string
	for _, w := range []string{c.Client, c.By} {
		if w != "" {
			about = append(about, w)
		}
	}
	if len(about) == 0 {
		return c.Session
	}
	return c.Session + " (" + strings.Join(about, ", ") + ")"
}

func aside(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

func age(ms int64) string {
	switch s := ms / 1000; {
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600:
		return fmt.Sprintf("%d min", s/60)
	case s < 48*3600:
		return fmt.Sprintf("%d h", s/3600)
	default:
		return fmt.Sprintf("%d days", s/86400)
	}
}

func showAll(stored []string) []string {
	var out []string
	for _, s := range stored {
		if e, err := scope.Parse(s); err == nil {
			s = e.Show()
		}
		out = append(out, s)
	}
	return out
}

// warnOfTree tells of others who work in the checkout that a git command is
// about to change as a whole. Nothing is stopped: it may be just what is wanted.
func (r *Room) warnOfTree(v look, a Actor, req api.HookRequest, reply *api.HookReply) {
	where := "this whole checkout"
	if id, top, ok := a.lies(req.TreeDir); ok {
		a.Checkout, where = id, "the whole checkout "+top
	}
	for _, s := range r.neighbours(v, a) {
		say(reply, "%s changes %s, in which %s works too%s", req.Tree, where, s.ID.SID, holds(v, s.ID))
	}
}

// autoClaim claims, in mode checkout, what the session does not hold yet.
func (r *Room) autoClaim(ctx context.Context, a Actor, entries []scope.Entry, reply *api.HookReply) error {
	var free []scope.Entry
	r.view(func(v look) {
		for _, e := range entries {
			if !r.coveredByAgent(v, a, e) {
				free = append(free, e)
			}
		}
	})
	for len(free) > 0 {
		n := min(len(free), scope.MaxEntries)
		set, err := scope.NewSet(free[:n]...)
		if err != nil {
			return badScope(err)
		}
		free = free[n:]
		c := &claiming{ask: ask{session: r.id(a.Session), scope: set, mode: event.ModeCheckout}, auto: true}
		if c.checkout, err = r.standIn(ctx, a, a.Session, c.mode); err != nil {
			return err
		}
		if _, err = r.admit(ctx, c); errors.Is(err, errSoon) {
			err = nil // another hook of this session is writing it
		}
		if e := api.AsError(err); errors.Is(err, api.ErrConflict) && len(e.Conflicts) > 0 { // another was faster
			reply.Conflicts, reply.Tell = e.Conflicts, ""
			reply.Deny = denial(set[0].Show(), e.Conflicts[0])
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// coveredByAgent tells that the session, or another conversation of its agent,
// holds an entry already.
func (r *Room) coveredByAgent(v look, a Actor, e scope.Entry) bool {
	for c := range v.State().Meeting(scope.Set{e}) {
		mine := c.Session == r.id(a.Session) || r.own(c.Session) && r.siblings(a.Session, c.Session.SID)
		if mine && c.Mode != event.ModeAdvisory && (c.Mode == event.ModeExclusive || c.Checkout == a.Checkout) &&
			includes(c.Scope, scope.Set{e}) && held(v.State().Standing(c.Key, r.gone(v))) {
			return true
		}
	}
	return false
}
