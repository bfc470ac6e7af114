package seglog_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/comity-dev/comity/internal/seglog"
	"github.com/comity-dev/comity/internal/vfs"
)

// Bytes that nobody wrote are found where zeros should be: around the headers, and
// behind a body. No record is lost by them.
func TestSlackHoldsZeros(t *testing.T) {
	dir := t.TempDir()
	l, _ := mustOpen(t, dir, nil)
	mustAppend(t, l, "hello") // with 3 bytes behind it
	if found, err := l.Slack(); err != nil || len(found) > 0 {
		t.Errorf("Slack beside a writer = %+v, %v", found, err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "00000000000000000001.seg")
	slack := func() []seglog.Damage {
		r, _, err := seglog.OpenReadOnly(vfs.OS(), dir)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if rec, err := r.Read(1); err != nil || string(rec.Data) != "hello" {
			t.Errorf("record 1 = %q, %v", rec.Data, err)
		}
		found, err := r.Slack()
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	if found := slack(); len(found) > 0 {
		t.Errorf("Slack = %+v", found)
	}
	for _, at := range []int64{80, 4095, 4176, 8191, 8192 + 40 + 5, 8192 + 40 + 7} {
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt([]byte{1}, at); err != nil {
			t.Fatal(err)
		}
		if found := slack(); len(found) != 1 || found[0].Offset != at || found[0].FirstIndex != 0 {
			t.Errorf("byte %d: Slack = %+v", at, found)
		}
		if _, err := f.WriteAt([]byte{0}, at); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
