package storagetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/comity-dev/comity/storage"
)

// testAmbiguity has each write of a script lost, kept though reported lost, and
// late, and wants the client who resolves it as the contract says to have each
// record stored once.
func testAmbiguity(t *testing.T, h Harness) {
	const records = 5
	for fate, name := range map[Fate]string{Lost: "lost", Kept: "kept", Late: "late"} {
		t.Run(name, func(t *testing.T) {
			for at := range records {
				f := NewFaults(h.open(t), func(n int, _, _ string) Fate {
					if n == at {
						return fate
					}
					return Pass
				})
				var tip storage.Tip
				var want []string
				for i := range records {
					rec := fmt.Sprint("token ", i)
					next, err := append1(t, f.Ledger(), "a", tip, rec)
					if err != nil {
						t.Fatalf("write %d %s: append of record %d: %v", at, name, i+1, err)
					}
					tip, want = next, append(want, rec)
					f.Land()
				}
				wantRecords(t, f.Ledger(), "a", want...)
				if f.Writes() < records+1 && fate != Kept {
					t.Errorf("write %d %s: only %d writes: the fault did not happen", at, name, f.Writes())
				}
			}
		})
	}
	t.Run("a successor between", func(t *testing.T) { testAmbiguousOvertaken(t, h) })
	t.Run("other writes", func(t *testing.T) { testAmbiguousOthers(t, h) })
}

// A late append must not take effect once another record has its place.
func testAmbiguousOvertaken(t *testing.T, h Harness) {
	f := NewFaults(h.open(t), func(n int, _, _ string) Fate {
		if n == 1 {
			return Late
		}
		return Pass
	})
	l := f.Ledger()
	tip := mustAppend(t, l, "a", "one")
	_, err := l.Append(t.Context(), "a", tip, []byte("late"))
	var unknown *storage.AmbiguousError
	if !errors.As(err, &unknown) || !errors.Is(err, ErrFault) {
		t.Fatalf("Append = %v, want an *AmbiguousError", err)
	}
	wantRecords(t, l, "a", "one")
	mustAppend(t, l, "a", "successor")
	f.Land()
	wantRecords(t, l, "a", "one", "successor")
}

// testAmbiguousOthers wants every other write, when its outcome was not known,
// to be settled by doing it again.
func testAmbiguousOthers(t *testing.T, h Harness) {
	for _, fate := range []Fate{Lost, Kept} {
		first := true
		f := NewFaults(h.open(t), func(int, string, string) Fate {
			if first = !first; !first {
				return fate
			}
			return Pass
		})
		twice := func(what string, do func() error) {
			t.Helper()
			var unknown *storage.AmbiguousError
			if err := do(); !errors.As(err, &unknown) {
				t.Fatalf("%s = %v, want an *AmbiguousError", what, err)
			}
			if err := do(); err != nil {
				t.Errorf("%s again = %v", what, err)
			}
		}
		mustAppend(t, f.Backend.Ledger(), "a", "one")
		twice("Delete", func() error { return f.Ledger().Delete(t.Context(), "a") })
		wantRecords(t, f.Ledger(), "a")

		d := storage.DigestOf([]byte("blob"))
		twice("Put of a blob", func() error {
			_, err := f.Blobs().Put(t.Context(), "s", d, newReader("blob"))
			return err
		})
		wantBlob(t, f.Blobs(), "s", []byte("blob"))
		twice("Delete of a blob", func() error { return f.Blobs().Delete(t.Context(), "s", d) })
		wantNoBlob(t, f.Blobs(), "s", d)

		if _, err := f.Backend.KV().Put(t.Context(), "k", 0, nil); err != nil {
			t.Fatal(err)
		}
		twice("Delete of a row", func() error { return f.KV().Delete(t.Context(), "k", 0) })
		if keys := all(t, f.KV().Keys(t.Context(), "")); !slices.Equal(keys, []string{}) {
			t.Errorf("Keys = %q", keys)
		}

		// A grant that nobody holds is ended by takeover.
		var unknown *storage.AmbiguousError
		if _, err := f.Leaser().Acquire(t.Context(), "x"); !errors.As(err, &unknown) {
			t.Fatalf("Acquire = %v, want an *AmbiguousError", err)
		}
		epoch, err := f.Leaser().Holder(t.Context(), "x")
		if err != nil || (epoch != 0) != (fate == Kept) {
			t.Fatalf("Holder = %d, %v", epoch, err)
		}
		l, err := f.Leaser().Takeover(t.Context(), "x", storage.Proof{Epoch: max(epoch, 1), Reason: "test"})
		if err != nil || l.Epoch() <= epoch {
			t.Fatalf("Takeover = %v, %v", l, err)
		}
	}
}
