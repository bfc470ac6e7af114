package natsstore_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/comity-dev/comity/storage"
	"github.com/comity-dev/comity/storage/natsstore"
)

// A follower that is in the middle of a backlog, or waits, when its line is cut
// goes on behind where it was.
func TestFollowGoesOn(t *testing.T) {
	t.Parallel()
	srv := startServer(t, serverOptions(t))
	s, v := openValved(t, srv, natsstore.Options{})
	other := open(t, srv, natsstore.Options{})
	const backlog = 5000
	var tip storage.Tip
	add := func(n int) {
		t.Helper()
		var recs [][]byte
		for i := range n {
			recs = append(recs, fmt.Append(nil, "record ", tip.Seq+uint64(i)+1))
		}
		for _, rec := range recs {
			next, err := other.Ledger().Append(t.Context(), "a", tip, rec)
			if err != nil {
				t.Fatal(err)
			}
			tip = next
		}
	}
	add(backlog)
	ctx, stop := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	defer stop(enough)
	natsstore.SetTimeout(s, time.Second)
	next := uint64(1)
	for rec, err := range s.Ledger().Follow(ctx, "a", 1) {
		if err != nil {
			if !errors.Is(err, enough) || next <= backlog+10 {
				t.Errorf("Follow ended with %v in front of record %d", err, next)
			}
			return
		}
		if rec.Seq != next || string(rec.Data) != fmt.Sprint("record ", next) {
			t.Fatalf("followed to record %d, %q, want %d", rec.Seq, rec.Data, next)
		}
		switch next++; next {
		case 10, backlog:
			v.set(lost, lost)
			d := 200 * time.Millisecond
			if next == 10 {
				d = 1500 * time.Millisecond // longer than it waits for a batch
			}
			time.AfterFunc(d, v.cut) // what was lost in between is out of step
		case backlog + 11:
			stop(enough)
		}
		if next == backlog {
			add(10)
		}
	}
}

// The server keeps nothing for followers that have gone.
func TestFollowLeavesNothing(t *testing.T) {
	srv := startServer(t, serverOptions(t))
	s := open(t, srv, natsstore.Options{})
	if _, err := s.Ledger().Append(t.Context(), "a", storage.Tip{}, []byte("x")); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		for range s.Ledger().Follow(t.Context(), "a", 1) {
			break
		}
	}
	js, err := jetstream.New(natsstore.Conn(s))
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, 8*time.Second, func() bool { // before the server gives it up by itself
		st, err := js.Stream(t.Context(), "comity_ledgers")
		return err == nil && st.CachedInfo().State.Consumers == 0
	})
}
