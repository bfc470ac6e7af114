package natsstore_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/comity-dev/comity/storage"
	"github.com/comity-dev/comity/storage/natsstore"
)

// A holder that is there is renewed for longer than its time to live, under the
// same epoch.
func TestLeaseIsRenewed(t *testing.T) {
	t.Parallel()
	srv := startServer(t, serverOptions(t))
	s := open(t, srv, natsstore.Options{LeaseTTL: time.Second})
	other := open(t, srv, natsstore.Options{LeaseTTL: time.Second})
	l, err := s.Leaser().Acquire(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	over := time.After(3 * time.Second)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		var held *storage.HeldError
		if _, err := other.Leaser().Acquire(t.Context(), "a"); !errors.As(err, &held) || held.Epoch != l.Epoch() {
			t.Fatalf("Acquire of what is renewed = %v, want a *HeldError of epoch %d", err, l.Epoch())
		}
		select {
		case <-tick.C:
		case <-l.Lost():
			t.Fatal("a grant that is renewed is lost")
		case <-over:
			return
		}
	}
}

// A holder that is cut off gives up before the server does.
func TestHolderGivesUpFirst(t *testing.T) {
	t.Parallel()
	srv := startServer(t, serverOptions(t))
	for _, cut := range []struct {
		name              string
		requests, answers flow
	}{{"requests lost", lost, through}, {"answers lost", through, lost}} {
		t.Run(cut.name, func(t *testing.T) {
			t.Parallel()
			s, v := openValved(t, srv, natsstore.Options{Name: "cut" + cut.name[:3], LeaseTTL: 4 * time.Second})
			other := open(t, srv, natsstore.Options{Name: "cut" + cut.name[:3], LeaseTTL: 4 * time.Second})
			l, err := s.Leaser().Acquire(t.Context(), "a")
			if err != nil {
				t.Fatal(err)
			}
			v.set(cut.requests, cut.answers)
			select {
			case <-l.Lost():
			case <-time.After(20 * time.Second):
				t.Fatal("a holder that is cut off does not give up")
			}
			if epoch, err := other.Leaser().Holder(t.Context(), "a"); epoch != l.Epoch() || err != nil {
				t.Errorf("Holder = %d, %v when the holder gave up, want %d still", epoch, err, l.Epoch())
			}
			expired := time.Now()
			eventually(t, 10*time.Second, func() bool {
				next, err := other.Leaser().Acquire(t.Context(), "a")
				if err == nil && next.Epoch() <= l.Epoch() {
					t.Errorf("epoch %d came after %d", next.Epoch(), l.Epoch())
				}
				return err == nil
			})
			if d := time.Since(expired); d > s.Traits().Expiry {
				t.Errorf("the grant ended %v after its holder gave up, Traits say at most %v", d, s.Traits().Expiry)
			}
			v.set(through, through)
			if err := l.Release(t.Context()); err != nil {
				t.Errorf("Release of what has expired: %v", err)
			}
			if epoch, err := other.Leaser().Holder(t.Context(), "a"); epoch <= l.Epoch() || err != nil {
				t.Errorf("Holder = %d, %v: a stale Release ended a later grant", epoch, err)
			}
		})
	}
}

// A holder that was taken over learns of it at its next renewal.
func TestTakenOverHolderIsTold(t *testing.T) {
	t.Parallel()
	srv := startServer(t, serverOptions(t))
	s := open(t, srv, natsstore.Options{LeaseTTL: 3 * time.Second})
	other := open(t, srv, natsstore.Options{LeaseTTL: 3 * time.Second})
	l, err := s.Leaser().Acquire(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now()
	if _, err := other.Leaser().Takeover(t.Context(), "a", storage.Proof{Epoch: l.Epoch(), Reason: "it hangs"}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-l.Lost():
	case <-time.After(10 * time.Second):
		t.Fatal("a holder that was taken over is not told")
	}
	if d := time.Since(at); d > 2500*time.Millisecond {
		t.Errorf("a holder was told of its takeover after %v, want about a third of its time to live, 3s", d)
	}
}

// A server that refuses a renewal at once is not asked without a pause.
func TestRefusedRenewalWaits(t *testing.T) {
	t.Parallel()
	b := open(t, startServer(t, serverOptions(t)), natsstore.Options{})
	var sent atomic.Int64
	natsstore.BeforeSend(b, func() { sent.Add(1) }, nil)
	l, err := b.Leaser().Acquire(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	js, err := jetstream.New(natsstore.Conn(b))
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(t.Context(), "KV_comity_leases")
	if err != nil {
		t.Fatal(err)
	}
	full := stream.CachedInfo().Config
	full.MaxMsgSize = 1
	if _, err := js.UpdateStream(t.Context(), full); err != nil {
		t.Fatal(err)
	}
	<-l.Lost()
	if n := sent.Load(); n < 2 || n > 100 {
		t.Errorf("%d messages were sent until the grant was lost, want a few", n)
	}
}
