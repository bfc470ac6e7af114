package seglog

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/comity-dev/comity/internal/vfs"
)

// A handle is an open file that is closed when the last of its users lets go.
type handle struct {
	vfs.File
	users atomic.Int32
}

func newHandle(f vfs.File) *handle {
	h := &handle{File: f}
	h.users.Store(1)
	return h
}

func (h *handle) release() error {
	if h.users.Add(-1) == 0 {
		return h.Close()
	}
	return nil
}

// A segment is a file of the log. Its fields but the file are written by the
// one that makes it; of the last segment, store.mu guards what grows.
type segment struct {
	name    string
	first   uint64 // as its header, or its name until that is read
	last    uint64 // last index that it stands for; of the active one, as written
	kept    uint64 // first index that is there; 0 when none is
	records uint64
	size    int64 // of the file
	limit   int64 // where its frames of records end
	flags   uint32
	seal    seal
	salt    uint64
	places  []place

	mu     sync.Mutex
	file   *handle // nil until it is needed
	loaded bool    // header and places are known
	broken bool    // its header cannot be read
}

func (g *segment) sparse() bool { return g.flags&segRewritten != 0 }

// acquire returns the open file of g, which the caller releases.
func (g *segment) acquire(fsys vfs.FS, dir string) (*handle, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.file == nil {
		f, err := fsys.Open(filepath.Join(dir, g.name), os.O_RDONLY, 0)
		if err != nil {
			return nil, err
		}
		g.file = newHandle(f)
	}
	g.file.users.Add(1)
	return g.file, nil
}

// drop lets go of the file; readers that hold it finish on it.
func (g *segment) drop() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.file == nil {
		return nil
	}
	err := g.file.release()
	g.file = nil
	return err
}

// load reads the header and the footer of a segment that a clean open took
// from the table. It returns what is wrong with it.
func (g *segment) load(f *handle, inc [16]byte) ([]Damage, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.loaded || g.broken {
		return nil, nil
	}
	h, ok, bad, err := readHeaders(f)
	if err != nil {
		return nil, err
	}
	damage := headerDamage(g.name, bad)
	if ok && h.version > formatVersion {
		return nil, fmt.Errorf("segment %s: %w", g.name, ErrNewerFormat)
	}
	if !ok || h.incarnation != inc || h.first != g.first {
		g.broken = true
		return []Damage{{g.name, 0, g.size, g.first, g.last, "both headers are unreadable or of another log"}}, nil
	}
	g.adopt(&h)
	g.loaded = true
	sum, at, ok, err := readTrailer(f, g.seal, kindFooter)
	if err != nil {
		return nil, err
	}
	if ok && sum.last == g.last {
		g.places, g.limit = sum.places, at
		return damage, nil
	}
	g.limit = g.size // readers will find the bad footer
	return damage, nil
}

func (g *segment) adopt(h *header) {
	g.first, g.flags, g.seal, g.salt = h.first, h.flags, newSeal(h.salt), h.salt
}

func headerDamage(name string, bad []int64) []Damage {
	var list []Damage
	for _, off := range bad {
		list = append(list, Damage{name, off, headerSize, 0, 0, "one of two headers is unreadable"})
	}
	return list
}

// readTrailer returns the summary that ends at the end of the file, of the kind
// that is asked for, and the offset of its frame.
func readTrailer(f vfs.File, s seal, kind uint16) (summary, int64, bool, error) {
	size, err := f.Size()
	if err != nil || size < dataStart+frameHeader+summaryFixed+trailerSize {
		return summary{}, 0, false, err
	}
	buf := make([]byte, min(size-dataStart, 8<<10))
	if err := readFull(f, buf, size-int64(len(buf))); err != nil {
		return summary{}, 0, false, err
	}
	n, ok := trailerAt(buf)
	if !ok || n > size-dataStart {
		return summary{}, 0, false, nil
	}
	if n > int64(len(buf)) {
		buf = make([]byte, n)
		if err := readFull(f, buf, size-n); err != nil {
			return summary{}, 0, false, err
		}
	}
	b, off := buf[int64(len(buf))-n:], size-n
	fr, ok := s.parseFrame(b, off)
	if !ok || fr.kind != kind || fr.size() != n || off&7 != 0 {
		return summary{}, 0, false, nil
	}
	body := b[frameHeader : frameHeader+fr.length]
	sum, ok := parseSummary(body)
	return sum, off, ok && fr.bodyOK(body) && sum.last == fr.index, nil
}

func readFull(f vfs.File, b []byte, off int64) error {
	n, err := f.ReadAt(b, off)
	if n == len(b) {
		return nil
	}
	if err == nil {
		err = errors.New("short read")
	}
	return err
}

// floor returns the offset from which the record index is found by reading on.
func floor(places []place, index uint64) int64 {
	lo, hi := 0, len(places)
	for lo < hi {
		if m := (lo + hi) / 2; places[m].index <= index {
			lo = m + 1
		} else {
			hi = m
		}
	}
	if lo == 0 {
		return dataStart
	}
	return places[lo-1].off
}
