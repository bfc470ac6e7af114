package room

import (
	"cmp"
	"context"
	"slices"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/journal"
	"github.com/comity-dev/comity/coop/scope"
)

// Release releases claims of the acting session: by key, by scope, or all.
// Releasing what has ended already changes nothing and succeeds. A person may
// release a claim of any session of this machine and user; that is recorded.
func (r *Room) Release(ctx context.Context, a Actor, req api.ReleaseRequest) (api.ReleaseReply, error) {
	reply := api.ReleaseReply{Released: []api.Claim{}}
	if req.All == (len(req.Claims) > 0) {
		return reply, api.Errorf(api.CodeUsage, "name claims or scopes to release, or all of them").WithHint("comity release --all")
	}
	reason, err := reasonWord(req.Reason)
	if err != nil {
		return reply, err
	}
	var sid string
	r.view(func(v look) { sid, err = r.acting(v, a) })
	if err == nil && sid == "" && (!req.Person || req.All) {
		err = a.noSession()
	}
	if err != nil {
		return reply, err
	}
	var named []fold.Claim
	r.view(func(v look) { named, err = r.toRelease(v, a, sid, req) })
	if err != nil {
		return reply, err
	}
	for some := range slices.Chunk(named, maxReleases) {
		if err := r.release(ctx, a, sid, reason, some, &reply); err != nil {
			return api.ReleaseReply{}, err
		}
	}
	return reply, nil
}

// maxReleases is how many claims end in one write. More are released in several
// writes, each all or nothing; repeating the command goes on where a failed one
// stopped.
const maxReleases = 512

func (r *Room) release(ctx context.Context, a Actor, sid, reason string, claims []fold.Claim, reply *api.ReleaseReply) error {
	var released, already []api.Claim
	done, err := r.decide(ctx, func(tx *journal.Tx) error {
		released, already = nil, nil // a full disk may make this run twice
		tx.Reserve()
		for _, c := range claims {
			now, _ := tx.State().Claim(c.Key) // it was held a moment ago
			if !now.Live() || r.releasing(tx, c.Key) {
				already = append(already, r.claimView(tx, now, sid))
				continue
			}
			b := event.ClaimReleased{Claim: c.Key, Session: c.Session.SID, Reason: reason}
			if c.Session.SID != sid {
				b.By = cmp.Or(fact(a.By, 128), nobody)
			}
			if _, err := tx.Append(b); err != nil {
				return err
			}
			view := r.claimView(tx, now, sid)
			view.Standing, view.Confirmed = api.StandingReleased, false
			released = append(released, view)
		}
		return nil
	})
	if err != nil {
		return err
	}
	reply.Released, reply.Already = append(reply.Released, released...), append(reply.Already, already...)
	for _, d := range done {
		reply.Events = append(reply.Events, written([]journal.Appended{d}))
	}
	return nil
}

// nobody is the person whose git has no user.name.
const nobody = "somebody"

// toRelease finds the claims that a request names.
func (r *Room) toRelease(v look, a Actor, sid string, req api.ReleaseRequest) ([]fold.Claim, error) {
	own := v.State().ClaimsOf(r.id(sid))
	if req.All {
		return own, nil
	}
	var out []fold.Claim
	for _, word := range req.Claims {
		found, err := r.findClaims(v, a, sid, own, word)
		if err != nil {
			return nil, err
		}
		for _, c := range found {
			if c.Session != r.id(sid) && !(req.Person && r.own(c.Session)) {
				return nil, api.Errorf(api.CodeNotOwn, "claim %s is held by %s", r.names.short(c.Key), c.Session.SID).
					WithHint("ask %s to release it, or break it: comity claim --break --reason TEXT", c.Session.SID)
			}
			if !slices.ContainsFunc(out, func(o fold.Claim) bool { return o.Key == c.Key }) {
				out = append(out, c)
			}
		}
	}
	return out, nil
}

// findClaims takes a word for a key, else for a scope of the session's own
// claims: those that stand, else the latest that has ended, so that a release
// whose answer was lost can be asked for again.
func (r *Room) findClaims(v look, a Actor, sid string, own []fold.Claim, word string) ([]fold.Claim, error) {
	if looksLikeKey(word) {
		key, err := r.names.expand(word, unknownClaim)
		if err != nil {
			return nil, err
		}
		if c, ok := v.State().Claim(key); ok {
			return []fold.Claim{c}, nil
		}
		return nil, unknownClaim(word)
	}
	e, err := scope.Door(a.Tree, word, false)
	if err != nil {
		return nil, badScope(err)
	}
	var out []fold.Claim
	for _, c := range own {
		if slices.Contains(c.Scope, e) {
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		return r.notStanding(v, sid, e, word)
	}
	for _, c := range out {
		if len(c.Scope) > 1 {
			return nil, api.Errorf(api.CodeUsage, "claim %s covers more than %s", r.names.short(c.Key), e.Show()).
				WithHint("release it as a whole: comity release %s", r.names.short(c.Key))
		}
	}
	return out, nil
}

// notStanding answers for a scope that none of the session's standing claims has.
func (r *Room) notStanding(v look, sid string, e scope.Entry, word string) ([]fold.Claim, error) {
	for _, k := range slices.Backward(r.ended[sid]) {
		if c, ok := v.State().Claim(k); ok && slices.Contains(c.Scope, e) {
			return []fold.Claim{c}, nil
		}
	}
	for c := range v.State().Meeting(scope.Set{e}) {
		if slices.Contains(c.Scope, e) { // another's: the caller says so
			return []fold.Claim{c}, nil
		}
	}
	return nil, unknownClaim(word)
}

// maxEndedClaims is how many ended claims of a session are remembered.
const maxEndedClaims = 64

// remember keeps an own claim that has ended, for as long as its session lives.
func (r *Room) remember(v look, c fold.Claim) {
	if s, _ := v.State().Session(c.Session); s.State != fold.SessionOpen {
		return
	}
	sid := c.Session.SID
	r.ended[sid] = append(r.ended[sid], c.Key)
	if n := len(r.ended[sid]); n > maxEndedClaims {
		r.ended[sid] = r.ended[sid][n-maxEndedClaims:]
	}
}

func unknownClaim(word string) error {
	return api.Errorf(api.CodeUnknownClaim, "claim %s is not known, or not yours", word).WithHint("comity status lists the claims")
}

// releasing tells that the release of a claim is on its way to the disk.
func (r *Room) releasing(v look, k event.Key) bool {
	return slices.ContainsFunc(v.Pending(), func(e *event.Event) bool {
		b, ok := e.Body.(event.ClaimReleased)
		return ok && b.Claim == k
	})
}
