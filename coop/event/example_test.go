package event_test

import (
	"os"
	"strings"
	"testing"

	"github.com/comity-dev/comity/coop/event"
)

// The worked example of the package comment and of the format page is the
// vector, so that neither can go stale.
func TestDocumentedExampleIsTheVector(t *testing.T) {
	var v vector
	load(t, event.KindSessionClosed+".json", &v)
	for _, path := range []string{"doc.go", "../../docs/format-event.md"} {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.NewReplacer("\n//", "", "\t", "", "\r", "", "\n", "").Replace(string(b))
		for _, want := range []string{v.Signed, v.Signature, v.Hash} {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not hold %s", path, want)
			}
		}
	}
}
