package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// ownFilesEngine is what a store comes to that has a file for each session: one
// write and one fdatasync a record, into blocks that were written before.
var ownFilesEngine = engine{name: "ideal/own-files", open: func(dir string, durable bool) (*store, error) {
	files := make([]*ownFile, max(1, slices.Max(ints(*flagWriters))))
	for w := range files {
		l, err := openRaw(filepath.Join(dir, fmt.Sprint("own", w)), "grow", durable)
		if err != nil {
			return nil, err
		}
		if _, err := l.f.WriteAt(make([]byte, ownFileBytes), 0); err != nil {
			return nil, err
		}
		if err := unix.Fdatasync(int(l.f.Fd())); err != nil {
			return nil, err
		}
		files[w] = &ownFile{l}
	}
	return &store{
		append: func(w int, rec []byte) error { return files[w].append(rec) },
		batch:  func(recs [][]byte) error { return files[0].append(recs...) },
		close: func() (err error) {
			for _, f := range files {
				err = errors.Join(err, f.l.close())
			}
			return err
		},
	}, nil
}}

const ownFileBytes = 1 << 20

// An ownFile begins anew once it is full.
type ownFile struct{ l *rawLog }

func (f *ownFile) append(recs ...[]byte) error {
	if f.l.off+(64<<10) > ownFileBytes {
		f.l.off = 0
	}
	return f.l.appendBatch(recs)
}
