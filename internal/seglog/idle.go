package seglog

// armIdle starts the time after which the log counts as idle anew.
func (l *Log) armIdle() {
	if l.o.IdleAfter > 0 {
		l.idle.Reset(l.o.IdleAfter)
	}
}

// attest writes the mark of an idle log, unless it is not idle any more.
func (l *Log) attest() {
	l.mu.Lock()
	if l.busy || l.closing || l.err != nil {
		l.mu.Unlock()
		return
	}
	l.busy = true
	l.mu.Unlock()
	if err := l.markIdle(); err != nil {
		l.poison(err)
	}
	for l.round() {
	}
}

// markIdle attests what is written as synced. A crash before it is synced
// leaves it or not: nothing depends on it but the answer to whether a bad
// place is damage.
func (l *Log) markIdle() error {
	w := &l.w
	b := w.seg.seal.markFrame(kindIdle, w.off, w.next-1, w.next-1, nil)
	if w.marked || w.off+l.footerRoom(0) > w.alloc {
		return nil
	}
	if _, err := w.file.WriteAt(b, w.off); err != nil {
		return err
	}
	if err := l.sync(w.file); err != nil {
		return err
	}
	w.off += int64(len(b))
	w.marked, w.closed = true, false
	l.store.mu.Lock()
	w.seg.limit = w.off
	l.store.mu.Unlock()
	return nil
}

// markClosed writes the mark of a clean close. A crash before it is synced
// leaves a log that is recovered.
func (l *Log) markClosed() error {
	l.mu.Lock()
	err := l.err
	l.mu.Unlock()
	if err != nil {
		return err
	}
	w := &l.w
	if w.closed {
		return nil
	}
	l.store.mu.RLock()
	var table []tableRow
	for _, g := range l.segs[:len(l.segs)-1] {
		table = append(table, tableRow{g.first, g.last, g.kept, g.records, uint64(g.size)})
	}
	l.store.mu.RUnlock()
	if _, err := l.writeSummary(kindClose, table); err != nil {
		return l.poison(err)
	}
	w.closed = true
	return nil
}
