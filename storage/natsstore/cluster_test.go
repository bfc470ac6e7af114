package natsstore_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/comity-dev/comity/storage"
	"github.com/comity-dev/comity/storage/natsstore"
	"github.com/comity-dev/comity/storage/storagetest"
)

// A cluster is three servers in this process.
type cluster struct {
	t       testing.TB
	options [3]*server.Options

	mu      sync.Mutex
	servers [3]*server.Server
}

func startCluster(t testing.TB) *cluster {
	c := &cluster{t: t}
	routes := freeAddresses(t, len(c.servers))
	for i := range c.servers {
		o := synced(t)
		o.ServerName = fmt.Sprint("s", i)
		o.Cluster = server.ClusterOpts{Name: "test", Host: "127.0.0.1", Port: routes[i].Port}
		for j, r := range routes {
			if j != i {
				o.Routes = append(o.Routes, &url.URL{Scheme: "nats", Host: r.String()})
			}
		}
		c.options[i] = o
		c.start(i)
	}
	t.Cleanup(func() {
		for i := range c.servers {
			c.stop(i)
		}
	})
	c.await(func(s *server.Server) bool { return s.JetStreamIsLeader() })
	return c
}

// freeAddresses returns addresses that nobody listened on just now: the servers
// of a cluster must know each other's before they start.
func freeAddresses(t testing.TB, n int) (list []*net.TCPAddr) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		list = append(list, l.Addr().(*net.TCPAddr))
	}
	return list
}

func (c *cluster) start(i int) {
	s, err := server.NewServer(c.options[i].Clone())
	if err != nil {
		c.t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(20 * time.Second) {
		c.t.Fatal("the server does not start")
	}
	c.mu.Lock()
	c.servers[i] = s
	c.mu.Unlock()
	if p, ok := s.Addr().(*net.TCPAddr); ok {
		c.options[i].Port = p.Port // the same when it is started again
	}
}

func (c *cluster) stop(i int) {
	c.mu.Lock()
	s := c.servers[i]
	c.servers[i] = nil
	c.mu.Unlock()
	if s != nil {
		stopServer(s)
	}
}

// find returns the first server that is as wanted, or -1.
func (c *cluster) find(is func(*server.Server) bool) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, s := range c.servers {
		if s != nil && is(s) {
			return i
		}
	}
	return -1
}

func (c *cluster) await(is func(*server.Server) bool) int {
	c.t.Helper()
	found := -1
	eventually(c.t, 30*time.Second, func() bool {
		found = c.find(is)
		return found >= 0
	})
	return found
}

func leads(stream string) func(*server.Server) bool {
	return func(s *server.Server) bool { return s.JetStreamIsStreamLeader("$G", stream) }
}

func (c *cluster) url() string {
	urls := ""
	for i, o := range c.options {
		if i > 0 {
			urls += ","
		}
		urls += fmt.Sprint("nats://127.0.0.1:", o.Port)
	}
	return urls
}

func (c *cluster) open(o natsstore.Options) *natsstore.Store {
	c.t.Helper()
	o.Replicas, o.LeaseTTL = 3, testTTL
	o.NATS = []nats.Option{nats.ReconnectWait(20 * time.Millisecond)}
	s, err := natsstore.Open(context.Background(), c.url(), &o)
	if err != nil {
		c.t.Fatalf("Open: %v", err)
	}
	c.t.Cleanup(func() { s.Close() })
	return s
}

// eventually waits until something outside of the test is so.
func eventually(t testing.TB, d time.Duration, is func() bool) {
	t.Helper()
	deadline := time.NewTimer(d)
	defer deadline.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("it is not so after %v", d)
		}
	}
}

// Writers append while the leader of their stream is stopped and started again,
// over and over. What was acknowledged must be there once and in its place; what
// was not known may be there once; what was refused, never.
func TestNoAppendIsLostWhenTheLeaderStops(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	s := c.open(natsstore.Options{Timeout: 8 * time.Second})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var acked atomic.Int64
	var wg sync.WaitGroup
	writers := make([]*chronicle, 4)
	for w := range writers {
		writers[w] = &chronicle{name: fmt.Sprint("w", w), known: map[uint64]string{}, doubt: map[string]bool{}, never: map[string]bool{}}
		wg.Go(func() { writers[w].write(ctx, t, s.Ledger(), &acked) })
	}
	followed := make(chan error, 1)
	fctx, unfollow := context.WithCancel(t.Context())
	defer unfollow()
	var seen atomic.Uint64
	wg.Go(func() { followed <- followDense(fctx, s.Ledger(), "w0", &seen) })

	rounds := 2
	if os.Getenv("COMITY_LONG") != "" {
		rounds = 8
	}
	more := func(n int64) func() bool {
		from := acked.Load()
		return func() bool { return acked.Load() >= from+n }
	}
	eventually(t, 30*time.Second, more(50))
	for range rounds {
		leader := c.await(leads("comity_ledgers"))
		c.stop(leader)
		within(t, c, writers, more(50))
		c.start(leader)
		within(t, c, writers, more(50))
		c.await(func(s *server.Server) bool { // one at a time
			return s == c.servers[leader] && s.JetStreamIsStreamCurrent("$G", "comity_ledgers")
		})
	}
	stop()
	tip := func() uint64 {
		tip, err := s.Ledger().Tip(t.Context(), "w0")
		if err != nil {
			t.Fatal(err)
		}
		return tip.Seq
	}
	eventually(t, 30*time.Second, func() bool { return len(followed) > 0 || seen.Load() >= tip() })
	unfollow()
	wg.Wait()
	if err := <-followed; !errors.Is(err, context.Canceled) {
		t.Errorf("Follow ended behind record %d of %d with %v, want context.Canceled", seen.Load(), tip(), err)
	}
	other := c.open(natsstore.Options{})
	for _, w := range writers {
		w.check(t, other.Ledger())
		t.Logf("%s: %d acknowledged, %d in doubt, %d refused", w.name, len(w.known), len(w.doubt), len(w.never))
	}
}

// within waits for the writers to go on, and says what keeps them from it.
func within(t testing.TB, c *cluster, writers []*chronicle, is func() bool) {
	t.Helper()
	done := false
	defer func() {
		if !done {
			t.Log("leader of the stream:", c.find(leads("comity_ledgers")))
			for _, w := range writers {
				t.Log(w.name, w.last.Load())
			}
		}
	}()
	eventually(t, 60*time.Second, is)
	done = true
}

// A chronicle is what a writer was told.
type chronicle struct {
	name  string
	last  atomic.Value      // how its last failure was told
	known map[uint64]string // acknowledged
	doubt map[string]bool   // ambiguous
	never map[string]bool   // refused
}

// write appends until ctx ends, and goes on behind each failure from where the
// ledger is.
func (c *chronicle) write(ctx context.Context, t testing.TB, l storage.Ledger, acked *atomic.Int64) {
	var tip storage.Tip
	for n := 0; ctx.Err() == nil; n++ {
		rec := fmt.Sprint(c.name, " ", n)
		size := 1 + n%3
		var recs [][]byte
		for i := range size {
			recs = append(recs, fmt.Append(nil, rec, " ", i))
		}
		next, err := l.Append(context.Background(), c.name, tip, recs...)
		if err != nil {
			c.last.Store(time.Now().Format(time.StampMilli) + ": " + err.Error())
		}
		var unknown *storage.AmbiguousError
		var conflict *storage.ConflictError
		switch {
		case err == nil:
			for i := range size {
				c.known[tip.Seq+uint64(i)+1] = string(recs[i])
			}
			tip = next
			acked.Add(1)
			continue
		case errors.As(err, &unknown):
			c.doubt[rec] = true
		case errors.As(err, &conflict), errors.Is(err, storage.ErrUnavailable):
			c.never[rec] = true
		default:
			t.Errorf("Append: %v", err)
			return
		}
		for ctx.Err() == nil {
			if tip, err = l.Tip(context.Background(), c.name); err == nil {
				break
			}
			c.last.Store(time.Now().Format(time.StampMilli) + ": " + err.Error())
			if !errors.Is(err, storage.ErrUnavailable) {
				t.Errorf("Tip: %v", err)
				return
			}
		}
	}
}

func (c *chronicle) check(t testing.TB, l storage.Ledger) {
	t.Helper()
	there := map[string]uint64{}
	next := uint64(1)
	for rec, err := range l.Read(t.Context(), c.name, 1) {
		if err != nil {
			t.Fatalf("Read of %s: %v", c.name, err)
		}
		data := string(rec.Data)
		if rec.Seq != next {
			t.Errorf("%s: record %d came where %d was next", c.name, rec.Seq, next)
		}
		next++
		if before := there[data]; before != 0 {
			t.Errorf("%s: %q is record %d and record %d", c.name, data, before, rec.Seq)
		}
		there[data] = rec.Seq
		var w string
		var n, i int
		fmt.Sscan(data, &w, &n, &i)
		whose := fmt.Sprint(w, " ", n)
		if want, ok := c.known[rec.Seq]; ok && want != data {
			t.Errorf("%s: record %d is %q, %q was acknowledged", c.name, rec.Seq, data, want)
		} else if !ok && !c.doubt[whose] {
			t.Errorf("%s: record %d is %q, which was refused: %v", c.name, rec.Seq, data, c.never[whose])
		}
	}
	for seq, data := range c.known {
		if there[data] != seq {
			t.Errorf("%s: record %d, %q, was acknowledged and is not there", c.name, seq, data)
		}
	}
}

// followDense wants each record once and in order.
func followDense(ctx context.Context, l storage.Ledger, name string, seen *atomic.Uint64) error {
	for rec, err := range l.Follow(ctx, name, 1) {
		if err != nil {
			return err
		}
		if rec.Seq != seen.Load()+1 {
			return fmt.Errorf("followed to record %d behind %d", rec.Seq, seen.Load())
		}
		seen.Store(rec.Seq)
	}
	return nil
}

// The suite on three replicas, of which any may answer what is read. It takes
// a minute.
func TestStoreOnCluster(t *testing.T) {
	if os.Getenv("COMITY_LONG") == "" {
		t.Skip("COMITY_LONG is not set")
	}
	c := startCluster(t)
	names := map[storage.Backend]string{}
	again := func(name string) storage.Backend {
		b := c.open(natsstore.Options{Name: name})
		names[b] = name
		return b
	}
	n := 0
	storagetest.Run(t, storagetest.Harness{
		Open: func(testing.TB) storage.Backend {
			n++
			return again(fmt.Sprint("store", n))
		},
		Reopen: func(_ testing.TB, b storage.Backend) storage.Backend { return again(names[b]) },
		View:   func(_ testing.TB, b storage.Backend) storage.Backend { return again(names[b]) },
		Expire: func(t testing.TB, b storage.Backend, l storage.Lease) { expire(t, b, l) },
	})
}
