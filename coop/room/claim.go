package room

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/journal"
	"github.com/comity-dev/comity/coop/scope"
	"github.com/comity-dev/comity/internal/clock"
)

// MaxWait is the longest that a claim may queue.
const MaxWait = 24 * time.Hour

// A claiming is one call of Claim under way.
type claiming struct {
	ask
	req    api.ClaimRequest
	opened string
	auto   bool  // made by a hook: ends when its paths are clean
	wait   *wait // its place in the queue, once it has one
}

// Claim takes scopes for the acting session, all or none. With a wait it
// queues, in the order in which callers came, and takes the scope when it is
// free; the queue is left when ctx ends, the session closes, or the room does.
func (r *Room) Claim(ctx context.Context, a Actor, req api.ClaimRequest) (api.ClaimReply, error) {
	c, err := r.prepare(ctx, a, req)
	if err != nil {
		return api.ClaimReply{}, err
	}
	defer r.leaveQueue(c)
	timer := r.clock.NewTimer(time.Duration(req.WaitMS) * time.Millisecond)
	defer timer.Stop()
	start := r.clock.Boot()
	for {
		reply, err := r.admit(ctx, c)
		if errors.Is(err, errSoon) {
			if err := r.barrier(ctx); err != nil {
				return api.ClaimReply{}, err
			}
			continue
		}
		if err == nil {
			if c.wait != nil {
				reply.WaitedMS = (r.clock.Boot() - start).Milliseconds()
			}
			return reply, nil
		}
		if err := r.await(ctx, c, timer, err); err != nil {
			return api.ClaimReply{}, err
		}
	}
}

// errSoon puts off a claim that another call of the same session is writing.
var errSoon = errors.New("on its way to the disk")

// barrier returns when all that was on its way to the disk has arrived.
func (r *Room) barrier(ctx context.Context) error {
	_, err := r.decide(ctx, func(tx *journal.Tx) error {
		tx.PutLocal("barrier", "", nil)
		return nil
	})
	return err
}

// await returns nil when a claim that was refused may try again, else what its
// caller is told: the refusal itself, when it does not wait.
func (r *Room) await(ctx context.Context, c *claiming, timeout clock.Timer, refused error) error {
	var roused <-chan struct{}
	var gapOver <-chan time.Time
	switch {
	case c.req.WaitMS == 0:
		return refused
	case errors.Is(refused, api.ErrConflict) && c.wait != nil:
		roused = c.wait.wake
	case errors.Is(refused, api.ErrGap):
		t := r.clock.NewTimer(r.cfg.Gap())
		defer t.Stop()
		gapOver = t.C()
	default:
		return refused
	}
	select {
	case <-roused:
	case <-gapOver:
	case <-timeout.C():
		return waitedOut(refused, c.req.WaitMS)
	case <-ctx.Done():
		return ctx.Err()
	case <-r.closed:
		return failure(journal.ErrClosed)
	}
	return nil
}

func (r *Room) prepare(ctx context.Context, a Actor, req api.ClaimRequest) (*claiming, error) {
	if err := checkClaim(req); err != nil {
		return nil, err
	}
	set, err := scopeOf(a, req.Scope, req.Literal)
	if err != nil {
		return nil, err
	}
	req.Intent, req.Issue, req.Reason = clean(req.Intent), clean(req.Issue), clean(req.Reason)
	sid, opened, err := r.sessionOf(ctx, a, req.Intent, req.Issue)
	if err != nil {
		return nil, err
	}
	c := &claiming{
		ask:    ask{session: r.id(sid), scope: set, mode: event.Mode(cmp.Or(req.Mode, api.ModeExclusive))},
		req:    req,
		opened: opened,
	}
	c.checkout, err = r.standIn(ctx, a, sid, c.mode)
	return c, err
}

// standIn is the checkout that the session's claims count for: the one that its
// opening names, on every machine. A session that claims in another checkout
// has moved there, and says so first; an advisory claim moves nobody.
func (r *Room) standIn(ctx context.Context, a Actor, sid string, mode event.Mode) (ident.CheckoutID, error) {
	var info event.SessionInfo
	r.view(func(v look) { info = r.infoOf(v, sid) })
	if info.Checkout == a.Checkout || mode == event.ModeAdvisory {
		return info.Checkout, nil
	}
	branch, head, err := a.Git.Head(ctx)
	if err != nil {
		return "", err
	}
	_, err = r.decide(ctx, func(tx *journal.Tx) error {
		if err := r.mustBeOpen(tx, sid); err != nil {
			return err
		}
		info := r.infoOf(tx, sid)
		info.Checkout, info.Branch, info.Head = a.Checkout, fact(branch, 256), head
		if _, err := tx.Append(event.SessionOpened{Info: info}); err != nil {
			return err
		}
		if o := r.owners[sid]; o != nil {
			o.Worktree = a.Top
			tx.PutLocal(rowOwner, sid, o.row())
		}
		return nil
	})
	return a.Checkout, err
}

func checkClaim(req api.ClaimRequest) error {
	switch req.Mode {
	case "", api.ModeExclusive, api.ModeCheckout, api.ModeAdvisory:
	default:
		return api.Errorf(api.CodeUsage, "mode %q: want exclusive, checkout or advisory", req.Mode)
	}
	switch {
	case req.Break && strings.TrimSpace(req.Reason) == "":
		return api.Errorf(api.CodeUsage, "breaking a claim needs a reason").WithHint("add --reason \"why\": its holder is shown it")
	case req.Break && req.WaitMS > 0:
		return api.Errorf(api.CodeUsage, "a claim either breaks others or waits for them")
	case req.WaitMS < 0 || req.WaitMS > MaxWait.Milliseconds():
		return api.Errorf(api.CodeBound, "a wait of %d ms: want 0 to %s", req.WaitMS, MaxWait)
	case req.ConfirmMS < 0 || req.ConfirmMS > MaxWait.Milliseconds():
		return api.Errorf(api.CodeBound, "a wait of %d ms for confirmation: want 0 to %s", req.ConfirmMS, MaxWait)
	}
	return nil
}

// scopeOf takes words through the door.
func scopeOf(a Actor, words []string, literal bool) (scope.Set, error) {
	if len(words) == 0 {
		return nil, api.Errorf(api.CodeScope, "no scope").WithHint("name paths, folders/, globs or @resources")
	}
	entries := make([]scope.Entry, 0, len(words))
	for _, w := range words {
		e, err := scope.Door(a.Tree, w, literal)
		if err != nil {
			return nil, badScope(err)
		}
		entries = append(entries, e)
	}
	set, err := scope.NewSet(entries...)
	if err != nil {
		return nil, badScope(err)
	}
	return set, nil
}

// admit decides once. A conflict is ErrConflict; a claiming that waits has its
// place in the queue then.
func (r *Room) admit(ctx context.Context, c *claiming) (api.ClaimReply, error) {
	var reply api.ClaimReply
	var key event.Key
	done, err := r.decide(ctx, func(tx *journal.Tx) error {
		if err := r.mayClaim(tx, c); err != nil {
			return err
		}
		c.checkout = r.infoOf(tx, c.session.SID).Checkout // another command may have moved the session
		if have, ok := r.covered(tx, c.ask); ok {
			reply.Already, key = true, have.Key
			return errUnchanged
		}
		if r.covering(tx, c.ask) {
			return errSoon
		}
		verdict := r.judge(tx, c.ask)
		var ahead []*wait
		if !c.req.Break { // who breaks does not queue
			ahead = r.ahead(c)
		}
		if len(ahead) > 0 || len(verdict.holders) > 0 && !c.req.Break {
			return r.refuse(tx, c, verdict, ahead)
		}
		e, err := r.writeClaim(tx, c, verdict, &reply)
		if err != nil {
			return err
		}
		key = e.Key()
		if c.auto {
			tx.PutLocal(rowAuto, key.String(), []byte("1"))
		}
		return nil
	})
	if err != nil {
		return api.ClaimReply{}, err
	}
	reply.Written = written(done)
	reply.OpenedSession = c.opened
	r.view(func(v look) {
		if have, ok := v.State().Claim(key); ok {
			reply.Claim = r.claimView(v, have, c.session.SID)
		}
	})
	return reply, nil
}

func (r *Room) mayClaim(v look, c *claiming) error {
	if r.cfg.Gap != nil && !plantGap {
		if left := r.cfg.Gap(); left > 0 {
			return gapError(left)
		}
	}
	return r.mustBeOpen(v, c.session.SID)
}

func gapError(left time.Duration) error {
	return api.Errorf(api.CodeGap, "this machine was silent for so long that others may have taken over: asking them first").
		WithHint("repeat in %s, or use --wait", left.Round(time.Second))
}

// writeClaim appends the claim with all that it ends. What it breaks of this
// machine's own gets its release in the same batch, so that the end also stands
// in the holder's own stream.
func (r *Room) writeClaim(tx *journal.Tx, c *claiming, v verdict, reply *api.ClaimReply) (*event.Event, error) {
	body := event.ClaimAcquired{
		Session: c.session.SID, Scope: c.scope, Mode: c.mode, Issue: c.req.Issue,
		Intent: cmp.Or(c.req.Intent, r.infoOf(tx, c.session.SID).Intent),
		Fences: v.lapsed,
	}
	reply.Overlaps, reply.MoreOverlaps = v.overlaps.list, v.overlaps.more
	reply.Fenced = v.fenced.list
	if c.req.Break && len(v.holders) > 0 {
		if v.pending {
			return nil, conflictError(c, v.conflicts, "one of the claims in the way is still being written: repeat the command")
		}
		body.Breaks, body.Reason = v.broken, c.req.Reason
		body.Fences = slices.Concat(v.lapsed, v.broken)
		reply.Fenced = slices.Concat(v.fenced.list, v.conflicts.list)
	}
	if n := len(body.Fences); n > event.MaxFences {
		return nil, api.Errorf(api.CodeBound, "the scope meets %d claims that it would end, at most %d can be ended at once", n, event.MaxFences).
			WithHint("claim a part of it first")
	}
	sortKeys(body.Fences)
	sortKeys(body.Breaks)
	e, err := tx.Append(body)
	if err != nil {
		return nil, err
	}
	return e, r.releaseFenced(tx, e.Key(), body.Fences)
}

func (r *Room) releaseFenced(tx *journal.Tx, fence event.Key, fenced []event.Key) error {
	for _, k := range fenced {
		held, ok := tx.State().Claim(k)
		if !ok || !r.own(held.Session) {
			continue
		}
		if _, err := tx.Append(event.ClaimReleased{Claim: k, Session: held.Session.SID, Reason: reasonFenced, Fence: &fence}); err != nil {
			return err
		}
	}
	return nil
}

// reasonFenced is the reason of a release that a runtime writes for a claim of
// its own that another claim has ended.
const reasonFenced = "fenced"

// refuse answers a claim that cannot be taken now: with the conflict, and for
// one that waits also with a place in the queue, unless the wait would never
// end.
func (r *Room) refuse(v look, c *claiming, verdict verdict, ahead []*wait) error {
	conflicts := verdict.conflicts
	for _, w := range ahead {
		conflicts.add(func() api.Conflict { return r.queuedConflict(v, c, w) })
	}
	if c.req.WaitMS > 0 {
		if err := r.queue(c, verdict.holders, conflicts.list); err != nil {
			return err
		}
	}
	return conflictError(c, conflicts, "")
}

func (r *Room) queuedConflict(v look, c *claiming, w *wait) api.Conflict {
	m, _ := c.scope.Meets(w.scope)
	info := r.infoOf(v, w.session.SID)
	return api.Conflict{
		Session: w.session.SID, Client: info.Client, By: info.By, Intent: info.Intent, Scope: w.scope.Strings(),
		Mode: modeQueued, Meets: m.Witness, Live: api.LiveLive, AgeMS: (r.clock.Boot() - w.since).Milliseconds(),
	}
}

func conflictError(c *claiming, conflicts meetings, hint string) error {
	first := conflicts.list[0]
	e := api.Errorf(api.CodeConflict, "claim %s: held by %s", showSet(c.scope), first.Session)
	switch {
	case first.Pending:
		e.Message = fmt.Sprintf("claim %s: just taken by %s", showSet(c.scope), first.Session)
	case first.Mode == modeQueued:
		e.Message = fmt.Sprintf("claim %s: %s is first in the queue for it", showSet(c.scope), first.Session)
	}
	if n := len(conflicts.list) + conflicts.more - 1; n > 0 {
		e.Message += fmt.Sprintf(" and %d more", n)
	}
	e.Hint = cmp.Or(hint, nextStep(first))
	e.Conflicts = conflicts.list
	if conflicts.more > 0 {
		e.Detail = map[string]any{"more_conflicts": conflicts.more}
	}
	return e
}

func nextStep(first api.Conflict) string {
	return fmt.Sprintf("wait for it with --wait 10m, work elsewhere, or ask %s to release or hand over", first.Session)
}

func showSet(s scope.Set) string {
	shown := make([]string, 0, 3)
	for i, e := range s {
		if i == 3 {
			return strings.Join(shown, " ") + fmt.Sprintf(" and %d more", len(s)-3)
		}
		shown = append(shown, e.Show())
	}
	return strings.Join(shown, " ")
}

func waitedOut(last error, waitMS int64) error {
	out := api.Errorf(api.CodeWaitedOut, "waited %s in vain: %v", time.Duration(waitMS)*time.Millisecond, last)
	var e *api.Error
	if errors.As(last, &e) {
		out.Hint, out.Conflicts = e.Hint, e.Conflicts
	}
	return out
}

// held is the state of a claim as people see it.
func held(s fold.Standing) bool { return s.State == fold.StandingHeld }
