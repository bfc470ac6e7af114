package room

import (
	"context"
	"iter"
	"slices"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/journal"
	"github.com/comity-dev/comity/coop/scope"
)

// MaxCheckPaths bounds one check.
const MaxCheckPaths = 1000

// verdicts from best to worst.
var verdicts = []string{api.CheckFree, api.CheckYours, api.CheckAdvisory, api.CheckLapsed, api.CheckTaken}

// Check answers whether the acting session may write paths now. It writes
// nothing, waits for no disk and needs no session: without one, whatever
// another holds is taken.
func (r *Room) Check(ctx context.Context, a Actor, req api.CheckRequest) (api.CheckReply, error) {
	reply := api.CheckReply{Verdict: api.CheckFree, Paths: []api.CheckPath{}}
	if n := len(req.Paths); n == 0 || n > MaxCheckPaths {
		return reply, api.Errorf(api.CodeUsage, "%d paths to check: want 1 to %d", n, MaxCheckPaths)
	}
	entries, err := pathsOf(a, req.Paths)
	if err != nil {
		return reply, err
	}
	r.lookForGap(ctx)
	r.view(func(v look) { err = r.check(v, a, req, entries, &reply) })
	return reply, err
}

// pathsOf takes every word as a path, since it is a file that is to be written.
func pathsOf(a Actor, words []string) ([]scope.Entry, error) {
	out := make([]scope.Entry, 0, len(words))
	for _, w := range words {
		e, err := scope.Door(a.Tree, w, true)
		if err != nil {
			return nil, badScope(err)
		}
		out = append(out, e)
	}
	return out, nil
}

func (r *Room) check(v look, a Actor, req api.CheckRequest, entries []scope.Entry, reply *api.CheckReply) error {
	if r.cfg.Gap != nil && !plantGap {
		if left := r.cfg.Gap(); left > 0 {
			return gapError(left)
		}
	}
	sid, err := r.acting(v, a)
	if err != nil {
		return err
	}
	reply.Session = sid
	lapsed, err := r.checkToken(v, req)
	if err != nil {
		return err
	}
	for _, e := range entries {
		p := r.checkPath(v, a, sid, e)
		if lapsed && worse(api.CheckLapsed, p.Verdict) {
			p.Verdict = api.CheckLapsed
		}
		if worse(p.Verdict, reply.Verdict) {
			reply.Verdict = p.Verdict
		}
		reply.Paths = append(reply.Paths, p)
	}
	return nil
}

func worse(a, b string) bool { return slices.Index(verdicts, a) > slices.Index(verdicts, b) }

// checkToken compares a fencing token with the claim that it names. An epoch
// that is not the claim's own was never handed out for it, and is refused.
func (r *Room) checkToken(v look, req api.CheckRequest) (lapsed bool, err error) {
	if req.Claim == "" {
		return false, nil
	}
	key, err := r.names.expand(req.Claim, unknownClaim)
	if err != nil {
		return false, err
	}
	c, ok := v.State().Claim(key)
	if !ok {
		return false, unknownClaim(req.Claim)
	}
	if req.Epoch != 0 && req.Epoch != c.Epoch {
		return false, api.Errorf(api.CodeFenced, "claim %s has epoch %d, not %d", r.names.short(key), c.Epoch, req.Epoch).
			WithHint("claim again: an old token never comes back")
	}
	return !held(v.State().Standing(key, r.gone(v))), nil
}

func (r *Room) checkPath(v look, a Actor, sid string, e scope.Entry) api.CheckPath {
	return r.checkClaims(v, a, sid, scope.Set{e}, e.Text(), v.State().Meeting(scope.Set{e}))
}

// checkName is checkPath for a path that no entry can name, because it is too
// long or has a newline in it: a claim of a folder covers it all the same.
func (r *Room) checkName(v look, a Actor, sid, path string) api.CheckPath {
	return r.checkClaims(v, a, sid, nil, path, func(yield func(fold.Claim) bool) {
		for c := range v.State().Claims() {
			if _, ok := c.Scope.Covers(path); ok && !yield(c) {
				return
			}
		}
	})
}

// checkClaims weighs the claims that meet a path.
func (r *Room) checkClaims(v look, a Actor, sid string, set scope.Set, path string, claims iter.Seq[fold.Claim]) api.CheckPath {
	out := api.CheckPath{Path: path, Verdict: api.CheckFree}
	q := ask{session: r.id(sid), checkout: a.Checkout, scope: set, mode: event.ModeExclusive}
	own := ""
	for c := range claims {
		switch {
		case !c.Live():
		case sid != "" && c.Session == q.session:
			if c.Mode != event.ModeCheckout || c.Checkout == a.Checkout { // else it protects another checkout
				own = r.checkOwn(v, c, own, &out)
			}
		default:
			raise(&out, r.checkOther(v, q, c, &out))
		}
	}
	raise(&out, own)
	return out
}

func raise(out *api.CheckPath, verdict string) {
	if worse(verdict, out.Verdict) {
		out.Verdict = verdict
	}
}

// checkOwn takes one of the session's own claims into account: one that is held
// outweighs any that has lapsed.
func (r *Room) checkOwn(v look, c fold.Claim, own string, out *api.CheckPath) string {
	if own == api.CheckYours {
		return own
	}
	out.Claim, out.Epoch = c.Key.String(), c.Epoch
	if held(v.State().Standing(c.Key, r.gone(v))) {
		return api.CheckYours
	}
	return api.CheckLapsed
}

// checkOther weighs another's claim. Only one that is held stands in the way:
// one that is beaten or fenced belongs to nobody.
func (r *Room) checkOther(v look, q ask, c fold.Claim, out *api.CheckPath) string {
	live := v.Liveness(c.Stream)
	if live == journal.Expired {
		return api.CheckFree
	}
	if !excludes(q.mode, q.checkout, c.Mode, c.Checkout) {
		out.Others = append(out.Others, r.conflict(v, q, c, live))
		return api.CheckAdvisory
	}
	if held(v.State().Standing(c.Key, r.gone(v))) {
		out.Others = append(out.Others, r.conflict(v, q, c, live))
		return api.CheckTaken
	}
	return api.CheckFree
}
