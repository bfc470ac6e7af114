package room

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/journal"
	"github.com/comity-dev/comity/internal/redact"
)

// SessionOpen opens a session, or updates the open one of that name. p is the
// process that the session lives with; nil means that it lives for a time.
func (r *Room) SessionOpen(ctx context.Context, a Actor, req api.SessionOpenRequest, p *Process) (api.SessionOpenReply, error) {
	o, err := ownerFor(p, req.TTLMS)
	if err != nil {
		return api.SessionOpenReply{}, err
	}
	return r.openSession(ctx, a, req, o)
}

func ownerFor(p *Process, ttlMS int64) (*owner, error) {
	if p != nil {
		return &owner{Kind: ownerProcess, Process: *p}, nil
	}
	ttl, err := readTTL(ttlMS)
	return &owner{Kind: ownerTTL, TTL: ttl}, err
}

func readTTL(ms int64) (time.Duration, error) {
	switch {
	case ms == 0:
		return DefaultTTL, nil
	case ms < 0 || ms > MaxTTL.Milliseconds():
		return 0, api.Errorf(api.CodeBound, "time to live %d ms: want 1 ms to %s", ms, MaxTTL)
	}
	return time.Duration(ms) * time.Millisecond, nil
}

func (r *Room) openSession(ctx context.Context, a Actor, req api.SessionOpenRequest, o *owner) (api.SessionOpenReply, error) {
	var reply api.SessionOpenReply
	info, err := r.describe(ctx, a, req)
	if err != nil {
		return reply, err
	}
	o.Worktree = a.Top
	done, err := r.decide(ctx, func(tx *journal.Tx) error {
		if o.Kind == ownerTerminal {
			sid, err := r.acting(tx, a)
			if err != nil {
				return err
			}
			if sid != "" { // another command of this terminal was faster
				info.Session = sid
				return errUnchanged
			}
		}
		old, known := tx.State().Session(r.id(info.Session))
		open := r.isOpen(tx, info.Session)
		reply.Created = !open
		tx.PutLocal(rowOwner, info.Session, o.row())
		if open && known && old.Info == info {
			r.adopt(info.Session, o)
			return nil // only its owner changes
		}
		if _, err := tx.Append(event.SessionOpened{Info: info}); err != nil {
			return err
		}
		r.adopt(info.Session, o)
		return nil
	})
	if err != nil {
		if reply.Created {
			r.view(func(v look) {
				if !r.isOpen(v, info.Session) {
					r.forget(info.Session)
				}
			})
		}
		return api.SessionOpenReply{}, err
	}
	reply.Written = written(done)
	r.view(func(v look) { reply.Session, _ = r.sessionView(v, r.id(info.Session)) })
	return reply, nil
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
		Client:   cmp.Or(clean(req.Client), "cli"),
		By:       cut(clean(a.By), 128),
		Host:     cut(clean(a.Host), 64),
		Checkout: a.Checkout,
		Branch:   cut(branch, 256),
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

// cut shortens facts that nobody typed, so that a long name never stops a
// session. It cuts at a rune.
func cut(s string, maxBytes int) string {
	if len(s) <= maxBytes {
		return s
	}
	for maxBytes > 0 && s[maxBytes]&0xC0 == 0x80 {
		maxBytes--
	}
	return s[:maxBytes]
}

// SessionRenew renews a session's time to live and may change its intent.
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
	done, err := r.decide(ctx, func(tx *journal.Tx) error {
		if err := r.mustBeOpen(tx, sid); err != nil {
			return err
		}
		r.touch(sid)
		if o := r.owners[sid]; o != nil && o.Kind == ownerTTL && req.TTLMS != 0 && o.TTL != ttl {
			o.TTL = ttl
			tx.PutLocal(rowOwner, sid, o.row())
			r.poke()
		}
		s, _ := tx.State().Session(r.id(sid))
		info := s.Info
		info.Intent = cmp.Or(clean(req.Intent), info.Intent)
		info.Issue = cmp.Or(clean(req.Issue), info.Issue)
		if info == s.Info {
			return nil
		}
		_, err := tx.Append(event.SessionOpened{Info: info})
		return err
	})
	if err != nil {
		return reply, err
	}
	reply.Written = written(done)
	r.view(func(v look) { reply.Session, _ = r.sessionView(v, r.id(sid)) })
	return reply, nil
}

// named is the session that a request names, else the acting one.
func (r *Room) named(a Actor, name string) (sid string, err error) {
	if name != "" {
		return r.ownSID(name)
	}
	r.view(func(v look) { sid, err = r.acting(v, a) })
	if err == nil && sid == "" {
		err = noSession()
	}
	return sid, err
}

// SessionClose closes a session of this machine and user and ends its claims.
func (r *Room) SessionClose(ctx context.Context, a Actor, req api.SessionCloseRequest) (api.SessionCloseReply, error) {
	var reply api.SessionCloseReply
	sid, err := r.namedOrClosed(a, req.Name)
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

// namedOrClosed is named, but a closed session that is named by the actor is
// accepted: closing twice is no error.
func (r *Room) namedOrClosed(a Actor, name string) (string, error) {
	return r.named(a, cmp.Or(name, a.Session))
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
func (r *Room) SessionList(_ context.Context, _ Actor, req api.SessionListRequest) (api.SessionListReply, error) {
	reply := api.SessionListReply{Sessions: []api.Session{}}
	r.view(func(v look) { reply.Sessions = r.sessionViews(v, req.All) })
	return reply, nil
}

func (r *Room) sessionViews(v look, all bool) []api.Session {
	out := []api.Session{}
	for s := range v.State().Sessions() {
		if all || s.State == fold.SessionOpen {
			out = append(out, r.viewOf(v, s))
		}
	}
	slices.SortStableFunc(out, func(a, b api.Session) int { return cmp.Compare(b.AgeMS, a.AgeMS) })
	return out
}
