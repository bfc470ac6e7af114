package storagetest

import (
	"errors"
	"testing"

	"github.com/comity-dev/comity/storage"
)

func testLeaser(t *testing.T, h Harness) {
	t.Run("one holder", func(t *testing.T) { testOneHolder(t, h) })
	t.Run("release", func(t *testing.T) { testRelease(t, h) })
	t.Run("epochs only rise", func(t *testing.T) { testEpochs(t, h) })
	t.Run("takeover", func(t *testing.T) { testTakeover(t, h) })
	t.Run("ends with the store", func(t *testing.T) { testLeaseEndsWithStore(t, h) })
	t.Run("expiry", func(t *testing.T) { testExpiry(t, h) })
}

func testOneHolder(t *testing.T, h Harness) {
	views := h.views(t, 2)
	a := mustAcquire(t, views[0].Leaser(), "a")
	wantHeld(t, views[0].Leaser(), "a", a.Epoch())
	wantHeld(t, views[1].Leaser(), "a", a.Epoch())
	b := mustAcquire(t, views[1].Leaser(), "b") // names are unrelated
	if isLost(a) || isLost(b) {
		t.Error("a lease is lost though nobody ended it")
	}
	if epoch, err := views[0].Leaser().Holder(t.Context(), "free"); epoch != 0 || err != nil {
		t.Errorf("Holder of a free name = %d, %v", epoch, err)
	}
}

func testRelease(t *testing.T, h Harness) {
	views := h.views(t, 2)
	first := mustAcquire(t, views[0].Leaser(), "a")
	for range 3 {
		mustRelease(t, first)
	}
	if !isLost(first) {
		t.Error("Lost is open after Release")
	}
	second := mustAcquire(t, views[1].Leaser(), "a")
	mustRelease(t, first) // a stale one frees nobody
	wantHeld(t, views[0].Leaser(), "a", second.Epoch())
	if isLost(second) {
		t.Error("a stale Release ended a later grant")
	}
	mustRelease(t, second)
	if epoch, err := views[0].Leaser().Holder(t.Context(), "a"); epoch != 0 || err != nil {
		t.Errorf("Holder of a released name = %d, %v", epoch, err)
	}
}

func testEpochs(t *testing.T, h Harness) {
	b := h.open(t)
	var before uint64
	for i := range 12 {
		l := mustAcquire(t, b.Leaser(), "a")
		if l.Epoch() <= before {
			t.Fatalf("epoch %d came after %d", l.Epoch(), before)
		}
		before = l.Epoch()
		mustAppend(t, b.Ledger(), "a", "fence")
		switch i % 3 {
		case 0:
			if err := b.Ledger().Delete(t.Context(), "a"); err != nil {
				t.Fatal(err)
			}
			mustRelease(t, l)
		case 1:
			mustRelease(t, l)
		case 2:
			if h.Reopen == nil {
				mustRelease(t, l)
				continue
			}
			if b.Traits().Expiry != 0 {
				mustRelease(t, l)
			}
			b = h.reopen(t, b)
		}
	}
}

func testTakeover(t *testing.T, h Harness) {
	views := h.views(t, 2)
	hung := mustAcquire(t, views[0].Leaser(), "a")
	other := views[1].Leaser()
	var held *storage.HeldError
	for _, p := range []storage.Proof{{}, {Epoch: hung.Epoch()}, {Reason: "no epoch"}} {
		if l, err := other.Takeover(t.Context(), "a", p); err == nil {
			t.Fatalf("Takeover with the proof %+v granted epoch %d", p, l.Epoch())
		}
	}
	if _, err := other.Takeover(t.Context(), "a", storage.Proof{Epoch: hung.Epoch() + 1, Reason: "wrong epoch"}); !errors.As(err, &held) || held.Epoch != hung.Epoch() {
		t.Fatalf("Takeover with a wrong epoch = %v, want a *HeldError", err)
	}
	if isLost(hung) {
		t.Fatal("a Takeover that was refused ended the grant")
	}
	l, err := other.Takeover(t.Context(), "a", storage.Proof{Epoch: hung.Epoch(), Reason: "it hangs"})
	if err != nil {
		t.Fatalf("Takeover: %v", err)
	}
	if l.Epoch() <= hung.Epoch() {
		t.Errorf("Takeover granted epoch %d after %d", l.Epoch(), hung.Epoch())
	}
	<-hung.Lost() // with views it may take a moment
	mustRelease(t, hung)
	wantHeld(t, views[0].Leaser(), "a", l.Epoch())
	if isLost(l) {
		t.Error("the new grant is lost")
	}
	if _, err := other.Takeover(t.Context(), "a", storage.Proof{Epoch: hung.Epoch(), Reason: "again"}); !errors.As(err, &held) || held.Epoch != l.Epoch() {
		t.Errorf("Takeover with a proof that was used = %v, want a *HeldError of epoch %d", err, l.Epoch())
	}
	mustRelease(t, l)
	again, err := other.Takeover(t.Context(), "a", storage.Proof{Epoch: l.Epoch(), Reason: "it hung"})
	if err != nil || again.Epoch() <= l.Epoch() {
		t.Errorf("Takeover of what was released = %v, %v, want a grant", again, err)
	}
}

func testLeaseEndsWithStore(t *testing.T, h Harness) {
	b := h.open(t)
	l := mustAcquire(t, b.Leaser(), "a")
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if !isLost(l) {
		t.Error("Lost is open after Close")
	}
	mustRelease(t, l)
}

func testExpiry(t *testing.T, h Harness) {
	if h.Expire == nil {
		t.Skip("grants do not expire")
	}
	views := h.views(t, 2)
	old := mustAcquire(t, views[0].Leaser(), "a")
	h.Expire(t, views[0], old)
	l := mustAcquire(t, views[1].Leaser(), "a")
	if l.Epoch() <= old.Epoch() {
		t.Errorf("epoch %d came after %d", l.Epoch(), old.Epoch())
	}
	if !isLost(old) {
		t.Error("a holder whose grant has expired does not know")
	}
	mustRelease(t, old)
	wantHeld(t, views[1].Leaser(), "a", l.Epoch())
}
