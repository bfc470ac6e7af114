package room

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/comity-dev/comity/api"
)

// MaxHookPaths bounds the paths of one hook call that are looked at; a tool that
// writes more is taken to write the folders that they are in.
const MaxHookPaths = 1000

// Hook does what one moment of an agent's work needs, in one call: it finds or
// opens the session of the conversation, decides whether a tool may write,
// claims what it writes in mode checkout, and tells what changed. An empty reply
// means that the agent goes on as if nobody asked.
//
// An error means that nothing was decided; whoever asked lets the agent work.
func (r *Room) Hook(ctx context.Context, a Actor, req api.HookRequest) (api.HookReply, error) {
	if req.Conversation == "" || len(req.Conversation) > 256 {
		return api.HookReply{}, api.Errorf(api.CodeUsage, "a hook names its conversation in 1 to 256 bytes")
	}
	sid, err := r.conversation(ctx, a, req)
	if err != nil || sid == "" {
		return api.HookReply{}, err
	}
	a.Session = sid
	reply := api.HookReply{Session: sid}
	switch req.Event {
	case api.HookStart:
		r.view(func(v look) { reply.Tell = r.briefing(v, a) })
	case api.HookPrompt:
		r.view(func(look) {
			if h := r.hooks[sid]; h != nil {
				h.command = nil // its end was never told
			}
		})
		err = r.hookPrompt(ctx, a, req, &reply)
	case api.HookBefore:
		err = r.hookBefore(ctx, a, req, &reply)
	case api.HookAfter:
		err = r.hookAfter(ctx, a, req, &reply)
	case api.HookStop:
		err = r.releaseClean(ctx, a)
	case api.HookEnd:
		err = r.hookEnd(ctx, a)
	case api.HookSubagentStart, api.HookSubagentStop:
		// A sub-agent works in the session of its agent.
	default:
		err = api.Errorf(api.CodeUsage, "hook event %q is not known", req.Event)
	}
	return reply, err
}

// hookPrompt gives a session without an intent the first line of what it was
// asked, so that others can see what it is about.
func (r *Room) hookPrompt(ctx context.Context, a Actor, req api.HookRequest, reply *api.HookReply) error {
	var known string
	r.view(func(v look) { known = r.infoOf(v, a.Session).Intent })
	if intent := fact(firstLine(req.Prompt), maxIntent); known == "" && intent != "" {
		if _, err := r.SessionRenew(ctx, a, api.SessionRenewRequest{Intent: intent}); err != nil {
			return err
		}
	}
	r.tellNotices(a.Session, reply)
	return nil
}

// maxIntent bounds an intent that is taken from a prompt, in bytes.
const maxIntent = 120

// hookEnd closes the session. When it leaves work uncommitted under its claims,
// it first offers that as a handover.
func (r *Room) hookEnd(ctx context.Context, a Actor) error {
	dirty, ok := r.dirtyNow(ctx, a)
	if ok && r.leavesWork(a.Session, dirty) {
		// A handover that cannot be written must not keep the session open.
		_, err := r.HandoverPublish(ctx, a, api.HandoverPublishRequest{Derive: true})
		if err != nil && ctx.Err() != nil {
			return err
		}
	}
	_, err := r.SessionClose(ctx, a, api.SessionCloseRequest{Reason: "session_end"})
	return err
}

func (r *Room) leavesWork(sid string, dirty map[string]stamp) (leaves bool) {
	r.view(func(v look) {
		for _, c := range v.State().ClaimsOf(r.id(sid)) {
			for p := range dirty {
				if _, ok := c.Scope.Covers(p); ok {
					leaves = true
					return
				}
			}
		}
	})
	return leaves
}

// say adds a line to what a reply tells.
func say(reply *api.HookReply, format string, args ...any) {
	if reply.Tell != "" {
		reply.Tell += "\n"
	}
	reply.Tell += fmt.Sprintf(format, args...)
}

// tellNotices puts the unread notices into a reply. They count as delivered when
// the session's next call shows that this answer has arrived.
func (r *Room) tellNotices(sid string, reply *api.HookReply) {
	r.view(func(look) {
		l := r.notices[sid]
		if l == nil {
			return
		}
		unread := l.notices
		for i, n := range unread {
			if i == maxTold {
				say(reply, "and %d more: comity notices", len(unread)-i)
				break
			}
			say(reply, "%s", fact(n.Text, maxNotice))
		}
		if len(unread) > 0 {
			r.hooked(sid).carried = unread[len(unread)-1].ID
		}
	})
}

// Bounds of what one answer tells: notices, and bytes of each (a token is about
// four bytes).
const (
	maxTold   = 5
	maxNotice = 240
)

// delivered acknowledges the notices that the last answer carried.
func (r *Room) delivered(ctx context.Context, sid string) error {
	var carried uint64
	r.view(func(look) {
		if h := r.hooks[sid]; h != nil {
			carried, h.carried = h.carried, 0
		}
	})
	if carried == 0 {
		return nil
	}
	return r.acknowledge(ctx, sid, carried)
}

// ignorable tells that a path is none of ours: outside the repository, or no
// path that a claim could have.
func ignorable(err error) bool {
	return errors.Is(err, api.ErrOutside) || errors.Is(err, api.ErrScope)
}

// shortClient is a client's name as a session's name begins.
func shortClient(client string) string {
	word, _, _ := strings.Cut(client, "-")
	word = strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			return c
		}
		return -1
	}, strings.ToLower(word))
	if word == "" {
		return "agent"
	}
	return word[:min(len(word), 16)]
}
