package seglog

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/comity-dev/comity/internal/vfs"
)

// Rewrite drops the records for which keep returns false, of all that is
// durable when it is called. keep sees each record once, in order. Indexes stay
// as they are; appending and reading go on meanwhile, and iterations that run
// finish on what they see. Small neighbours become one segment.
//
// The commit point of each segment is its rename, once the folder is synced: a
// crash leaves the old segment or the new one, and perhaps files that the new
// one stands for, which the next opening removes. When the disk is full, Rewrite
// uses the reserve; if there is none, it still drops what it can before it
// returns ErrNoSpace. After an error some segments may be rewritten and others
// not; unless the log is poisoned it can be called again.
func (l *Log) Rewrite(keep func(Record) bool) error {
	l.rewriting.Lock()
	defer l.rewriting.Unlock()
	full := l.control(l.sealForRewrite)
	if full != nil && !errors.Is(full, ErrNoSpace) {
		return fmt.Errorf("rewrite: %w", full)
	}
	l.store.mu.RLock()
	sealed := l.segs[:len(l.segs)-1]
	l.store.mu.RUnlock()
	var plans []*plan
	for _, g := range sealed {
		p, err := l.plan(g, keep)
		if err != nil {
			return fmt.Errorf("rewrite segment %s: %w", g.name, err)
		}
		if n := len(plans); n > 0 && plans[n-1].takes(p, l.o.MaxSegmentBytes) {
			plans[n-1].join(p)
		} else {
			plans = append(plans, p)
		}
	}
	for _, p := range plans {
		if !p.dirty && len(p.segs) == 1 {
			continue
		}
		if err := l.carryOut(p); err != nil {
			return fmt.Errorf("rewrite segment %s: %w", p.segs[0].name, err)
		}
	}
	if full != nil {
		return fmt.Errorf("rewrite the last segment: %w", full)
	}
	return nil
}

// sealForRewrite turns to a new segment, so that what there is can be dropped.
func (l *Log) sealForRewrite() error {
	if err := l.writable(); err != nil {
		return err
	}
	w := &l.w
	if w.next == w.seg.first {
		return nil
	}
	err := l.turnOver(0, l.capFor(w.off), false) // the reserve is for the rewritten segments
	if err != nil && !errors.Is(err, ErrNoSpace) {
		return l.poison(err)
	}
	return err
}

// writable returns why nothing can be written any more.
func (l *Log) writable() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refusalLocked()
}

// A plan is a run of neighbouring segments that will become one.
type plan struct {
	segs  []*segment
	keep  []run
	bytes int64 // of the frames that are kept
	dirty bool  // some are not
}

// A run is a range of indexes whose records are kept.
type run struct{ first, last uint64 }

// takes reports whether q should join p. A clean segment joins only while it is
// not much larger or smaller, so that each record is merged only a few times.
func (p *plan) takes(q *plan, most int64) bool {
	const small = 64 << 10
	bytes := p.bytes + q.bytes
	if dataStart+bytes+frameSize(summarySize(int(bytes/placeStride)+2, 0)) > most {
		return false
	}
	switch {
	case p.dirty && q.dirty:
		return true
	case q.dirty:
		return p.bytes <= 2*q.bytes+small
	case p.dirty:
		return q.bytes <= 2*p.bytes+small
	}
	return p.bytes <= 2*q.bytes+small && q.bytes <= 2*p.bytes+small
}

func (p *plan) join(q *plan) {
	p.segs = append(p.segs, q.segs...)
	p.keep = append(p.keep, q.keep...)
	p.bytes += q.bytes
	p.dirty = p.dirty || q.dirty
}

func (p *plan) add(index uint64, bytes int64) {
	p.bytes += bytes
	if n := len(p.keep); n > 0 && p.keep[n-1].last+1 == index {
		p.keep[n-1].last = index
		return
	}
	p.keep = append(p.keep, run{index, index})
}

// plan asks keep about the records of g.
func (l *Log) plan(g *segment, keep func(Record) bool) (*plan, error) {
	p := &plan{segs: []*segment{g}}
	err := l.eachIn(g, func(w *walker) error {
		if keep(Record{w.frame.index, w.body}) {
			p.add(w.frame.index, w.frame.size())
		} else {
			p.dirty = true
		}
		return nil
	})
	return p, err
}

// eachIn calls f for each valid record of a sealed segment.
func (l *Log) eachIn(g *segment, f func(*walker) error) error {
	sp, err := l.span(g.last)
	if err != nil {
		return err
	}
	if sp == nil || sp.segment != g {
		if sp != nil {
			sp.file.release()
		}
		return nil // stands for no index
	}
	defer sp.file.release()
	w := l.walk(sp, g.first, readChunk)
	w.fresh = true
	for {
		ok, err := w.next()
		if err != nil {
			return err
		}
		if !ok {
			w.settle(sp.last, sp.limit)
			return nil
		}
		if !w.frame.mark() {
			if err := f(w); err != nil {
				return err
			}
		}
	}
}

// carryOut writes the segment that p describes and puts it in the place of the
// others.
func (l *Log) carryOut(p *plan) error {
	for _, d := range l.Damage() { // the bytes at a bad place must outlive the file
		if slices.ContainsFunc(p.segs, func(g *segment) bool { return g.name == d.Segment }) {
			if err := l.keepOneAside(d); err != nil {
				return fmt.Errorf("keep damaged bytes aside: %w", err)
			}
		}
	}
	h := l.newHeader(p.segs[0].first, p.segs[len(p.segs)-1].last, segRewritten)
	f, g, err := l.writePlan(p, &h, false)
	if err != nil && vfs.IsNoSpace(err) {
		full := err
		if f, g, err = l.writePlan(p, &h, true); errors.Is(err, ErrNoSpace) {
			err = noSpace(full)
		}
	}
	if err != nil {
		return err
	}
	g.file = newHandle(f)
	err = l.control(func() error { return l.replace(p, g) })
	if err != nil {
		g.drop()
	}
	return err
}

// writePlan writes the new file, synced, under its temporary name.
func (l *Log) writePlan(p *plan, h *header, reserve bool) (vfs.File, *segment, error) {
	f, err := l.openRewrite(reserve)
	if err != nil {
		return nil, nil, err
	}
	g := newSegment(h)
	if err := l.fillPlan(p, h, f, g); err != nil {
		f.Close()
		l.fsys.Remove(filepath.Join(l.dir, rewriteTmp))
		return nil, nil, err
	}
	return f, g, nil
}

func (l *Log) openRewrite(reserve bool) (vfs.File, error) {
	path := filepath.Join(l.dir, rewriteTmp)
	if !reserve {
		return l.fsys.Open(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	}
	if ok, err := l.o.Reserve.take(path); err != nil || !ok {
		return nil, cmp.Or(err, ErrNoSpace)
	}
	return l.fsys.Open(path, os.O_RDWR, 0)
}

func (l *Log) fillPlan(p *plan, h *header, f vfs.File, g *segment) error {
	c := copier{to: f, seg: g, synced: h.last}
	for _, old := range p.segs {
		if err := l.copyKept(&c, p, old); err != nil {
			return err
		}
	}
	if err := c.flush(); err != nil {
		return err
	}
	g.last = h.last
	sum := summary{last: g.last, kept: g.kept, records: g.records, places: g.places}
	b := g.seal.markFrame(kindFooter, g.limit, g.last, g.last, sum.encode())
	if _, err := f.WriteAt(b, g.limit); err != nil {
		return err
	}
	g.size = g.limit + int64(len(b))
	if err := f.Truncate(g.size); err != nil {
		return err
	}
	return l.found(&blank{file: f}, h)
}

func (l *Log) copyKept(c *copier, p *plan, old *segment) error {
	runs := p.keep
	return l.eachIn(old, func(w *walker) error {
		f := &w.frame
		for len(runs) > 0 && runs[0].last < f.index {
			runs = runs[1:]
		}
		if len(runs) == 0 || f.index < runs[0].first {
			return nil
		}
		return c.add(f.index, w.body, f.crc, flagFirst|flagLast, 0)
	})
}

// replace gives the new file its name and shows it to readers. It runs between
// two batches. When it fails, what the name stands for is not known, and
// the log is poisoned: readers stay on the old files, which are open.
func (l *Log) replace(p *plan, g *segment) error {
	if err := l.writable(); err != nil {
		return err
	}
	if err := l.install(rewriteTmp, g.name); err != nil {
		return l.poison(err)
	}
	l.store.mu.Lock()
	segs := make([]*segment, 0, len(l.segs))
	for _, old := range l.segs {
		switch {
		case old == p.segs[0]:
			segs = append(segs, g)
		case !slices.Contains(p.segs, old):
			segs = append(segs, old)
		}
	}
	l.segs = segs
	l.store.mu.Unlock()
	var first error
	for i, old := range p.segs {
		old.drop()
		if i > 0 {
			if err := l.fsys.Remove(filepath.Join(l.dir, old.name)); err != nil && first == nil {
				first = err
			}
		}
	}
	return first
}
