package seglog

import (
	"os"
	"path/filepath"
	"sync"
)

// A preparer writes the zeros of the next segment while the active one fills,
// in a file of its own: a sync of the active file waits for all dirty blocks of
// that file, and would wait for the zeros as well.
type preparer struct {
	todo chan struct{} // nil when nothing is prepared ahead

	mu     sync.Mutex
	size   int64 // of the next segment
	ready  int64 // how much of it should be prepared by now
	step   int64 // how much at a time
	spare  *blank
	stuck  bool // an error: wait for the next segment
	halted bool // the log is being closed

	stepping sync.Mutex // held while the file of the spare is written; taken under mu
}

func (p *preparer) start(l *Log) {
	if l.o.Inline {
		return
	}
	p.todo = make(chan struct{}, 1)
	l.wg.Go(func() {
		for {
			select {
			case <-l.stop:
				return
			case <-p.todo:
				p.prepare(l)
			}
		}
	})
}

// want asks for the next segment, as far as the active one is full: the zeros
// keep pace with the records, so that they take little from them.
func (p *preparer) want(l *Log, batch int64) {
	w := &l.w
	from := w.cap / 8
	if p.todo == nil || w.off < from {
		return
	}
	size := l.sizeAfter(w.cap)
	step := min(max(leastStep, batch*8), growStep)
	ready := min(size, (w.off-from)*size/(w.cap*5/8)+step)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.halted || p.stuck || ready < p.ready+step && ready < size || p.ready == size {
		return
	}
	p.ready, p.size, p.step = ready, size, step
	select {
	case p.todo <- struct{}{}:
	default: // it is at work, and looks again
	}
}

// prepare writes the spare as far as it is wanted. A failure only means that
// there is none: the log makes its next segment itself then, and meets the error.
func (p *preparer) prepare(l *Log) {
	for {
		p.mu.Lock()
		if p.halted || p.stuck || p.spare != nil && p.spare.alloc >= p.ready || p.ready == 0 {
			p.mu.Unlock()
			return
		}
		if p.spare == nil {
			f, err := l.fsys.Open(filepath.Join(l.dir, spareName), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
			if err != nil {
				p.stuck = true
				p.mu.Unlock()
				return
			}
			p.spare = &blank{name: spareName, file: f, cap: p.size}
		}
		b, step := p.spare, p.step
		p.stepping.Lock()
		p.mu.Unlock()
		b.bad = b.step(step) != nil
		bad := b.bad
		p.stepping.Unlock()
		if bad {
			p.mu.Lock()
			p.stuck = p.stuck || p.spare == b
			p.mu.Unlock()
			return
		}
	}
}

// A writebacker can begin to write out what it was given, ahead of Sync.
type writebacker interface{ Writeback(off, n int64) }

// step writes the next zeros, and syncs the file when it is whole: each sync
// before would cost the log's own syncs a commit of the file system's journal.
func (b *blank) step(most int64) error {
	n := min(most, b.cap-b.alloc)
	if err := b.file.Preallocate(b.alloc, n); err != nil {
		return err
	}
	if w, ok := b.file.(writebacker); ok {
		w.Writeback(b.alloc, n)
	}
	b.alloc += n
	if b.alloc < b.cap {
		return nil
	}
	return b.file.Sync()
}

// take returns the spare as far as it is prepared, or nil. A spare that met an
// error is not to be trusted.
func (p *preparer) take(l *Log) *blank {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stepping.Lock() // a step that runs ends first
	defer p.stepping.Unlock()
	b := p.spare
	if b != nil && b.bad {
		b.file.Close()
		l.fsys.Remove(filepath.Join(l.dir, b.name))
		b = nil
	}
	p.spare, p.ready, p.stuck = nil, 0, false
	return b
}

// halt stops a preparation where it is, and lets none begin.
func (p *preparer) halt() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.halted = true
}

// discard removes a spare that was not used, after the goroutine has ended.
func (p *preparer) discard(l *Log) {
	if b := p.spare; b != nil {
		b.file.Close()
		l.fsys.Remove(filepath.Join(l.dir, b.name))
	}
}
