package cli_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/comity-dev/comity/session/store"
	"github.com/comity-dev/comity/storage/filestore"
)

// Whatever byte of whatever file of a store is changed, verify finds it: nothing
// that was written is a matter of indifference, not the second copy of a header, not
// the zeros between two frames, not what only makes opening quick. The one exception is
// the mark of a clean close: a log without it is as a crash leaves it, and all
// of its records are there.
func TestJournalVerifyFindsEveryChangedByte(t *testing.T) {
	s := &shelf{t: t, dir: filepath.Join(t.TempDir(), "store")}
	var err error
	if s.file, err = filestore.Open(s.dir, &filestore.Options{MaxSegmentBytes: 12 << 10}); err != nil { // several segments
		t.Fatal(err)
	}
	if s.store, err = store.New(s.file, &store.Options{InlineBytes: 1000}); err != nil {
		t.Fatal(err)
	}
	s.session(sid(1)).shut()
	if found, _ := verified(t, s.dir); found {
		t.Fatal("verify finds something in what is good")
	}
	files, segments := 0, 0
	err = filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		if strings.HasSuffix(path, ".seg") {
			segments++
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		closing := len(b)
		if strings.HasSuffix(path, ".seg") && path == last(t, s.dir) {
			closing = bytes.LastIndex(b, []byte{0xa3, 0xf5, 0x67, 0x6c})
		}
		for i := 0; i < len(b); i += stride(b, i) {
			if _, err := f.WriteAt([]byte{b[i] ^ 0x10}, int64(i)); err != nil {
				return err
			}
			if found, all := verified(t, s.dir); !found && (i < closing || !all) {
				t.Errorf("%s: byte %d of %d is changed, and verify is content", strings.TrimPrefix(path, s.dir), i, len(b))
			}
			if _, err := f.WriteAt(b[i:i+1], int64(i)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || files < 7 || segments < 2 {
		t.Fatalf("%d files, %d segments: %v", files, segments, err)
	}
	if found, _ := verified(t, s.dir); found {
		t.Error("verify finds something when all is as it was")
	}
}

// stride is how far the next byte is that a test changes: all of them would take
// minutes. It is odd, so that every place in a word has its turn.
func stride(b []byte, i int) int {
	switch {
	case os.Getenv("COMITY_LONG") != "":
		return 1
	case len(b) < 300:
		return 3
	case i+2000 < len(b) && len(bytes.Trim(b[i:i+2000], "\x00")) == 0:
		return 499 // among zeros
	}
	return 31
}

// last is the last segment of the log.
func last(t *testing.T, dir string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "log", "*.seg"))
	if err != nil || len(names) == 0 {
		t.Fatalf("segments: %v, %v", names, err)
	}
	return names[len(names)-1]
}

// verified reports whether `journal verify` has found something, and whether it has
// seen all ten records. A version that is changed is that of a newer build, for all
// that it can tell.
func verified(t *testing.T, dir string) (found, all bool) {
	t.Helper()
	r := newFake(t).run("journal", "verify", "--json", "--store", dir)
	newer := r.code == 1 && strings.Contains(r.out, `"code":"newer_format"`)
	if r.code != 0 && r.code != 12 && !newer {
		t.Fatalf("verify: %+v", r)
	}
	return r.code != 0, strings.Contains(r.out, `"tip":10,"records":10,`)
}
