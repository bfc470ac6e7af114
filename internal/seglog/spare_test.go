package seglog_test

import (
	"bytes"
	"io/fs"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/comity-dev/comity/internal/seglog"
	"github.com/comity-dev/comity/internal/vfs"
	"github.com/comity-dev/comity/internal/vfs/vfstest"
)

// A spare segment whose zeros could not be written is not used, and costs the
// log nothing but the time to make another.
func TestSpareThatFails(t *testing.T) {
	for _, kind := range []string{"create", "write", "sync"} {
		d := &failSpare{Disk: vfstest.New(), kind: kind}
		l, _, err := seglog.Open(d, logDir, &seglog.Options{FirstSegmentBytes: 32 << 10, MaxSegmentBytes: 64 << 10})
		if err != nil {
			t.Fatal(err)
		}
		rec := bytes.Repeat([]byte("x"), 3000)
		n := uint64(0)
		for ; n < 100 || n < 100_000 && d.failed.Load() == 0; n++ {
			if _, err := l.Append(t.Context(), rec); err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if d.failed.Load() == 0 {
			t.Errorf("%s: no spare was tried", kind)
		}
		l, report, err := seglog.Open(d, logDir, nil)
		if err != nil || report.Records != n || len(report.Damage) > 0 {
			t.Errorf("%s: %+v, %v", kind, report, err)
		}
		l.Close()
	}
}

// failSpare fails one kind of operation on the spare alone.
type failSpare struct {
	*vfstest.Disk
	kind   string
	failed atomic.Int32
}

func (d *failSpare) Open(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := d.Disk.Open(name, flag, perm)
	if filepath.Base(name) != "spare.tmp" || err != nil {
		return f, err
	}
	if d.kind == "create" {
		d.failed.Add(1)
		f.Close()
		return nil, vfstest.EIO
	}
	return spareFile{f, d}, nil
}

type spareFile struct {
	vfs.File
	d *failSpare
}

func (f spareFile) Preallocate(off, n int64) error {
	if f.d.kind == "write" {
		f.d.failed.Add(1)
		return vfstest.EIO
	}
	return f.File.Preallocate(off, n)
}

func (f spareFile) Sync() error {
	if f.d.kind == "sync" {
		f.d.failed.Add(1)
		return vfstest.EIO
	}
	return f.File.Sync()
}
