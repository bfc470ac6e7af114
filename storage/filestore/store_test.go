package filestore_test

import (
	"testing"

	"github.com/comity-dev/comity/internal/vfs/vfstest"
	"github.com/comity-dev/comity/storage"
	"github.com/comity-dev/comity/storage/filestore"
	"github.com/comity-dev/comity/storage/storagetest"
)

func mustOpen(t testing.TB, dir string, o *filestore.Options) *filestore.Store {
	t.Helper()
	s, err := filestore.Open(dir, o)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// onSystem makes stores on the disk of the system.
func onSystem(o *filestore.Options) storagetest.Harness {
	dirs := map[storage.Backend]string{}
	return storagetest.Harness{
		Open: func(t testing.TB) storage.Backend {
			dir := t.TempDir()
			s := mustOpen(t, dir, o)
			dirs[s] = dir
			return s
		},
		Reopen: func(t testing.TB, b storage.Backend) storage.Backend {
			s := mustOpen(t, dirs[b], o)
			dirs[s] = dirs[b]
			return s
		},
	}
}

// inMemory makes stores on disks in memory, which can run on virtual time.
func inMemory(o *filestore.Options) storagetest.Harness {
	disks := map[storage.Backend]*vfstest.Disk{}
	open := func(t testing.TB, d *vfstest.Disk) storage.Backend {
		s, err := filestore.OpenOn(d, nil, "/store", o)
		if err != nil {
			t.Fatalf("Open: %v", err)
		}
		disks[s] = d
		return s
	}
	return storagetest.Harness{
		Open:   func(t testing.TB) storage.Backend { return open(t, vfstest.New()) },
		Reopen: func(t testing.TB, b storage.Backend) storage.Backend { return open(t, disks[b]) },
		Bubble: true,
	}
}

func TestStore(t *testing.T) { storagetest.Run(t, onSystem(nil)) }

// Small segments, and an index that is written all the time.
func TestStoreOfSmallParts(t *testing.T) {
	storagetest.Run(t, inMemory(&filestore.Options{IndexAfter: 7, MaxSegmentBytes: 64 << 10}))
}
