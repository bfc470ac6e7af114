package natsstore

import (
	"context"
	"errors"
	"iter"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/comity-dev/comity/storage"
)

// The server sends a heartbeat to a watch that has nothing to see. When three
// are missing, the watch is made again. After so many in a row, the leader is
// asked for the tip: the server that pushes is any replica, and may be far behind.
const (
	heartbeat = 2 * time.Second
	manyBeats = 15
)

// A watch tells the followers of a ledger where its tip is. The server pushes
// the heads of new messages to it; the records themselves are read in batches,
// by each follower at its own pace, so a message that is lost on the way to
// a watch does no harm: the next one, or the next heartbeat, shows the tip too.
type watch struct {
	followers int
	stop      context.CancelFunc
	done      chan struct{} // closed when it has ended

	ready bool          // tip is not older than the watch
	err   error         // the last message is damaged, which ends all followers
	tip   place         // of the last message that was seen
	moved chan struct{} // closed when tip or ready changes; nil when nobody waits
}

// join returns the watch of a ledger, and starts it for the first follower.
func (s *Store) join(l *ledger, name string) (*watch, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, storage.ErrClosed
	}
	if l.watch == nil {
		ctx, stop := context.WithCancel(s.ctx)
		w := &watch{stop: stop, done: make(chan struct{})}
		l.watch = w
		s.wg.Go(func() {
			defer close(w.done)
			s.run(ctx, l, w, name)
		})
	}
	l.watch.followers++
	return l.watch, nil
}

// part leaves a watch, which ends with its last follower.
func (s *Store) part(l *ledger, w *watch) {
	s.mu.Lock()
	w.followers--
	last := w.followers == 0
	if last {
		l.watch = nil
		w.stop()
	}
	s.mu.Unlock()
	if last {
		<-w.done
	}
}

// run keeps a watch until ctx ends.
func (s *Store) run(ctx context.Context, l *ledger, w *watch, name string) {
	for wait := 10 * time.Millisecond; ctx.Err() == nil; wait = min(2*wait, time.Second) {
		if s.listen(ctx, l, w, name) {
			wait = 10 * time.Millisecond
		}
		pause(ctx, wait)
	}
}

// listen hears the server until it falls silent or ctx ends. It reports whether
// there was something to hear.
func (s *Store) listen(ctx context.Context, l *ledger, w *watch, name string) bool {
	s.mu.Lock()
	line := s.line
	s.mu.Unlock()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(line, stop)()
	inbox := s.nc.NewInbox()
	sub, err := s.nc.SubscribeSync(inbox)
	if err != nil {
		return false
	}
	defer sub.Unsubscribe()
	sub.SetPendingLimits(-1, -1) // heads are small and taken at once
	lctx, cancel := s.limit(ctx)
	defer cancel()
	c, err := s.js.CreatePushConsumer(lctx, s.names.ledgers, jetstream.ConsumerConfig{
		DeliverSubject:    inbox,
		DeliverPolicy:     jetstream.DeliverLastPerSubjectPolicy,
		FilterSubject:     s.names.ledger + token(name),
		AckPolicy:         jetstream.AckNonePolicy,
		MaxDeliver:        1,
		HeadersOnly:       true,
		MemoryStorage:     true,
		Replicas:          1,
		IdleHeartbeat:     heartbeat,
		InactiveThreshold: 5 * heartbeat,
	})
	if err != nil {
		return false
	}
	defer s.drop(c.CachedInfo().Name)
	p, err := s.find(lctx, l, name)
	var damaged *storage.DamagedError
	if err != nil && !errors.As(err, &damaged) {
		return false
	}
	s.see(l, w, p, err)
	for beats := 0; ; {
		hctx, cancel := context.WithTimeout(ctx, 3*heartbeat)
		msg, err := sub.NextMsgWithContext(hctx)
		cancel()
		if err != nil || !s.hear(l, w, msg) {
			return true
		}
		if beats++; msg.Header.Get("Status") == "" {
			beats = 0
		}
		if beats == manyBeats {
			beats = 0
			fctx, cancel := s.limit(ctx)
			p, err := s.find(fctx, l, name)
			cancel()
			if err != nil {
				return true
			}
			s.see(l, w, p, nil)
		}
	}
}

// drop removes the server's side of a watch, which would end by itself soon.
func (s *Store) drop(consumer string) {
	s.nc.Publish("$JS.API.CONSUMER.DELETE."+s.names.ledgers+"."+consumer, nil)
}

// hear takes a message for a watch. It reports false when the watch must be made
// again.
func (s *Store) hear(l *ledger, w *watch, msg *nats.Msg) bool {
	status := msg.Header.Get("Status")
	if status == "" {
		meta, err := msg.Metadata()
		if err != nil {
			return false
		}
		m := &stored{seq: meta.Sequence.Stream}
		m.head, m.bad = parseFields(msg.Header.Get(headKey))
		p, err := placeOf(m)
		if err != nil {
			return false // it is looked at when the watch is made again
		}
		s.see(l, w, p, nil)
		return true
	}
	if status != "100" {
		return false
	}
	if msg.Reply != "" { // flow control wants to know that we are here
		msg.Respond(nil)
	}
	last, _ := strconv.ParseUint(msg.Header.Get("Nats-Last-Stream"), 10, 64)
	p := s.known(l)
	s.see(l, w, p, nil) // what this store knows by itself
	return last <= p.at
}

// see notes the tip that a watch was shown and wakes its followers.
func (s *Store) see(l *ledger, w *watch, p place, err error) {
	s.know(l, p)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil && w.ready && p.at <= w.tip.at {
		return
	}
	if w.ready, w.err = true, err; err == nil {
		w.tip = p
	}
	if w.moved != nil {
		close(w.moved)
		w.moved = nil
	}
}

// look returns the tip that a watch has, if it has one, and a channel that is
// closed when it moves.
func (s *Store) look(w *watch) (tip place, ready bool, moved <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.moved == nil {
		w.moved = make(chan struct{})
	}
	return w.tip, w.ready, w.moved, w.err
}

func (v ledgers) Follow(ctx context.Context, name string, from uint64) iter.Seq2[storage.Record, error] {
	return func(yield func(storage.Record, error) bool) {
		s := v.s
		if err := s.enter(ctx, name); err != nil {
			yield(storage.Record{}, err)
			return
		}
		ctx, stop := s.reading(ctx)
		defer stop()
		l := s.use(name)
		defer s.leave(l)
		w, err := s.join(l, name)
		if err != nil {
			yield(storage.Record{}, err)
			return
		}
		defer s.part(l, w)
		c := cursor{s: s, l: l, name: name, next: max(from, 1)}
		for begun := false; ; {
			tip, err := s.await(ctx, w, &c, begun)
			if err != nil {
				yield(storage.Record{}, err)
				return
			}
			c.tip, begun = tip, true
			more, err := c.run(ctx, yield)
			switch {
			case !more:
				return
			case errors.Is(err, storage.ErrUnavailable): // it waits for the server too
				pause(ctx, 100*time.Millisecond)
			case err != nil:
				yield(storage.Record{}, err)
				return
			}
		}
	}
}

// await waits until the record c.next is there, and returns the tip. Before
// the first time, the ledger may yet begin; later, its life may end.
func (s *Store) await(ctx context.Context, w *watch, c *cursor, begun bool) (place, error) {
	for {
		if err := s.over(ctx); err != nil {
			return place{}, err
		}
		tip, ready, moved, err := s.look(w)
		if ready && c.tip.tip.Seq == 0 && !begun && tip.tip.Seq > 0 {
			c.tip = tip // from now on it is this life
			begun = true
		}
		switch {
		case ready && begun && tip.tip.Gen != c.tip.tip.Gen:
			return place{}, &storage.DeletedError{Name: c.name, Seq: c.next}
		case ready && tip.tip.Seq >= c.next:
			return tip, nil
		case err != nil:
			return place{}, err
		}
		select {
		case <-moved:
		case <-ctx.Done():
		}
	}
}
