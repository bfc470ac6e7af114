package room

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/journal"
)

const (
	idle       = time.Hour       // the longest that Run sleeps
	glance     = time.Minute     // the longest while a time to live runs: timers stand still when the machine sleeps
	retryWrite = 5 * time.Second // when what the disk refused is tried again
	maxCloses  = 512             // sessions closed in one write
)

// Run writes what time and the end of processes bring about, until ctx ends;
// then it returns nil: it closes sessions whose process has ended or whose time
// to live is over, releases own claims that a fence has ended, takes out local rows
// that nothing needs any more, and has the journal compacted. While others are known
// it looks every heartbeat whether they live. What the disk refuses is tried again.
func (r *Room) Run(ctx context.Context) error {
	for {
		timer := r.clock.NewTimer(r.upkeep(ctx))
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case sid := <-r.exits:
			r.processEnded(sid)
		case <-r.nudge:
		case <-timer.C():
		}
		timer.Stop()
	}
}

// upkeep does what is due now; it returns how long until something is due again.
func (r *Room) upkeep(ctx context.Context) time.Duration {
	r.beat(ctx)
	r.compact(ctx)
	r.settle()
	r.closeOver(ctx)
	failed := errors.Join(r.releaseLost(ctx), r.forgetSpent(ctx)) != nil
	return r.nextDue(failed)
}

// Upkeep does once what Run does, for who has no goroutine to spare: a simulation.
func (r *Room) Upkeep(ctx context.Context) {
	for {
		select {
		case sid := <-r.exits:
			r.processEnded(sid)
			continue
		default:
		}
		r.upkeep(ctx)
		return
	}
}

// poke has Run look again.
func (r *Room) poke() {
	select {
	case r.nudge <- struct{}{}:
	default:
	}
}

// processEnded marks a session whose process is gone: from here on it is
// closed, whatever the disk does. One that lives with another process by now is
// left alone.
func (r *Room) processEnded(sid string) {
	r.view(func(look) {
		if o := r.owners[sid]; o != nil && o.closing == "" && r.dead(o) {
			o.closing = reasonProcess
		}
	})
}

// nextDue is the time until something has to be done.
func (r *Room) nextDue(failed bool) time.Duration {
	next := idle
	if failed {
		next = retryWrite
	}
	r.view(func(look) {
		now := r.clock.Boot()
		next = min(next, r.upkept.due-now)
		if r.others || r.ticked.Load() != 0 {
			next = min(next, r.nextBeat()-now)
		}
		for sid, o := range r.owners {
			switch {
			case o.closing != "":
				next = min(next, o.retry-now)
			case o.Kind == ownerTTL && (now < o.last+o.TTL || !r.waiting(sid)):
				next = min(next, glance, o.last+o.TTL-now)
			}
		}
	})
	return max(next, 0)
}

// A departure is a session that has to be closed, and why.
type departure struct{ sid, reason string }

// closeOver closes every session that is over, many in one write.
func (r *Room) closeOver(ctx context.Context) {
	var due []departure
	r.view(func(look) {
		for sid, o := range r.owners {
			if reason := r.over(sid, o); reason != "" && o.retry <= r.clock.Boot() {
				due = append(due, departure{sid, reason})
			}
		}
	})
	slices.SortFunc(due, func(a, b departure) int { return strings.Compare(a.sid, b.sid) })
	for some := range slices.Chunk(due, maxCloses) {
		if _, err := r.decide(ctx, func(tx *journal.Tx) error { return r.closeAll(tx, some) }); err != nil {
			r.view(func(look) {
				for _, d := range some {
					if o := r.owners[d.sid]; o != nil && r.over(d.sid, o) != "" {
						o.closing, o.retry = d.reason, r.clock.Boot()+retryWrite
					}
				}
			})
		}
	}
}

// closeAll writes the closes of those that are still over, also behind an opening
// that is not synced yet: without its owner it would never end.
func (r *Room) closeAll(tx *journal.Tx, due []departure) error {
	for _, d := range due {
		o := r.owners[d.sid]
		if o == nil || r.over(d.sid, o) == "" || r.closePending(tx, d.sid) {
			continue
		}
		s, ok := tx.State().Session(r.id(d.sid))
		if gone := !ok || s.State == fold.SessionClosed || !r.ours(tx, s); gone && !r.openByEvents(tx, d.sid) {
			r.forget(d.sid)
			r.forgetRows(tx, d.sid)
			continue
		}
		if err := r.writeClose(tx, d); err != nil {
			return err
		}
	}
	return nil
}

func (r *Room) closePending(v look, sid string) bool {
	return slices.ContainsFunc(v.Pending(), func(e *event.Event) bool {
		b, ok := e.Body.(event.SessionClosed)
		return ok && b.Session == sid
	})
}

// writeClose may use the reserve of a full disk: it makes room for others.
func (r *Room) writeClose(tx *journal.Tx, d departure) error {
	tx.Reserve()
	if _, err := tx.Append(event.SessionClosed{Session: d.sid, Reason: d.reason}); err != nil {
		return err
	}
	r.forgetRows(tx, d.sid)
	return nil
}

func (r *Room) forgetRows(tx *journal.Tx, sid string) {
	tx.PutLocal(rowOwner, sid, nil)
	tx.PutLocal(rowTold, sid, nil)
}

// releaseLost writes the release of own claims that others have fenced, so
// that their end also stands in their holder's own stream.
func (r *Room) releaseLost(ctx context.Context) error {
	var due []event.Key
	r.view(func(look) { due = slices.Clone(r.fenced) })
	for some := range slices.Chunk(due, event.MaxFences) {
		_, err := r.decide(ctx, func(tx *journal.Tx) error {
			for _, k := range some {
				c, ok := tx.State().Claim(k)
				if !ok || !c.Live() || len(c.FencedBy) == 0 || r.releasing(tx, k) {
					continue
				}
				tx.Reserve()
				fence := c.FencedBy[0]
				if _, err := tx.Append(event.ClaimReleased{Claim: k, Session: c.Session.SID, Reason: reasonFenced, Fence: &fence}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		r.view(func(look) {
			r.fenced = slices.DeleteFunc(r.fenced, func(k event.Key) bool { return slices.Contains(some, k) })
		})
	}
	return nil
}
