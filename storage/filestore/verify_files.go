package filestore

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"

	"github.com/comity-dev/comity/internal/seglog"
	"github.com/comity-dev/comity/internal/vfs"
	"github.com/comity-dev/comity/storage"
)

// files looks at what no record depends on: the index on disk, the names of the
// spaces, and what lies between the frames of the log. The index and the names
// are written anew by who writes to the store.
func (v *verifier) files() error {
	if err := v.slack(); err != nil {
		return err
	}
	if err := v.indexFile(); err != nil {
		return err
	}
	return v.spaceNames()
}

func (v *verifier) slack() error {
	log, ok := v.s.reader.(interface {
		Slack() ([]seglog.Damage, error)
	})
	if !ok {
		return nil
	}
	list, err := log.Slack()
	for _, d := range list {
		v.add(Finding{What: "log", Name: d.Segment, Text: fmt.Sprintf("at %d: %s; no record is lost by it", d.Offset, d.Reason)})
	}
	return translate(err)
}

// indexFile wants the index on disk, if there is one, to be good, and the log to
// reach as far as it says: the index is written when its records are synced, and of the
// last of them the log says so only with the next one, or once it is idle. So
// they may lie behind the end that is attested, and are whole there.
func (v *verifier) indexFile() error {
	b, err := vfs.ReadFile(v.s.fsys, v.s.path(indexName), maxIndexBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	x, err := decodeIndex(b)
	switch {
	case err != nil:
		v.add(Finding{What: "index", Name: indexName, Text: "it cannot be read; the log is read instead, and it is written anew when a writer closes the store"})
	case x.incarnation != v.s.reader.Incarnation():
		v.add(Finding{What: "index", Name: indexName, Text: "it is that of another log; the log is read instead, and it is written anew when a writer closes the store"})
	case x.last() > v.s.reader.End() && !v.reaches(x.last()):
		v.add(Finding{
			What: "log", Name: indexName, First: v.s.reader.End() + 1, Last: x.last(),
			Text: fmt.Sprintf("the index knows records up to %d, and the log has them up to %d only", x.last(), v.s.reader.End()),
		})
	}
	return nil
}

// reaches reports whether the log has what the index says, whole, up to last: a
// writer may have gone on since the store was opened for reading.
func (v *verifier) reaches(last uint64) bool {
	log, _, err := seglog.OpenReadOnly(v.s.fsys, v.s.path("log"))
	if err != nil {
		return false
	}
	defer log.Close()
	return log.Whole() >= last
}

// spaceNames wants each folder of blobs to say which space it is of: blobs are
// found without it, and listed only with it.
func (v *verifier) spaceNames() error {
	s := v.s
	dirs, err := s.fsys.List(s.path(blobDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, dir := range dirs {
		raw, err := hex.DecodeString(dir)
		if err != nil || len(raw) != len(tag{}) {
			continue
		}
		list, err := s.digests(tag(raw))
		if err != nil {
			return err
		}
		name, err := vfs.ReadFile(s.fsys, s.path(blobDir, dir, spaceName), storage.MaxNameBytes)
		if len(list) == 0 || err == nil && tagOf(familySpace, string(name)) == tag(raw) {
			continue
		}
		v.add(Finding{What: "blob", Name: dir, Text: fmt.Sprintf("the name of its space is lost, which has %d blobs; it is written anew with the next blob that is stored there", len(list))})
	}
	return nil
}
