package memstore_test

import (
	"testing"

	"github.com/comity-dev/comity/storage"
	"github.com/comity-dev/comity/storage/memstore"
	"github.com/comity-dev/comity/storage/storagetest"
)

func TestStore(t *testing.T) {
	storagetest.Run(t, storagetest.Harness{
		Open:   func(testing.TB) storage.Backend { return memstore.New() },
		Bubble: true,
	})
}

func BenchmarkAppend(b *testing.B) {
	l := memstore.New().Ledger()
	rec := make([]byte, 300)
	var tip storage.Tip
	for b.Loop() {
		next, err := l.Append(b.Context(), "sessions/a", tip, rec)
		if err != nil {
			b.Fatal(err)
		}
		tip = next
	}
}
