package memstore_test

import (
	"testing"
	"time"

	"github.com/comity-dev/comity/storage"
	"github.com/comity-dev/comity/storage/memstore"
	"github.com/comity-dev/comity/storage/storagetest"
)

// A view is a client of a store that others use too, and whose grants expire
// when the test says so: what a backend over a network is to the suite.
type view struct {
	storage.Backend
	last bool // closes the store
}

func (v *view) Close() error {
	if v.last {
		return v.Backend.Close()
	}
	return nil
}

func (v *view) Traits() storage.Traits {
	tr := v.Backend.Traits()
	tr.Expiry = time.Minute
	return tr
}

func TestStoreOfManyClients(t *testing.T) {
	storagetest.Run(t, storagetest.Harness{
		Open: func(testing.TB) storage.Backend { return &view{memstore.New(), true} },
		View: func(_ testing.TB, b storage.Backend) storage.Backend { return &view{b.(*view).Backend, false} },
		Expire: func(t testing.TB, b storage.Backend, l storage.Lease) {
			next, err := b.Leaser().Takeover(t.Context(), l.Name(), storage.Proof{Epoch: l.Epoch(), Reason: "it has expired"})
			if err == nil {
				err = next.Release(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
		},
	})
}
