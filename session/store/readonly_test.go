package store_test

import (
	"bytes"
	"testing"

	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/session/store"
	"github.com/comity-dev/comity/storage"
	"github.com/comity-dev/comity/storage/filestore"
)

// A store that may only be read, beside the process that writes it: everything
// that looks works, and everything that writes says why not.
func TestReadOnlyStore(t *testing.T) {
	dir := t.TempDir()
	b, err := filestore.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := newStore(t, closing(t, b), &store.Options{InlineBytes: 1000})
	full(t, s)
	n := len(all(t, s))
	if err := b.Close(); err != nil { // so that all of it is attested
		t.Fatal(err)
	}
	ro, err := filestore.OpenReadOnly(dir)
	if err != nil {
		t.Fatal(err)
	}
	look := newStore(t, closing(t, ro), nil)
	if got := len(all(t, look)); got != n {
		t.Errorf("%d records, want %d", got, n)
	}
	if r, err := look.Verify(t.Context(), session); err != nil || !r.Good() {
		t.Errorf("Verify = %+v, %v", r, err)
	}
	if p, err := look.Page(t.Context(), store.PageRequest{SessionID: session}); err != nil || len(p.Items) == 0 {
		t.Errorf("Page = %+v, %v", p, err)
	}
	if r, err := look.Recover(t.Context(), session); err != nil || int(r.Tip) != n {
		t.Errorf("Recover = %+v, %v", r, err)
	}
	if _, err := look.Export(t.Context(), session, new(bytes.Buffer)); err != nil {
		t.Errorf("Export: %v", err)
	}
	want[*storage.ReadOnlyError](t, "Open", second(look.Open(t.Context(), session, nil)))
	want[*storage.ReadOnlyError](t, "Delete", look.Delete(t.Context(), session))
	c, err := look.Records().Open(t.Context(), journal.ReplayRequest{SessionID: session, From: journal.FromSeq(uint64(n)), Follow: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, seq, err := c.Next(t.Context()); err != nil || int(seq) != n {
		t.Errorf("the last record: %d, %v", seq, err)
	}
	_, _, err = c.Next(t.Context())
	want[*storage.ReadOnlyError](t, "the end of a follower", err)
}
