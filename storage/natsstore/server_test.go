package natsstore_test

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/comity-dev/comity/storage"
	"github.com/comity-dev/comity/storage/natsstore"
	"github.com/comity-dev/comity/storage/storagetest"
)

// serverOptions are those of a server on a free port of the loopback. It syncs
// now and then; synced is for the tests in which that could matter.
func serverOptions(t testing.TB) *server.Options {
	return &server.Options{
		Host: "127.0.0.1", Port: -1, NoLog: true, NoSigs: true, MaxPayload: 8 << 20,
		JetStream: true, StoreDir: t.TempDir(), DisableJetStreamBanner: true,
	}
}

// synced are serverOptions of a server that syncs what it acknowledges.
func synced(t testing.TB) *server.Options {
	o := serverOptions(t)
	o.SyncAlways = true
	return o
}

func startServer(t testing.TB, o *server.Options) *server.Server {
	t.Helper()
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { stopServer(s) })
	if !s.ReadyForConnections(20 * time.Second) {
		t.Fatal("the server does not start")
	}
	return s
}

func stopServer(s *server.Server) {
	s.Shutdown()
	s.WaitForShutdown()
}

const testTTL = 2 * time.Second

func open(t testing.TB, s *server.Server, o natsstore.Options) *natsstore.Store {
	t.Helper()
	if o.LeaseTTL == 0 {
		o.LeaseTTL = testTTL
	}
	o.NATS = append(o.NATS, nats.InProcessServer(s))
	st, err := natsstore.Open(t.Context(), s.ClientURL(), &o)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() { st.Close() })
	return st
}

// harness makes stores of one server, each with a name of its own.
func harness(t *testing.T) storagetest.Harness {
	s := startServer(t, synced(t))
	names := map[storage.Backend]string{}
	n := 0
	again := func(t testing.TB, name string) storage.Backend {
		b := open(t, s, natsstore.Options{Name: name})
		names[b] = name
		return b
	}
	return storagetest.Harness{
		Open: func(t testing.TB) storage.Backend {
			n++
			return again(t, "store"+string(rune('a'+n%26))+string(rune('a'+n/26)))
		},
		Reopen: func(t testing.TB, b storage.Backend) storage.Backend { return again(t, names[b]) },
		View:   func(t testing.TB, b storage.Backend) storage.Backend { return again(t, names[b]) },
		Expire: func(t testing.TB, b storage.Backend, l storage.Lease) { expire(t, b, l) },
	}
}

// expire has the holder of a grant hang until the server has ended it.
func expire(t testing.TB, b storage.Backend, l storage.Lease) {
	t.Helper()
	natsstore.Stall(l)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		epoch, err := b.Leaser().Holder(ctx, l.Name())
		if err != nil {
			t.Fatalf("Holder: %v", err)
		}
		if epoch == 0 {
			return
		}
		<-tick.C
	}
}

func TestStore(t *testing.T) {
	t.Parallel()
	storagetest.Run(t, harness(t))
}
