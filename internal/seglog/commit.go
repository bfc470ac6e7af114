package seglog

import (
	"fmt"

	"github.com/comity-dev/comity/internal/vfs"
)

// A writer is the end of the log.
type writer struct {
	seg    *segment
	file   *handle
	off    int64 // everything before is synced
	alloc  int64 // everything before is written, behind off with zeros
	cap    int64 // where the segment is full
	next   uint64
	marked bool // a mark attests the last record
	closed bool // the mark of a clean close is the end of the file

	lastPlace int64   // off of the last place of seg
	found     []place // of the batch being written
}

// commit makes b durable. An error that wraps ErrNoSpace left nothing of b on
// disk; after any other the state of the file is unknown.
func (l *Log) commit(b *batch) error {
	w := &l.w
	if err := l.makeRoom(int64(len(b.buf)), b.reserve); err != nil {
		return err
	}
	b.first = w.next
	l.number(b.buf)
	if _, err := w.file.WriteAt(b.buf, w.off); err != nil {
		return l.cut(err)
	}
	if plantAckBeforeSync {
		l.publish(b)
		return nil // the next batch or the close will sync it
	}
	if plantServeUnsynced {
		l.publish(b)
		return l.sync(w.file)
	}
	if err := l.sync(w.file); err != nil {
		return err
	}
	l.publish(b)
	return nil
}

// number gives the frames in buf their place in the log.
func (l *Log) number(buf []byte) {
	w := &l.w
	w.found = w.found[:0]
	index, synced, last := w.next, w.next-1, w.lastPlace
	for p := 0; p < len(buf); index++ {
		off := w.off + int64(p)
		w.seg.seal.place(buf[p:], off, index, synced)
		if off-last >= placeStride {
			w.found = append(w.found, place{index, off})
			last = off
		}
		p += int(frameSize(lengthAt(buf[p:])))
	}
}

func (l *Log) sync(f vfs.File) error {
	err := f.Sync()
	if err != nil && plantRetrySync {
		err = f.Sync()
	}
	return err
}

// publish shows the records of b to readers.
func (l *Log) publish(b *batch) {
	w := &l.w
	w.off += int64(len(b.buf))
	w.next += b.records
	w.marked, w.closed = false, false
	if n := len(w.found); n > 0 {
		w.lastPlace = w.found[n-1].off
	}
	l.extend(b.records)
	l.prep.want(l, int64(len(b.buf)))
}

func (l *Log) extend(records uint64) {
	w := &l.w
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	g := w.seg
	if g.kept == 0 {
		g.kept = w.next - records
	}
	g.records += records
	g.places = append(g.places, w.found...)
	g.limit, g.last = w.off, w.next-1
	l.end = g.last
	l.wakeLocked()
}

// cut takes back a batch that did not find room. Only if the file is durably as
// it was before can the log go on.
func (l *Log) cut(cause error) error {
	if !vfs.IsNoSpace(cause) {
		return cause
	}
	w := &l.w
	if err := w.file.Truncate(w.off); err != nil {
		return fmt.Errorf("%w; and then: %w", cause, err)
	}
	if err := l.sync(w.file); err != nil {
		return fmt.Errorf("%w; and then: %w", cause, err)
	}
	w.alloc = w.off
	return noSpace(cause)
}

func noSpace(cause error) error { return fmt.Errorf("%w: %w", ErrNoSpace, cause) }

// footerRoom is what the marks at the end of the segment will need at most,
// with need more bytes of records.
func (l *Log) footerRoom(need int64) int64 {
	return l.footerRoomOf(len(l.w.seg.places) + int(need/placeStride) + 2)
}

func (l *Log) footerRoomOf(places int) int64 {
	return frameSize(summarySize(places, len(l.segs)+1)) + frameHeader
}

const (
	growStep  = 1 << 20
	leastStep = 64 << 10
	smallStep = 64 << 10
)

// makeRoom sees to it that need bytes, and the marks of the end, fit behind
// w.off into written blocks.
func (l *Log) makeRoom(need int64, reserve bool) error {
	w := &l.w
	if !reserve && !l.o.Reserve.ensure() {
		return fmt.Errorf("%w: what is left is the reserve", ErrNoSpace)
	}
	end := w.off + need + l.footerRoom(need)
	if end <= w.alloc {
		return nil
	}
	if w.next == w.seg.first { // nothing in it: there is no other to turn to
		w.cap = max(w.cap, end)
	}
	if end > w.cap {
		return l.turnOver(need, l.sizeAfter(w.cap), reserve)
	}
	err := l.grow(end)
	if err != nil && vfs.IsNoSpace(err) {
		if reserve && w.next != w.seg.first && l.o.Reserve.isHeld() {
			return l.turnOver(need, l.sizeAfter(w.cap), true)
		}
		return noSpace(err)
	}
	return err
}

// grow writes zeros from alloc to end at least, and up to a step further.
func (l *Log) grow(end int64) error {
	w := &l.w
	far := min(max(end, w.alloc+growStep), w.cap)
	err := w.file.Preallocate(w.alloc, far-w.alloc)
	if err != nil && vfs.IsNoSpace(err) {
		far = min(end+smallStep, far)
		err = w.file.Preallocate(w.alloc, far-w.alloc)
	}
	if err == nil {
		w.alloc = far
	}
	return err
}
