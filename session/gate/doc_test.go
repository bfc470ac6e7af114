package gate_test

import (
	"os"
	"strings"
	"testing"

	"github.com/comity-dev/comity/session/gate"
)

// The package comment is the specification: its example is one.
func TestExampleOfThePackageComment(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	example := ""
	for line := range strings.Lines(string(doc)) {
		if text, ok := strings.CutPrefix(line, "//\t"); ok && (example != "" || strings.HasPrefix(text, "{")) {
			example += strings.TrimSpace(text)
		}
	}
	if _, err := gate.DecodeDecision([]byte(example)); err != nil {
		t.Errorf("%s: %v", example, err)
	}
}
