package room

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/journal"
	"github.com/comity-dev/comity/internal/redact"
)

// SessionOpen opens a session, or updates the open one of that name: what the
// request leaves empty stays as it was, its owner too. p is the process that the
// session lives with; without one it lives for a time.
//
// A name whose session lives with a process that still runs cannot be taken by
// another process or be given a time to live: not_own. What the name had before
// its process ended is closed first, with its claims.
func (r *Room) SessionOpen(ctx context.Context, a Actor, req api.SessionOpenRequest, p *Process) (api.SessionOpenReply, error) {
	if p != nil {
		return r.openSession(ctx, a, req, &owner{Kind: ownerProcess, Process: *p}, true)
	}
	ttl, err := readTTL(req.TTLMS)
	if err != nil {
		return api.SessionOpenReply{}, err
	}
	return r.openSession(ctx, a, req, &owner{Kind: ownerTTL, TTL: ttl}, req.TTLMS != 0)
}

func readTTL(ms int64) (time.Duration, error) {
	switch {
	case ms == 0:
		return DefaultTTL, nil
	case ms < 0 || ms > MaxTTL.Milliseconds():
		return 0, api.Errorf(api.CodeBound, "a time to live of %d s: want 1 ms to %s", ms/1000, MaxTTL)
	}
	return time.Duration(ms) * time.Millisecond, nil
}

// openSession opens for o. named tells that the caller asked for just this owner.
func (r *Room) openSession(ctx context.Context, a Actor, req api.SessionOpenRequest, o *owner, named bool) (api.SessionOpenReply, error) {
	var reply api.SessionOpenReply
	info, err := r.describe(ctx, a, req)
	if err != nil {
		return reply, err
	}
	o.Worktree = a.Top
	sid := info.Session
	undo := func() {}
	done, err := r.decide(ctx, func(tx *journal.Tx) (err error) {
		undo() // closing what is over may make this run twice
		if o.Kind == ownerTerminal {
			if have := r.terminalSession(tx, o.Process); have != "" { // another command was faster
				sid = have
				return errUnchanged
			}
		}
		undo, reply.Created, err = r.writeOpen(tx, info, o, named)
		return err
	})
	if err != nil {
		r.view(func(look) { undo() })
		return api.SessionOpenReply{}, err
	}
	reply.Written = written(done)
	r.view(func(v look) { reply.Session, _ = r.sessionView(v, r.id(sid)) })
	reply.Session.Session = sid // also while the opening of who was faster is not synced yet
	return reply, nil
}

func (r *Room) writeOpen(tx *journal.Tx, info event.SessionInfo, o *owner, named bool) (undo func(), created bool, err error) {
	sid := info.Session
	undo = func() {}
	open := r.openByEvents(tx, sid)
	if over := r.overOrDead(sid); open && over != "" { // what it had ends before the name begins anew
		if err := r.writeClose(tx, departure{sid, over}); err != nil {
			return undo, false, err
		}
		open = false
	}
	changed := true
	if open {
		if o, err = r.succeed(sid, r.owners[sid], o, named); err != nil {
			return undo, false, err
		}
		now := r.infoOf(tx, sid)
		info = update(now, info)
		changed = info != now
	}
	if changed {
		info.Client = cmp.Or(info.Client, "cli")
		if _, err := tx.Append(event.SessionOpened{Info: info}); err != nil {
			return undo, false, err
		}
	}
	tx.PutLocal(rowOwner, sid, o.row())
	return r.adopt(sid, o), !open, nil
}

// update is what an open session says of itself from now on: the words that it
// is given, and where it stands.
func update(old, now event.SessionInfo) event.SessionInfo {
	now.Client, now.Intent, now.Issue = cmp.Or(now.Client, old.Client), cmp.Or(now.Intent, old.Intent), cmp.Or(now.Issue, old.Issue)
	now.Task, now.Worker, now.Context = cmp.Or(now.Task, old.Task), cmp.Or(now.Worker, old.Worker), cmp.Or(now.Context, old.Context)
	return now
}

// describe gathers what a session says about itself.
func (r *Room) describe(ctx context.Context, a Actor, req api.SessionOpenRequest) (event.SessionInfo, error) {
	sid := cmp.Or(req.Name, a.Session)
	if sid == "" {
		sid = ident.NewSID()
	}
	sid, err := r.ownSID(sid)
	if err != nil {
		return event.SessionInfo{}, err
	}
	branch, head, err := a.Git.Head(ctx)
	if err != nil {
		return event.SessionInfo{}, err
	}
	return event.SessionInfo{
		Session:  sid,
		Client:   clean(req.Client),
		By:       fact(a.By, 128),
		Host:     fact(a.Host, 64),
		Checkout: a.Checkout,
		Branch:   fact(branch, 256),
		Head:     head,
		Intent:   clean(req.Intent),
		Issue:    clean(req.Issue),
		Task:     clean(req.Task),
		Worker:   clean(req.Worker),
		Context:  clean(req.Context),
	}, nil
}

// clean takes secrets out of a text that is going to be signed.
func clean(s string) string {
	s, _ = redact.Text(s)
	return s
}

// fact makes a line of what nobody typed (a name from git's settings, a host, a
// branch), so that none of it ever stops a session: it is cut at a rune, and
// what cannot be stored becomes a space.
func fact(s string, maxBytes int) string {
	s = clean(strings.ToValidUTF8(s, " "))
	s = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return ' '
		}
		return c
	}, s)
	if len(s) > maxBytes {
		for maxBytes > 0 && !utf8.RuneStart(s[maxBytes]) {
			maxBytes--
		}
		s = s[:maxBytes]
	}
	return s
}

// SessionRenew renews a session's time to live and may change its words.
func (r *Room) SessionRenew(ctx context.Context, a Actor, req api.SessionRenewRequest) (api.SessionOpenReply, error) {
	var reply api.SessionOpenReply
	sid, err := r.named(a, req.Name)
	if err != nil {
		return reply, err
	}
	ttl, err := readTTL(req.TTLMS)
	if err != nil {
		return reply, err
	}
	undo := func() {}
	done, err := r.decide(ctx, func(tx *journal.Tx) (err error) {
		if err := r.mustBeOpen(tx, sid); err != nil {
			return err
		}
		r.touch(sid)
		if req.TTLMS != 0 {
			if undo, err = r.writeTTL(tx, sid, ttl); err != nil {
				return err
			}
		}
		now := r.infoOf(tx, sid)
		info := now
		info.Intent = cmp.Or(clean(req.Intent), info.Intent)
		info.Issue = cmp.Or(clean(req.Issue), info.Issue)
		info.Checkout = cmp.Or(info.Checkout, a.Checkout)
		if info == now {
			return nil
		}
		_, err = tx.Append(event.SessionOpened{Info: info})
		return err
	})
	if err != nil {
		r.view(func(look) { undo() })
		return reply, err
	}
	reply.Written = written(done)
	r.view(func(v look) { reply.Session, _ = r.sessionView(v, r.id(sid)) })
	return reply, nil
}

func (r *Room) writeTTL(tx *journal.Tx, sid string, ttl time.Duration) (undo func(), err error) {
	o := r.owners[sid]
	if o == nil || o.Kind != ownerTTL {
		return func() {}, api.Errorf(api.CodeUsage, "session %s lives with a process and has no time to live", sid)
	}
	changed := *o
	changed.TTL = ttl
	tx.PutLocal(rowOwner, sid, changed.row())
	return r.adopt(sid, &changed), nil
}

// named is the session that a request names, else the acting one.
func (r *Room) named(a Actor, name string) (sid string, err error) {
	if name != "" {
		return r.ownSID(name)
	}
	r.view(func(v look) { sid, err = r.acting(v, a) })
	if err == nil && sid == "" {
		err = a.noSession()
	}
	return sid, err
}

// SessionClose closes a session of this machine and user and ends its claims.
func (r *Room) SessionClose(ctx context.Context, a Actor, req api.SessionCloseRequest) (api.SessionCloseReply, error) {
	var reply api.SessionCloseReply
	sid, err := r.named(a, cmp.Or(req.Name, a.Session)) // also one that is closed: closing twice is no error
	if err != nil {
		return reply, err
	}
	reason, err := reasonWord(req.Reason)
	if err != nil {
		return reply, err
	}
	done, err := r.decide(ctx, func(tx *journal.Tx) error {
		reply = api.SessionCloseReply{} // a full disk may make this run twice
		if !r.isOpen(tx, sid) {
			if _, ok := tx.State().Session(r.id(sid)); !ok {
				return r.mustBeOpen(tx, sid)
			}
			reply.Already = true
			return errUnchanged
		}
		for _, c := range tx.State().ClaimsOf(r.id(sid)) {
			reply.Released = append(reply.Released, r.claimView(tx, c, sid))
			reply.Released[len(reply.Released)-1].Standing = api.StandingReleased
		}
		return r.writeClose(tx, departure{sid, reason})
	})
	if err != nil {
		return api.SessionCloseReply{}, err
	}
	reply.Written = written(done)
	r.view(func(v look) { reply.Session, _ = r.sessionView(v, r.id(sid)) })
	return reply, nil
}

// reasonWord makes a reason of the caller an identifier, as it is stored.
func reasonWord(reason string) (string, error) {
	if reason == "" {
		return "done", nil
	}
	if err := ident.ValidSID(reason); err != nil {
		return "", api.Errorf(api.CodeUsage, "reason %q: use one word of letters, digits and . _ : # -, at most %d bytes", reason, ident.MaxSIDBytes)
	}
	return reason, nil
}

// SessionList lists the open sessions, or all that are remembered, oldest first.
func (r *Room) SessionList(_ context.Context, a Actor, req api.SessionListRequest) (api.SessionListReply, error) {
	reply := api.SessionListReply{Sessions: []api.Session{}}
	r.view(func(v look) {
		r.heard(v, a)
		reply.Sessions = r.sessionViews(v, req.All)
	})
	return reply, nil
}

func (r *Room) sessionViews(v look, all bool) []api.Session {
	sessions := v.State().OpenSessions()
	if all {
		sessions = v.State().Sessions()
	}
	out := []api.Session{}
	for s := range sessions {
		out = append(out, r.viewOf(v, s))
	}
	slices.SortStableFunc(out, func(a, b api.Session) int { return cmp.Compare(b.AgeMS, a.AgeMS) })
	return out
}
