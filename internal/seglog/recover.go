package seglog

import (
	"os"
	"path/filepath"
)

// recover makes the last segment, g, and what a crash left behind its attested
// end into a state that can be served and appended to:
//
//  1. the complete batches of the tail are copied to a new segment, which is
//     synced under a temporary name and then renamed (commit point). A read
//     from the page cache is no proof that the tail is on disk, so nothing of it
//     is served before;
//  2. g is cut behind its attested end and sealed.
//
// A crash before 1 leaves the tail as it was; one between 1 and 2 leaves g with
// frames that the new segment has as well, and the new one's flag recovered
// tells the next opening to do 2 again.
func (l *Log) recover(inv *inventory, g *segment) error {
	v := inv.survey
	whole := v.wholeTail()
	first := max(v.attested+1, inv.next)
	if first > v.attested+1 {
		whole = nil // unreachable unless a broken segment follows, and then a sealed one came before it
	}
	l.end = first - 1
	if first == g.first { // nothing of g is attested: the new one takes its name
		l.segs = l.segs[:len(l.segs)-1]
		defer g.drop()
		return l.beginWith(first, g.size, segRecovered, g, whole)
	}
	if err := l.beginWith(first, g.size, segRecovered, g, whole); err != nil {
		return err
	}
	return l.sealOld(g)
}

// beginWith makes the last segment, with copies of the frames tail of old.
func (l *Log) beginWith(first uint64, oldSize int64, flags uint32, old *segment, tail []frame) error {
	bytes := int64(0)
	for _, f := range tail {
		bytes += f.size()
	}
	size := l.capFor(min(oldSize, l.o.MaxSegmentBytes))
	room := dataStart + bytes + l.footerRoomOf(len(tail)+2)
	b, err := l.blank(room, max(size, room), true)
	if err != nil {
		return err
	}
	h := l.newHeader(first, 0, flags)
	seg := newSegment(&h)
	err = l.copyFrames(b, seg, old, tail, first-1)
	if err == nil {
		err = l.found(b, &h)
	}
	if err == nil {
		err = l.install(b.name, seg.name)
	}
	if err != nil {
		b.file.Close()
		return err
	}
	l.end = seg.last
	l.activate(seg, b, seg.limit)
	l.w.marked = len(tail) == 0
	return nil
}

// copyFrames writes the tail of old into b, sealed as seg, and keeps account of
// it there.
func (l *Log) copyFrames(b *blank, seg, old *segment, tail []frame, synced uint64) error {
	c := copier{to: b.file, seg: seg, synced: synced}
	for _, f := range tail {
		if err := c.copy(old.file, f, f.flags, f.left); err != nil {
			return err
		}
	}
	return c.flush()
}

// sealOld cuts a segment that has a successor behind what it stands for, and
// writes its footer. The footer goes into blocks that are there before the file
// is cut, so that a full disk is no hindrance.
func (l *Log) sealOld(g *segment) error {
	f, err := l.fsys.Open(filepath.Join(l.dir, g.name), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	sum := summary{last: g.last, kept: g.kept, records: g.records, places: g.places}
	b := g.seal.markFrame(kindFooter, g.limit, g.last, g.last, sum.encode())
	if _, err := f.WriteAt(b, g.limit); err != nil {
		return err
	}
	g.size = g.limit + int64(len(b))
	if err := f.Truncate(g.size); err != nil {
		return err
	}
	return l.sync(f)
}
