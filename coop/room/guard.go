package room

import (
	"context"
	"fmt"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/scope"
)

// MaxGuardPaths bounds the paths of one commit or push that are looked at.
const MaxGuardPaths = 100_000

// A loss is a claim of an own session that a fence ended.
type loss struct {
	scope scope.Set
	epoch uint64
	key   event.Key
}

// maxLosses bounds what is remembered of one session; the oldest give way.
const maxLosses = 256

// Guard answers whether paths may be committed or pushed: not those that another
// session holds, and not those under a claim of the acting session that was
// fenced and not taken anew. Without a session only what others hold counts.
func (r *Room) Guard(_ context.Context, a Actor, req api.GuardRequest) (api.GuardReply, error) {
	var out api.GuardReply
	if n := len(req.Paths); n > MaxGuardPaths {
		return out, api.Errorf(api.CodeBound, "%d paths to guard, at most %d", n, MaxGuardPaths)
	}
	var err error
	r.view(func(v look) {
		if out.Session, err = r.acting(v, a); err == nil {
			r.guard(v, a, req.Paths, &out)
		}
	})
	return out, err
}

func (r *Room) guard(v look, a Actor, paths []string, out *api.GuardReply) {
	if r.nothingClaimed(v, out.Session) {
		return
	}
	claims := map[string]bool{}
	for _, path := range paths {
		r.guardPath(v, a, path, claims, out)
	}
	if out.Deny != "" {
		out.Hint = "wait for it, or have it released or handed over"
	}
}

// nothingClaimed is the quick answer where no session holds anything and the
// acting one has lost nothing.
func (r *Room) nothingClaimed(v look, sid string) bool {
	if len(r.losses[sid]) > 0 {
		return false
	}
	for s := range v.State().OpenSessions() {
		if s.Claims > 0 {
			return false
		}
	}
	return true
}

func (r *Room) guardPath(v look, a Actor, path string, claims map[string]bool, out *api.GuardReply) {
	var p api.CheckPath
	if e, err := scope.Path(path); err == nil {
		p = r.checkPath(v, a, out.Session, e)
	} else {
		p = r.checkName(v, a, out.Session, path)
	}
	shown := fact(path, maxShownPath)
	for _, c := range p.Others {
		if p.Verdict != api.CheckTaken || r.siblings(out.Session, c.Session) || !r.stops(c, a.Checkout) || claims[c.Claim] {
			continue
		}
		claims[c.Claim] = true
		out.Conflicts = append(out.Conflicts, c)
		if out.Deny == "" {
			out.Deny = fmt.Sprintf("%s is claimed by %s%s", shown, who(c), aside(c.Intent))
		}
	}
	if p.Verdict != api.CheckLapsed && p.Claim != "" && !claims[p.Claim] {
		if key, err := event.ParseKey(p.Claim); err == nil {
			if c, ok := v.State().Claim(key); ok {
				claims[p.Claim] = true
				out.Claims = append(out.Claims, r.claimView(v, c, out.Session))
			}
		}
	}
	for _, l := range r.losses[out.Session] {
		if _, ok := l.scope.Covers(path); !ok || p.Claim != "" && p.Epoch > l.epoch {
			continue
		}
		if out.Deny == "" {
			out.Deny = fmt.Sprintf("your claim %s on %s was taken over while you worked: %s was written under an epoch (%d) that is void",
				r.names.short(l.key), showSet(l.scope), shown, l.epoch)
		}
	}
}

// maxShownPath bounds a path in a message, in bytes.
const maxShownPath = 256

// lose remembers a claim of an own session that was fenced.
func (r *Room) lose(c fold.Claim) {
	sid := c.Session.SID
	r.losses[sid] = append(r.losses[sid], loss{c.Scope, c.Epoch, c.Key})
	if n := len(r.losses[sid]); n > maxLosses {
		r.losses[sid] = r.losses[sid][n-maxLosses:]
	}
}
