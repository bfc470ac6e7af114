package seglog

// A hole is a gap with the indexes that are missing because of it.
type hole struct {
	gap
	first, last uint64 // 0, 0 when no index is missing
}

func (h *hole) damage(segment string) Damage {
	d := Damage{Segment: segment, Offset: h.off, Length: h.n, FirstIndex: h.first, LastIndex: h.last}
	switch {
	case h.n == 0:
		d.Reason = "records are missing"
	case h.header && h.frame.mark():
		d.Reason = "a mark has a wrong checksum"
	case h.header:
		d.Reason = "a record has a wrong checksum"
	default:
		d.Reason = "no valid frame"
	}
	return d
}

// A walker is a scanner that keeps account of the indexes: what comes out of
// it is frames, and holes with the indexes that they swallowed.
type walker struct {
	scanner
	sparse  bool   // indexes may be missing without a gap
	prev    uint64 // last index accounted for
	pending gap    // without a good header: what it swallowed shows behind it
	onHole  func(hole)
}

// next returns whether a frame was found; false is the end.
func (w *walker) next() (bool, error) {
	for {
		what, err := w.scanner.next()
		switch {
		case err != nil || what == foundEnd:
			return false, err
		case what == foundGap && !w.gap.header:
			w.pending = w.gap
			continue
		case what == foundGap:
			w.account(&w.gap.frame)
			h := hole{gap: w.gap}
			if !w.gap.frame.mark() {
				h.first, h.last = w.gap.frame.index, w.gap.frame.index
			}
			w.onHole(h)
			continue
		}
		w.account(&w.frame)
		return true, nil
	}
}

// account settles the indexes between the last frame and f.
func (w *walker) account(f *frame) {
	until := f.index
	if !f.mark() {
		until--
	}
	w.settle(until, f.off)
	w.prev = max(w.prev, f.index)
}

// settle reports what is missing up to index until, which off comes behind.
func (w *walker) settle(until uint64, off int64) {
	missing := until > w.prev
	if w.pending.n == 0 && (!missing || w.sparse) {
		w.prev = max(w.prev, until)
		return
	}
	h := hole{gap: w.pending}
	if h.n == 0 {
		h.off = off
	}
	if missing {
		h.first, h.last = w.prev+1, until
	}
	w.pending = gap{}
	w.prev = max(w.prev, until)
	w.onHole(h)
}
