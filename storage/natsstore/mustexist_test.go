package natsstore_test

import (
	"errors"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/comity-dev/comity/storage"
	"github.com/comity-dev/comity/storage/natsstore"
)

// Whoever only looks makes nothing, and is told when there is nothing.
func TestMustExist(t *testing.T) {
	t.Parallel()
	s := startServer(t, serverOptions(t))
	must := natsstore.Options{Name: "there", MustExist: true, NATS: []nats.Option{nats.InProcessServer(s)}}
	st, err := natsstore.Open(t.Context(), s.ClientURL(), &must)
	var missing *storage.NotFoundError
	if !errors.As(err, &missing) || missing.What != "store" || missing.Name != "there" {
		t.Errorf("Open = %v, %v", st, err)
	}
	if info, err := s.Jsz(nil); err != nil || info.Streams > 0 {
		t.Errorf("opening has made %+v, %v", info, err)
	}
	open(t, s, natsstore.Options{Name: "there"})
	if st, err = natsstore.Open(t.Context(), s.ClientURL(), &must); err != nil {
		t.Fatalf("Open of a store that is there = %v", err)
	}
	st.Close()
}
