package transcript_test

import (
	"strings"
	"testing"

	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/session/store"
	"github.com/comity-dev/comity/session/transcript"
	"github.com/comity-dev/comity/storage/memstore"
)

var _ transcript.Cursor = journal.RecordCursor(nil)

// What a store gives back makes the same transcript as what was put into it, at every
// record of a session that goes on.
func TestTranscriptOfAStore(t *testing.T) {
	backend := memstore.New()
	defer backend.Close()
	sessions, err := store.New(backend, nil)
	if err != nil {
		t.Fatal(err)
	}
	w, err := sessions.Open(t.Context(), id(1), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	records := whole() // the first is the fence, which the store writes
	for n := 1; n <= len(records); n++ {
		if n > 1 {
			if seq, err := w.Append(t.Context(), records[n-1]); err != nil || seq != uint64(n) {
				t.Fatalf("Append of record %d = %d, %v", n, seq, err)
			}
		}
		for _, f := range formats {
			c, err := sessions.Records().Open(t.Context(), journal.ReplayRequest{SessionID: id(1)})
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			sum, err := transcript.Write(t.Context(), &got, c, f, nil)
			if err != nil || sum.Last != uint64(n) {
				t.Errorf("%s of %d records = %+v, %v", f, n, sum, err)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			if want, _ := write(t, f, nil, records[:n]...); got.String() != want {
				t.Errorf("%s of %d records:\ngot  %s\nwant %s", f, n, got.String(), want)
			}
			if f == transcript.HTML {
				if err := nested(got.String()); err != nil {
					t.Errorf("%d records: %v", n, err)
				}
			}
		}
	}
}
