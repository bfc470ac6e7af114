package store_test

import (
	"os"
	"strings"
	"testing"
)

// The program in the document is the example, which is compiled and run.
func TestDocumentShowsTheExample(t *testing.T) {
	page, err := os.ReadFile("../../docs/session-journal.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(page), "```go\n")
	shown, _, _ = strings.Cut(shown, "```")
	_, body, _ := strings.Cut(string(source), "func Example() {\n")
	body, _, _ = strings.Cut(body, "\t// Output:")
	var want strings.Builder
	for line := range strings.Lines(body) {
		want.WriteString(strings.TrimPrefix(line, "\t"))
	}
	if shown != want.String() {
		t.Errorf("the document shows\n%s\nwant\n%s", shown, want.String())
	}
}
