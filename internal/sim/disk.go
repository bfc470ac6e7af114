package sim

import (
	"io/fs"

	"github.com/comity-dev/comity/internal/vfs"
	"github.com/comity-dev/comity/internal/vfs/vfstest"
)

// A disk is a machine's disk. While a file is synced the machine is read from: it
// has written something that is not durable yet, and must show nothing of it.
type disk struct {
	*vfstest.Disk
	m       *machine
	dying   bool // the power is going to fail
	failing bool // it does, or is about to
	off     bool // its machine is down: an end of a journal that nobody waits for
}

func (d *disk) Open(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := d.Disk.Open(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &file{f, d}, nil
}

type file struct {
	vfs.File
	d *disk
}

func (f *file) Sync() error {
	if !f.d.off {
		f.d.m.whileSyncing()
	}
	return f.File.Sync()
}
