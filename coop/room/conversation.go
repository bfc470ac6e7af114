package room

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/journal"
)

// hooked is what this run of the daemon knows of a session's hooks.
type hooked struct {
	carried uint64             // id of the last notice that an answer carried
	told    map[event.Key]bool // claims in other checkouts that it was told of
	command *command           // that runs now; nil when none does, or it began alone
}

// hooked is made on first need. The caller holds the lock.
func (r *Room) hooked(sid string) *hooked {
	h := r.hooks[sid]
	if h == nil {
		h = &hooked{told: map[event.Key]bool{}}
		r.hooks[sid] = h
	}
	return h
}

// conversation finds the session of a hook's conversation, or opens it: a
// conversation has one name for ever, so that one that is resumed is known
// again. It returns "" when the event ends what was never begun.
func (r *Room) conversation(ctx context.Context, a Actor, req api.HookRequest) (string, error) {
	if a.Session != "" { // the person who started the agent named its session
		var err error
		r.view(func(v look) { a.Session, err = r.acting(v, a) })
		return a.Session, errors.Join(err, r.seen(ctx, a.Session, req))
	}
	sid := conversationName(req.Client, req.Conversation)
	if r.known(sid, a, req) {
		return sid, errors.Join(r.delivered(ctx, sid), r.seen(ctx, sid, req))
	}
	if req.Event == api.HookStop || req.Event == api.HookEnd || req.Event == api.HookSubagentStop {
		return "", nil
	}
	open := func(name string) error {
		_, err := r.openSession(ctx, a, api.SessionOpenRequest{Name: name, Client: req.Client, Context: fact(req.Conversation, 128)}, r.ownerOf(a, req), a.Agent != nil)
		return err
	}
	err := open(sid)
	if errors.Is(err, api.ErrNotOwn) && a.Agent != nil { // one conversation in two processes at once
		sid = conversationName(req.Client, req.Conversation+"\n"+a.Agent.Start)
		err = open(sid)
	}
	return sid, errors.Join(err, r.seen(ctx, sid, req))
}

func conversationName(client, conversation string) string {
	sum := sha256.Sum256([]byte(conversation))
	return shortClient(client) + "-" + hex.EncodeToString(sum[:3])
}

// known tells that the session is open and lives with the caller's agent. A
// conversation that was resumed in another process is taken over by that, as
// soon as the one before has ended.
func (r *Room) known(sid string, a Actor, req api.HookRequest) (known bool) {
	r.view(func(v look) {
		o := r.owners[sid]
		known = o != nil && r.isOpen(v, sid) && o.Conversation == req.Conversation && (a.Agent == nil || o.Process == *a.Agent)
		if known {
			r.touch(sid)
		}
	})
	return known
}

func (r *Room) ownerOf(a Actor, req api.HookRequest) *owner {
	if a.Agent == nil {
		return &owner{Kind: ownerTTL, TTL: DefaultTTL, Conversation: req.Conversation}
	}
	return &owner{Kind: ownerAgent, Process: *a.Agent, Conversation: req.Conversation}
}

// seen keeps what kinds of hooks a session has, which is how far it is
// protected. It writes only what is new.
func (r *Room) seen(ctx context.Context, sid string, req api.HookRequest) error {
	fresh := false
	r.view(func(look) {
		o := r.owners[sid]
		fresh = o != nil && (!o.Hooks || req.Event == api.HookBefore && !o.Before)
	})
	if !fresh {
		return nil
	}
	_, err := r.decide(ctx, func(tx *journal.Tx) error {
		o := r.owners[sid]
		if o == nil {
			return errUnchanged
		}
		o.Hooks, o.Before = true, o.Before || req.Event == api.HookBefore
		tx.PutLocal(rowOwner, sid, o.row())
		return nil
	})
	return err
}

// protection is how far the hooks of a session's client protect the others from
// it, as far as they were seen.
func (o *owner) protection() string {
	switch {
	case o.Before:
		return api.Guarded
	case o.Hooks:
		return api.Advisory
	}
	return api.Unguarded
}

// agentSession is the session of the nearest agent among the caller's
// ancestors; of several conversations in one process, the one that was heard
// last. The caller holds the lock.
func (r *Room) agentSession(v look, ancestors []Process) string {
	for _, p := range ancestors {
		found, last := "", time.Duration(-1)
		for sid, o := range r.owners {
			if o.Kind == ownerAgent && o.Process == p && o.last > last && r.isOpen(v, sid) {
				found, last = sid, o.last
			}
		}
		if found != "" {
			return found
		}
	}
	return ""
}

// siblings tells that two own sessions are conversations of one agent process,
// which never stand in each other's way.
func (r *Room) siblings(a, b string) bool {
	x, y := r.owners[a], r.owners[b]
	return x != nil && y != nil && x.Kind == ownerAgent && y.Kind == ownerAgent && x.Process == y.Process
}
