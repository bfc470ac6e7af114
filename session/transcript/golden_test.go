package transcript_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/comity-dev/comity/session/transcript"
)

var update = flag.Bool("update", false, "write the golden files anew; read them afterwards")

func TestGolden(t *testing.T) {
	exported := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	for name, f := range map[string]transcript.Format{"whole.md": transcript.Markdown, "whole.json": transcript.JSON, "whole.html": transcript.HTML} {
		for _, private := range []bool{false, true} {
			got, _ := write(t, f, &transcript.Options{Exported: exported, Private: private}, whole()...)
			if private {
				name = "private-" + name
			}
			path := filepath.Join("testdata", name)
			if *update {
				if err := os.MkdirAll("testdata", 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal([]byte(got), bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n"))) {
				t.Errorf("%s changed: run with -update and read it\n%s", path, got)
			}
		}
	}
}
