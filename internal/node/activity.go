package node

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/comity-dev/comity/internal/clock"
)

// activity knows when the daemon was last asked for anything.
type activity struct {
	open atomic.Int64 // requests under way
	last atomic.Int64 // boot time of the last one's end, in nanoseconds
}

func (a *activity) count(h http.Handler, c clock.Clock) http.Handler {
	a.last.Store(int64(c.Boot()))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.open.Add(1)
		defer func() {
			a.last.Store(int64(c.Boot()))
			a.open.Add(-1)
		}()
		h.ServeHTTP(w, r)
	})
}

// idleFor is how long nothing has been asked; 0 while a request is open.
func (a *activity) idleFor(c clock.Clock) time.Duration {
	if a.open.Load() > 0 {
		return 0
	}
	return c.Boot() - time.Duration(a.last.Load())
}

// awaitIdle returns when nobody has needed the daemon for its idle time: no
// request, no session of this machine, no waiting claim.
func (n *node) awaitIdle(ctx context.Context) {
	for {
		left := n.opts.Idle - n.activity.idleFor(n.clock)
		if left <= 0 && !n.rooms.busy() {
			return
		}
		timer := n.clock.NewTimer(max(left, n.opts.Idle/10))
		select {
		case <-timer.C():
		case <-n.stopping.Done():
			timer.Stop()
			return
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}
