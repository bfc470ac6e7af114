package store_test

import (
	"bytes"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/session/store"
	"github.com/comity-dev/comity/storage"
	"github.com/comity-dev/comity/storage/natsstore"
	"github.com/comity-dev/comity/storage/storagetest"
)

// A valve is a line to a server that can hold what is written, until it is
// opened.
type valve struct {
	srv *server.Server
	net.Conn
	mu   sync.Mutex
	shut bool
	held bytes.Buffer
}

// InProcessConn makes the line of a client.
func (v *valve) InProcessConn() (c net.Conn, err error) {
	v.Conn, err = v.srv.InProcessConn()
	return v, err
}

func (v *valve) Write(p []byte) (int, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.shut {
		return v.held.Write(p)
	}
	return v.Conn.Write(p)
}

func (v *valve) set(shut bool) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.shut = shut
	if shut {
		return nil
	}
	_, err := v.held.WriteTo(v.Conn)
	return err
}

// Owners on machines of their own, each of which falls silent in the middle of an
// append for longer than its lease lasts, and wakes up when others have written:
// its lease has told it by its own clock, its append and its late renewals change
// nothing, and the history is that of one fenced log.
func TestOwnersExpire(t *testing.T) {
	if testing.Short() {
		t.Skip("a lease on a server ends in real time")
	}
	t.Parallel()
	srv := natsServer(t)
	const owners, sessions = 3, 6
	var valves [owners]*valve
	var clients [owners]storage.Backend
	for i := range owners {
		valves[i] = &valve{srv: srv}
		b, err := natsstore.Open(t.Context(), "", &natsstore.Options{LeaseTTL: time.Second, NATS: []nats.Option{nats.InProcessServer(valves[i])}})
		if err != nil {
			t.Fatal(err)
		}
		clients[i] = closing(t, b)
	}
	var races [sessions]*chronicle
	var all [sessions][owners]*owner
	for k := range sessions {
		races[k] = new(chronicle)
		for i := range owners {
			f := storagetest.NewFaults(clients[i], func(int, string, string) storagetest.Fate { return storagetest.Pass })
			g := &turnstile{Backend: f}
			// That the first owners hear of their loss late is their own affair; the last
			// one must not lose its lease to a slow machine.
			all[k][i] = &owner{n: i, s: newStore(t, g, nil), stile: g, faults: f, session: id(2000 + k), history: races[k], deaf: k%2 == 0 || i == owners-1}
		}
	}
	var wg sync.WaitGroup
	var free []func()
	for i := range owners {
		for k := range sessions {
			o := all[k][i]
			began := o.history.begin()
			lease := o.inherit(t, all[k][:i])
			if how := o.openUnder(t.Context(), began, lease); how != acked {
				t.Fatalf("session %d, owner %d: its opening is %v", k, i, how)
			}
			for range 2 {
				if how := o.append(t.Context(), 2); how != acked && (how != lost || o.deaf) {
					t.Errorf("session %d, owner %d: an append is %v", k, i, how)
				}
			}
			if i == owners-1 {
				continue
			}
			reached, release := o.stile.hold(before)
			free = append(free, release)
			over := make(chan struct{})
			wg.Go(func() {
				defer close(over)
				o.first = o.append(t.Context(), 2)
				o.later = append(o.later, o.append(t.Context(), 1))
			})
			select {
			case <-reached:
			case <-over: // a slow machine has lost its lease already
			}
		}
		if i == owners-1 {
			break
		}
		if err := valves[i].set(true); err != nil {
			t.Fatal(err)
		}
		for k := range sessions {
			<-all[k][i].lease.Lost()
		}
	}
	for i := range owners {
		if err := valves[i].set(false); err != nil {
			t.Fatal(err)
		}
	}
	for _, release := range free {
		release()
	}
	wg.Wait()
	r := round{owners: owners, at: before}
	for k := range sessions {
		last := all[k][owners-1]
		if how := last.append(t.Context(), 3); how != acked {
			t.Errorf("session %d: the last owner's append, when the others have woken up, is %v", k, how)
		}
		r.session, r.deaf = last.session, k%2 == 0
		err := races[k].read(t.Context(), clients[0], "sessions/"+string(r.session))
		if err = errors.Join(err, races[k].judge(), r.stale(all[k][:])); err != nil {
			t.Errorf("session %d: %v", k, err)
		}
		r.wantNoTrace(t, races[k], all[k][:], clients[0])
	}
}

// inherit acquires a session once the grants of those before have ended by
// themselves, and wants them to have given up by then.
func (o *owner) inherit(t *testing.T, before []*owner) *store.Lease {
	t.Helper()
	ask := time.NewTicker(10 * time.Millisecond) // nothing tells of an expiry but the server, when asked
	defer ask.Stop()
	for {
		lease, err := o.s.Acquire(t.Context(), o.session)
		if _, held := as[*journal.LeaseHeldError](err); held {
			select {
			case <-ask.C:
				continue
			case <-t.Context().Done():
			}
		}
		if err != nil {
			t.Fatalf("owner %d: %v", o.n, err)
		}
		for _, b := range before {
			if b.lease.Valid() || b.lease.Epoch() >= lease.Epoch() {
				t.Errorf("owner %d has epoch %d, and the one before epoch %d, valid %v", o.n, lease.Epoch(), b.lease.Epoch(), b.lease.Valid())
			}
		}
		return lease
	}
}
