package journal

import (
	"slices"
	"time"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
)

// A View is the journal at one moment, under its lock. It is void when the
// function that got it returns, and so is all that its methods give.
type View struct{ j *Journal }

// View calls f under the lock. f must be short and must not call the journal.
func (j *Journal) View(f func(View)) {
	j.lock()
	defer j.unlock()
	f(View{j})
}

// State is the fold of what is synced. It must not be changed.
func (v View) State() *fold.State { return v.j.state }

// Pending are the own events that are numbered and not yet synced, in order.
func (v View) Pending() []*event.Event { return slices.Clip(v.j.pending) }

// Runtime is the runtime whose journal it is.
func (v View) Runtime() ident.Runtime { return v.j.runtime }

// Clock is the highest stamp seen or given out.
func (v View) Clock() uint64 { return v.j.stamp }

// Local is the synced value of a local row; nil when there is none.
func (v View) Local(kind, key string) []byte { return v.j.rows.of(kind, key) }

// Liveness judges a stream: see [Journal.Liveness].
func (v View) Liveness(s ident.Stream) Liveness {
	l, _ := v.j.liveness(s)
	return l
}

// Left is how long a stream that is Unknown can stay so.
func (v View) Left(s ident.Stream) time.Duration {
	_, left := v.j.liveness(s)
	return left
}
