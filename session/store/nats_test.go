package store_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/comity-dev/comity/storage"
	"github.com/comity-dev/comity/storage/natsstore"
)

// natsBackend is a store on a server of its own, within this process.
func natsBackend(t testing.TB) storage.Backend {
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
	s, err := natsstore.Open(t.Context(), "", &natsstore.Options{NATS: []nats.Option{nats.InProcessServer(srv)}})
	if err != nil {
		t.Fatal(err)
	}
	return closing(t, s)
}
