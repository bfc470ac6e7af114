package journal

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What sessions did adds up, whoever of them did something last.
func TestATieNotesAllThatSessionsDid(t *testing.T) {
	tie := newTie()
	want := map[string]deeds{}
	for _, one := range []struct {
		sid string
		did deeds
	}{
		{"", didWrite}, {"a", didOpen | didWrite}, {"a", didWrite}, {"a", didClose}, {"b", didClose}, {"b", didWrite},
		{"a", didWrite}, {"b", didOpen}, {"c", didWrite}, {"b", didWrite}, {"c", didClose}, {"c", didOpen},
	} {
		tie.note(one.sid, one.did)
		want[one.sid] |= one.did
		if d := cmp.Diff(want, tie.sids); d != "" {
			t.Fatalf("after %q did %b (-want +got):\n%s", one.sid, one.did, d)
		}
	}
}
