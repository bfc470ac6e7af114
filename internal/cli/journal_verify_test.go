package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/session/store"
	"github.com/comity-dev/comity/storage/filestore"
)

// A writer that merges its index while verify looks has removed parts that the
// opening still names: that is no damage. A part that is lost is, beside a writer too.
func TestJournalVerifyBesideAWriter(t *testing.T) {
	dir := t.TempDir()
	b, err := filestore.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	s, err := store.New(b, nil)
	if err != nil {
		t.Fatal(err)
	}
	id := event.NewID()
	w, err := s.Open(t.Context(), id, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	n := 0
	add := func() {
		n++
		if _, err := w.Append(t.Context(), journal.OpaqueRecord{Kind: "acme.x", ID: fmt.Sprint(n), Body: []byte("x")}); err != nil {
			t.Fatal(err)
		}
	}
	checkpoint := func() {
		for range 20 {
			add()
		}
		if err := w.Checkpoint(t.Context()); err != nil {
			t.Fatal(err)
		}
		add() // what was written before it is attested with it
	}
	checkpoint()
	checkpoint()
	place := storePlace{dir: dir}
	verify := func(meanwhile func()) store.Report {
		t.Helper()
		j, err := place.look(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer j.close()
		meanwhile()
		r, err := j.verify(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	merge := func() {
		for range 4 {
			checkpoint()
		}
	}
	if r := verify(merge); !r.Good() {
		t.Errorf("beside a writer that merges: %+v", r)
	}
	shards, err := filepath.Glob(filepath.Join(dir, "blobs", "*", "????????*"))
	if err != nil || len(shards) == 0 {
		t.Fatal(shards, err)
	}
	for _, name := range shards {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	if r := verify(func() {}); len(r.Books) != 1 {
		t.Errorf("%d parts are lost: %+v", len(shards), r)
	}
}
