package seglog

import (
	"io"
	"math"
)

// A survey is what one reading of a whole segment found, when its end is not
// known from a mark at the end of the file.
type survey struct {
	attested uint64 // the last index known to be synced
	holes    []hole
	tail     []frame // records behind attested, in order
	places   []place
	records  uint64 // valid ones, with the tail
	kept     uint64
	end      int64 // of the last valid frame
	junk     int64 // end of the last bytes that are not zero
	footer   bool
}

// surveySegment reads g up to size. attested is what is known before: of a
// segment with a successor, its last index, and then nothing behind counts.
func surveySegment(r io.ReaderAt, g *segment, size int64, attested uint64) (*survey, error) {
	v := &survey{attested: attested, end: dataStart, junk: dataStart}
	w := &walker{sparse: g.sparse(), prev: g.first - 1}
	w.scanner = scanner{r: r, seal: g.seal, pos: dataStart, limit: size, last: g.first - 1, hi: math.MaxUint64 - 1, chunk: 1 << 20}
	w.onHole = v.addHole
	lastPlace := int64(dataStart)
	for {
		ok, err := w.next()
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		f := w.frame
		v.attested = max(v.attested, f.synced)
		v.end, v.junk = f.end(), max(v.junk, f.end())
		if f.mark() {
			v.footer = v.footer || f.kind == kindFooter
			continue
		}
		if v.records++; v.kept == 0 {
			v.kept = f.index
		}
		if f.off-lastPlace >= placeStride {
			v.places = append(v.places, place{f.index, f.off})
			lastPlace = f.off
		}
		v.keepTail(f)
	}
	w.settle(max(v.attested, w.prev), v.end)
	v.keepTail(frame{})
	if plantReuseIndex && attested < g.first {
		v.attested = min(v.attested, w.scanner.last)
	}
	return v, nil
}

func (v *survey) addHole(h hole) {
	v.junk = max(v.junk, h.off+h.n)
	if h.header {
		v.attested = max(v.attested, h.frame.synced)
	}
	v.holes = append(v.holes, h)
}

// keepTail adds f to the tail and takes out what is attested by now.
func (v *survey) keepTail(f frame) {
	n := 0
	for n < len(v.tail) && v.tail[n].index <= v.attested {
		n++
	}
	v.tail = v.tail[n:]
	if f.index > v.attested {
		v.tail = append(v.tail, f)
	}
}

// split returns the holes that are damage, and the offset behind which nothing
// is attested.
func (v *survey) split() (damage []hole, cut int64) {
	cut = v.end
	if len(v.tail) > 0 {
		cut = v.tail[0].off
	}
	for _, h := range v.holes {
		switch {
		case h.first != 0 && h.first <= v.attested:
			h.last = min(h.last, v.attested)
			damage = append(damage, h)
			if h.off+h.n > cut && len(v.tail) == 0 {
				cut = h.off + h.n
			}
		case h.first == 0 && h.off < cut:
			damage = append(damage, h)
		default:
			cut = min(cut, h.off)
		}
	}
	return damage, cut
}

// wholeTail returns the frames of the complete batches at the beginning of the
// tail. What comes behind an incomplete one was submitted behind it, and goes
// with it: the log never has a record without those that came before.
func (v *survey) wholeTail() []frame {
	whole, next := 0, v.attested+1
	for i, f := range v.tail {
		begins := i == whole
		if f.index != next || begins != (f.flags&flagFirst != 0) {
			break
		}
		if next++; f.flags&flagLast != 0 {
			whole = i + 1
		}
	}
	if plantKeepTornBatch {
		return v.tail
	}
	return v.tail[:whole]
}

// dropped counts what is left of the tail without its first kept frames.
func (v *survey) dropped(kept int, cut int64) TailReport {
	from := cut
	if kept > 0 {
		from = v.tail[kept-1].end()
	}
	var t TailReport
	prev := uint64(0)
	for _, f := range v.tail[kept:] {
		if f.flags&flagFirst != 0 || f.index != prev+1 {
			t.DroppedBatches++
		}
		prev = f.index
	}
	if v.junk > from {
		t.DroppedBytes = v.junk - from
		t.DroppedBatches = max(t.DroppedBatches, 1)
	}
	return t
}
