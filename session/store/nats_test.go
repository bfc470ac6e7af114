package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/storage"
	"github.com/comity-dev/comity/storage/natsstore"
)

// natsBackend is a store on a server of its own, within this process.
func natsBackend(t testing.TB) storage.Backend {
	return natsClient(t, natsServer(t))
}

func natsServer(t testing.TB) *server.Server {
	t.Helper()
	srv, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: -1, DontListen: true, NoLog: true, NoSigs: true, MaxPayload: 8 << 20,
		JetStream: true, StoreDir: t.TempDir(), DisableJetStreamBanner: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	srv.Start()
	t.Cleanup(func() {
		srv.Shutdown()
		srv.WaitForShutdown()
	})
	if !srv.ReadyForConnections(20 * time.Second) {
		t.Fatal("the server does not start")
	}
	return srv
}

func natsClient(t testing.TB, srv *server.Server) storage.Backend {
	t.Helper()
	s, err := natsstore.Open(t.Context(), "", &natsstore.Options{LeaseTTL: 2 * time.Second, NATS: []nats.Option{nats.InProcessServer(srv)}})
	if err != nil {
		t.Fatal(err)
	}
	return closing(t, s)
}

// Two machines on one server: what one writes, the other follows; when the other
// takes the session over, the first one's next append is refused, and its context
// ends; and the session goes on without a gap.
func TestTwoMachines(t *testing.T) {
	if testing.Short() {
		t.Skip("a lease on a server ends in real time")
	}
	srv := natsServer(t)
	here, there := newStore(t, natsClient(t, srv), nil), newStore(t, natsClient(t, srv), nil)
	first, err := here.Open(t.Context(), session, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	c, err := there.Records().Open(t.Context(), journal.ReplayRequest{SessionID: session, Follow: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	next := func(want string) {
		t.Helper()
		rec, _, err := c.Next(t.Context())
		if err != nil || rec.IdempotencyID() != want {
			t.Fatalf("followed %v, %v, want %s", rec, err, want)
		}
	}
	next(fmt.Sprint(first.Epoch()))
	for i := range 20 {
		mustAppend(t, first, note(fmt.Sprint("first", i), strings.Repeat("x", i*10_000)))
		next(fmt.Sprint("first", i))
	}
	held := want[*journal.LeaseHeldError](t, "Open", second(there.Open(t.Context(), session, nil)))
	lease, err := there.Takeover(t.Context(), session, storage.Proof{Epoch: held.Epoch, Reason: "test"})
	if err != nil {
		t.Fatal(err)
	}
	now, err := there.OpenUnder(t.Context(), lease, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer now.Close()
	next(fmt.Sprint(now.Epoch()))
	if seq, err := first.Append(t.Context(), note("stale", "x")); err == nil {
		t.Fatalf("the first owner wrote record %d", seq)
	}
	<-first.Context().Done()
	if res, err := now.AppendIdempotent(t.Context(), note("first7", strings.Repeat("x", 70_000))); err != nil || res.Appended || res.Sequence != 9 {
		t.Errorf("a record of the first owner, again: %+v, %v", res, err)
	}
	mustAppend(t, now, note("now", "x"))
	next("now")
	if r, err := here.Verify(t.Context(), session); err != nil || !r.Good() || r.Tip != 23 {
		t.Errorf("Verify = %+v, %v", r, err)
	}
}
