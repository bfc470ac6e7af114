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
