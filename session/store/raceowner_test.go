package store_test

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/session/store"
	"github.com/comity-dev/comity/storage"
	"github.com/comity-dev/comity/storage/storagetest"
)

// A turnstile holds an owner back at one moment, until it is let go: the longest
// pause that it can make.
type turnstile struct {
	storage.Backend
	mu      sync.Mutex
	at      moment
	reached chan struct{}
	open    chan struct{}
}

type moment uint8

const (
	never   moment = iota
	before         // the append has not reached the store
	behind         // it is done, and its owner has not heard of it
	granted        // the owner has the lease, and has not begun to open the session
)

// hold arms the turnstile for the next time. reached is closed when the owner has come
// to it.
func (g *turnstile) hold(at moment) (reached <-chan struct{}, release func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.at, g.reached, g.open = at, make(chan struct{}), make(chan struct{})
	return g.reached, sync.OnceFunc(func() { close(g.open) })
}

// pass waits, if the turnstile is armed for this moment.
func (g *turnstile) pass(now moment) {
	g.mu.Lock()
	armed, reached, open := g.at == now, g.reached, g.open
	if armed {
		g.at = never
	}
	g.mu.Unlock()
	if armed {
		close(reached)
		<-open
	}
}

func (g *turnstile) Ledger() storage.Ledger { return gatedLedger{g.Backend.Ledger(), g} }

type gatedLedger struct {
	storage.Ledger
	g *turnstile
}

func (l gatedLedger) Append(ctx context.Context, name string, expected storage.Tip, recs ...[]byte) (storage.Tip, error) {
	l.g.pass(before)
	tip, err := l.Ledger.Append(context.WithoutCancel(ctx), name, expected, recs...)
	l.g.pass(behind)
	return tip, err
}

// An owner is one that was given a session, and may not know that it has lost it.
type owner struct {
	n       int
	s       *store.Store
	stile   *turnstile
	faults  *storagetest.Faults
	session event.ID
	history *chronicle
	deaf    bool // it never hears that its lease has ended
	lease   *store.Lease
	w       *store.Writer
	wrote   int
	first   outcome   // of what the turnstile held
	later   []outcome // of what came behind it
}

// seize acquires the session, from whoever has it.
func (o *owner) seize(ctx context.Context) (*store.Lease, error) {
	for {
		lease, err := o.s.Acquire(ctx, o.session)
		if held, ok := as[*journal.LeaseHeldError](err); ok {
			lease, err = o.s.Takeover(ctx, o.session, storage.Proof{Epoch: held.Epoch, Reason: "it hangs"})
		}
		if _, again := as[*journal.LeaseHeldError](err); !again {
			return lease, err
		}
	}
}

// open seizes the session and opens it.
func (o *owner) open(ctx context.Context) outcome {
	began := o.history.begin()
	lease, err := o.seize(ctx)
	if err != nil {
		return o.history.end(began, o.n, question{op: "open"}, answer{how: failed}, err)
	}
	o.stile.pass(granted)
	return o.openUnder(ctx, began, lease)
}

func (o *owner) openUnder(ctx context.Context, began int64, lease *store.Lease) outcome {
	o.close(ctx)
	o.lease = lease
	given := journal.Lease(lease)
	if o.deaf {
		given = deafLease{lease}
	}
	w, err := o.s.OpenUnder(ctx, given, nil)
	a := answer{how: outcomeOf(err), epoch: lease.Epoch()}
	if err == nil {
		o.w = w
		a.seq, err = w.Tip(ctx)
		a.how = outcomeOf(err)
	}
	return o.history.end(began, o.n, question{op: "open"}, a, err)
}

// append appends n records as one, and finds out what became of it, if it can.
func (o *owner) append(ctx context.Context, n int) outcome {
	q := question{op: "append", epoch: o.w.Epoch()}
	var recs []journal.JournalRecord
	o.wrote++
	for i := range n {
		q.ids = append(q.ids, fmt.Sprintf("%d.%d.%d", o.n, o.wrote, i))
		recs = append(recs, note(q.ids[i], "x"))
	}
	began := o.history.begin()
	res, err := o.w.AppendBatch(ctx, recs...)
	if outcomeOf(err) == unsure {
		res, err = o.w.Resolve(ctx)
	}
	a := answer{how: outcomeOf(err)}
	for i, r := range res {
		if i == 0 {
			a.seq = r.Sequence
		}
		if !r.Appended || r.Sequence != a.seq+uint64(i) {
			a.how, err = failed, fmt.Errorf("record %d of a batch: %+v", i, r)
		}
	}
	return o.history.end(began, o.n, q, a, err)
}

// outcomeOf wants each refusal to have its type.
func outcomeOf(err error) outcome {
	var doubt *journal.AmbiguousAckError
	var opening *store.OpeningFenceConflictError
	var stale *store.StaleEpochError
	var refused *journal.AppendError
	var over *journal.FencedError
	var ended *journal.JournalLeaseLostError
	switch {
	case err == nil:
		return acked
	case errors.As(err, &doubt):
		return unsure
	case errors.As(err, &opening), errors.As(err, &ended):
		return lost
	case errors.As(err, &stale), errors.As(err, &refused) && errors.As(err, &over):
		return fenced
	}
	return failed
}

// reign opens the session and writes to it until something is not acknowledged.
func (o *owner) reign(ctx context.Context, appends int) {
	how := o.open(ctx)
	for i := 0; i < appends && how == acked; i++ {
		how = o.append(ctx, 1+i%3)
	}
}

func (o *owner) close(ctx context.Context) {
	if o.w != nil {
		o.w.Close()
		o.w = nil
	}
	if o.lease != nil {
		o.lease.Release(ctx)
		o.lease = nil
	}
}
