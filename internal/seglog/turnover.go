package seglog

import (
	"crypto/rand"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"

	"github.com/comity-dev/comity/internal/vfs"
)

// Names of files in the making. What has such a name at opening is removed.
const (
	tmpSuffix  = ".tmp"
	spareName  = "spare.tmp"
	nextName   = "next.tmp"
	tailName   = "tail.tmp"
	rewriteTmp = "rewrite.tmp"
)

// A blank is a file of written zeros that will become a segment.
type blank struct {
	name  string
	file  vfs.File
	alloc int64
	cap   int64
	bad   bool // a write or a sync of it failed
}

// turnOver seals the segment and opens the next one, of size bytes and with room
// for need.
// Commit point: the rename, once the folder is synced. Until then a crash leaves
// the old segment, sealed or not, as the last one.
func (l *Log) turnOver(need, size int64, reserve bool) error {
	w := &l.w
	room := dataStart + need + l.footerRoom(need)
	size = max(room, min(size, l.o.MaxSegmentBytes))
	next, err := l.blank(room, size, reserve)
	if err != nil {
		return err
	}
	h := l.newHeader(w.next, 0, 0)
	seg := newSegment(&h)
	err = l.found(next, &h)
	if err != nil {
		next.file.Close()
		l.fsys.Remove(filepath.Join(l.dir, next.name))
		if vfs.IsNoSpace(err) {
			return noSpace(err)
		}
		return err
	}
	if err := l.sealActive(); err != nil {
		next.file.Close()
		return err
	}
	if err := l.install(next.name, seg.name); err != nil {
		next.file.Close()
		return err
	}
	l.activate(seg, next, dataStart)
	return nil
}

// blank returns a file with at least room written bytes: the spare that was
// prepared, or a new one, or the reserve.
func (l *Log) blank(room, size int64, reserve bool) (*blank, error) {
	if b := l.prep.take(l); b != nil {
		if b.alloc >= room {
			b.cap = max(b.cap, room)
			return b, nil
		}
		b.file.Close()
		l.fsys.Remove(filepath.Join(l.dir, b.name))
	}
	first := max(room, min(size, growStep))
	b, err := l.newBlank(nextName, first)
	if err != nil && vfs.IsNoSpace(err) {
		b, err = l.newBlank(nextName, room+min(smallStep, first-room))
	}
	if err != nil && vfs.IsNoSpace(err) && reserve {
		b, err = l.takeReserve(nextName, room, err)
	}
	if err != nil {
		if vfs.IsNoSpace(err) {
			err = noSpace(err)
		}
		return nil, err
	}
	b.cap = max(size, b.cap)
	return b, nil
}

// newBlank makes a file of n zero bytes, or none.
func (l *Log) newBlank(name string, n int64) (*blank, error) {
	path := filepath.Join(l.dir, name)
	f, err := l.fsys.Open(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.Preallocate(0, n); err != nil {
		f.Close()
		l.fsys.Remove(path)
		return nil, err
	}
	return &blank{name: name, file: f, alloc: n, cap: n}, nil
}

// takeReserve makes the reserve a blank; cause is why it is needed.
func (l *Log) takeReserve(name string, room int64, cause error) (*blank, error) {
	r := l.o.Reserve
	if r == nil || r.bytes < room {
		return nil, cause
	}
	path := filepath.Join(l.dir, name)
	if ok, err := r.take(path); err != nil || !ok {
		if err == nil {
			err = cause
		}
		return nil, err
	}
	f, err := l.fsys.Open(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	return &blank{name: name, file: f, alloc: r.bytes, cap: r.bytes}, nil
}

// newHeader returns the header of a new segment, with a salt of its own.
func (l *Log) newHeader(first, last uint64, flags uint32) header {
	var salt [8]byte
	rand.Read(salt[:])
	return header{formatVersion, flags, l.inc, binary.LittleEndian.Uint64(salt[:]), first, last}
}

// newSegment returns the empty segment of h.
func newSegment(h *header) *segment {
	g := &segment{name: segmentName(h.first), last: h.first - 1, limit: dataStart, loaded: true}
	g.adopt(h)
	return g
}

// found makes b a segment: it writes the headers and syncs the file, which
// still has its temporary name.
func (l *Log) found(b *blank, h *header) error {
	if err := writeHeaders(b.file, h); err != nil {
		return err
	}
	return l.sync(b.file)
}

// install gives a finished file its name, durably.
func (l *Log) install(tmp, name string) error {
	if err := l.fsys.Rename(filepath.Join(l.dir, tmp), filepath.Join(l.dir, name)); err != nil {
		return err
	}
	return l.syncDir()
}

func (l *Log) syncDir() error {
	if plantSkipDirSync {
		return nil
	}
	return l.fsys.SyncDir(l.dir)
}

// activate makes seg, whose file b is, the one that is written to, from off.
func (l *Log) activate(seg *segment, b *blank, off int64) {
	seg.file = newHandle(b.file)
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	l.segs = append(slices.Clip(l.segs), seg)
	l.adoptWriter(seg, b, off)
}

// adoptWriter sets the writer to the end of the last segment.
func (l *Log) adoptWriter(seg *segment, b *blank, off int64) {
	l.w = writer{seg: seg, file: seg.file, off: off, alloc: b.alloc, cap: b.cap, next: seg.last + 1, marked: true, lastPlace: dataStart}
	if n := len(seg.places); n > 0 {
		l.w.lastPlace = seg.places[n-1].off
	}
}

// sealActive writes the footer of the active segment and cuts the file behind
// it. An error leaves the end of the file unknown.
func (l *Log) sealActive() error {
	w := &l.w
	limit := w.off
	end, err := l.writeSummary(kindFooter, nil)
	if err != nil {
		return err
	}
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	w.seg.limit, w.seg.size = limit, end
	return nil
}

// writeSummary ends the file of the active segment with a mark, synced.
func (l *Log) writeSummary(kind uint16, table []tableRow) (end int64, err error) {
	w := &l.w
	g := w.seg
	sum := summary{last: w.next - 1, kept: g.kept, records: g.records, places: g.places, table: table}
	b := g.seal.markFrame(kind, w.off, w.next-1, w.next-1, sum.encode())
	if _, err := w.file.WriteAt(b, w.off); err != nil {
		return 0, err
	}
	end = w.off + int64(len(b))
	if err := w.file.Truncate(end); err != nil {
		return 0, err
	}
	if err := l.sync(w.file); err != nil {
		return 0, err
	}
	w.off, w.alloc = end, end
	return end, nil
}
