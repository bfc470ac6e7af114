package natsstore_test

import (
	"context"
	"errors"
	"net"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/comity-dev/comity/storage"
	"github.com/comity-dev/comity/storage/natsstore"
)

// openRemote opens a store over TCP, which finds the server again.
func openRemote(t testing.TB, s *server.Server, o natsstore.Options) *natsstore.Store {
	t.Helper()
	if o.LeaseTTL == 0 {
		o.LeaseTTL = testTTL
	}
	o.NATS = append(o.NATS, nats.ReconnectWait(5*time.Millisecond), nats.ReconnectJitter(time.Millisecond, time.Millisecond))
	st, err := natsstore.Open(t.Context(), s.ClientURL(), &o)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() { st.Close() })
	return st
}

func TestServerGoneAndBack(t *testing.T) {
	t.Parallel()
	o := synced(t)
	srv := startServer(t, o)
	s := openRemote(t, srv, natsstore.Options{})
	tip, err := s.Ledger().Append(t.Context(), "some/ledger", storage.Tip{}, []byte("one"))
	if err != nil {
		t.Fatal(err)
	}
	lease, err := s.Leaser().Acquire(t.Context(), "l")
	if err != nil {
		t.Fatal(err)
	}
	followed := make(chan string, 10)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() {
		for rec, err := range s.Ledger().Follow(ctx, "some/ledger", 1) {
			if err != nil {
				ended <- err
				return
			}
			followed <- string(rec.Data)
		}
	}()
	if got := <-followed; got != "one" {
		t.Fatalf("followed to %q", got)
	}

	o.Port = srv.Addr().(*net.TCPAddr).Port
	stopServer(srv)
	natsstore.SetTimeout(s, 200*time.Millisecond)
	wantUnavailable(t, s, tip)
	<-lease.Lost() // it cannot prove that it holds
	if err := lease.Release(t.Context()); !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("Release without a server = %v, want ErrUnavailable", err)
	}

	startServer(t, o)
	natsstore.SetTimeout(s, 10*time.Second)
	eventually(t, 10*time.Second, func() bool {
		next, err := s.Ledger().Append(t.Context(), "some/ledger", tip, []byte("two"))
		if err == nil {
			tip = next
		} else if !errors.Is(err, storage.ErrUnavailable) {
			t.Fatalf("Append = %v", err)
		}
		return err == nil
	})
	if got := <-followed; got != "two" || tip.Seq != 2 {
		t.Errorf("followed to %q, tip %v", got, tip)
	}
	if got := records(t, s, "some/ledger"); !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("the ledger holds %q", got)
	}
	if err := lease.Release(t.Context()); err != nil {
		t.Errorf("Release again: %v", err)
	}
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Follow ended with %v", err)
	}
}

// Without a server nothing is sent, so nothing is in doubt, and every error says
// what it was about.
func wantUnavailable(t *testing.T, s *natsstore.Store, tip storage.Tip) {
	t.Helper()
	eventually(t, 5*time.Second, func() bool { return !natsstore.Connected(s) })
	var unknown *storage.AmbiguousError
	_, err := s.Ledger().Append(t.Context(), "some/ledger", tip, []byte("x"))
	if !errors.Is(err, storage.ErrUnavailable) || errors.As(err, &unknown) ||
		!strings.Contains(err.Error(), "some/ledger") || !strings.Contains(err.Error(), "record 1") {
		t.Errorf("Append = %v, want ErrUnavailable with ledger and record", err)
	}
	calls := map[string]error{}
	_, calls["Tip"] = s.Ledger().Tip(t.Context(), "n")
	calls["Delete"] = s.Ledger().Delete(t.Context(), "n")
	for _, calls["Read"] = range s.Ledger().Read(t.Context(), "n", 1) {
	}
	for _, calls["Names"] = range s.Ledger().Names(t.Context(), "") {
	}
	_, calls["Acquire"] = s.Leaser().Acquire(t.Context(), "n")
	_, calls["Holder"] = s.Leaser().Holder(t.Context(), "n")
	_, _, calls["Get"] = s.KV().Get(t.Context(), "n")
	_, calls["Put"] = s.KV().Put(t.Context(), "n", 0, nil)
	_, calls["Stat"] = s.Blobs().Stat(t.Context(), "n", storage.DigestOf(nil))
	_, calls["Put of a blob"] = s.Blobs().Put(t.Context(), "n", storage.Digest{}, strings.NewReader("x"))
	for call, err := range calls {
		if !errors.Is(err, storage.ErrUnavailable) || errors.As(err, &unknown) {
			t.Errorf("%s without a server = %v, want ErrUnavailable", call, err)
		}
	}
}

func TestOpenWithoutServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	_, err = natsstore.Open(t.Context(), "nats://"+l.Addr().String(), &natsstore.Options{Timeout: time.Second})
	if !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("Open without a server = %v, want ErrUnavailable", err)
	}
}

func TestOpenRefuses(t *testing.T) {
	o := serverOptions(t)
	o.MaxPayload = 1 << 20
	small := startServer(t, o)
	if _, err := natsstore.Open(t.Context(), small.ClientURL(), nil); err == nil || !strings.Contains(err.Error(), "max_payload") {
		t.Errorf("Open of a server with a small max_payload = %v", err)
	}
	for _, o := range []natsstore.Options{{Name: "a.b"}, {Name: "*"}, {LeaseTTL: 1500 * time.Millisecond}, {LeaseTTL: time.Millisecond}} {
		if s, err := natsstore.Open(t.Context(), small.ClientURL(), &o); err == nil {
			s.Close()
			t.Errorf("Open with %+v = nil, want an error", o)
		}
	}
}

// A store that is full refuses, keeps what it has, and takes more when there is
// room.
func TestFull(t *testing.T) {
	srv := startServer(t, serverOptions(t))
	s := open(t, srv, natsstore.Options{MaxBytes: 2 << 20})
	rec := make([]byte, 300<<10)
	var tip storage.Tip
	var err error
	for range 20 {
		var next storage.Tip
		if next, err = s.Ledger().Append(t.Context(), "a", tip, rec); err != nil {
			break
		}
		tip = next
	}
	var unknown *storage.AmbiguousError
	if !errors.Is(err, storage.ErrNoSpace) || errors.As(err, &unknown) || tip.Seq == 0 {
		t.Fatalf("Append of record %d = %v, want ErrNoSpace", tip.Seq+1, err)
	}
	if _, err := s.Ledger().Append(t.Context(), "a", tip, slices.Repeat([][]byte{rec}, 8)...); !errors.Is(err, storage.ErrNoSpace) || errors.As(err, &unknown) {
		t.Errorf("Append of an atomic batch = %v, want ErrNoSpace", err)
	}
	if n := len(records(t, s, "a")); uint64(n) != tip.Seq {
		t.Errorf("%d records are there, %d were acknowledged", n, tip.Seq)
	}
	if _, err := s.Blobs().Put(t.Context(), "s", storage.Digest{}, strings.NewReader(strings.Repeat("x", 5<<20))); !errors.Is(err, storage.ErrNoSpace) || errors.As(err, &unknown) {
		t.Errorf("Put = %v, want ErrNoSpace", err)
	}
	if _, err := s.Blobs().Put(t.Context(), "s", storage.Digest{}, strings.NewReader("small")); err != nil {
		t.Errorf("Put of what fits, behind one that did not: %v", err)
	}
	if err := s.Ledger().Delete(t.Context(), "a"); err != nil { // its records make room
		t.Fatalf("Delete: %v", err)
	}
	if _, err := s.Ledger().Append(t.Context(), "b", storage.Tip{}, rec); err != nil {
		t.Errorf("Append when there is room: %v", err)
	}
}

// Close leaves nothing running.
func TestCloseLeavesNothing(t *testing.T) {
	srv := startServer(t, serverOptions(t))
	open(t, srv, natsstore.Options{}).Close() // what is made once
	before := runtime.NumGoroutine()
	s := openRemote(t, srv, natsstore.Options{})
	for _, name := range []string{"a", "b", "c"} {
		if _, err := s.Ledger().Append(t.Context(), name, storage.Tip{}, []byte("x")); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Leaser().Acquire(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		for range s.Ledger().Follow(t.Context(), name, 1) {
			break
		}
	}
	ended := make(chan error)
	go func() {
		for _, err := range s.Ledger().Follow(context.Background(), "a", 2) {
			ended <- err
		}
	}()
	s.Close()
	if err := <-ended; !errors.Is(err, storage.ErrClosed) {
		t.Errorf("Follow ended with %v, want ErrClosed", err)
	}
	eventually(t, 5*time.Second, func() bool { return runtime.NumGoroutine() <= before })
	other := open(t, srv, natsstore.Options{})
	if epoch, err := other.Leaser().Holder(t.Context(), "a"); epoch != 0 || err != nil {
		t.Errorf("Holder = %d, %v: Close must end the grants", epoch, err)
	}
}
