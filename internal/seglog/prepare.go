package seglog

import (
	"os"
	"path/filepath"
	"sync"

	"github.com/comity-dev/comity/internal/vfs"
)

// A preparer writes the zeros of the next segment while the active one fills,
// in a file of its own: a sync of the active file waits for all dirty blocks of
// that file, and would wait for the zeros as well.
type preparer struct {
	todo chan int64 // size of the next segment; nil when nothing is prepared

	mu      sync.Mutex
	asked   bool
	wanted  bool // false tells the goroutine to stop where it is
	halted  bool // the log is being closed
	working sync.WaitGroup
	spare   *blank
}

func (p *preparer) start(l *Log) {
	if l.o.Inline {
		return
	}
	p.todo = make(chan int64, 1)
	l.wg.Go(func() {
		for {
			select {
			case <-l.stop:
				return
			case size := <-p.todo:
				p.prepare(l, size)
			}
		}
	})
}

// want asks for the next segment once a quarter of the active one is full.
func (p *preparer) want(l *Log) {
	w := &l.w
	if p.todo == nil || w.off < w.cap/4 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.asked || p.halted {
		return
	}
	p.asked, p.wanted = true, true
	p.working.Add(1)
	p.todo <- min(2*w.cap, l.o.MaxSegmentBytes)
}

// prepare writes the spare. A failure only means that there is none: the log
// makes its next segment itself then, and meets the error.
func (p *preparer) prepare(l *Log, size int64) {
	defer p.working.Done()
	path := filepath.Join(l.dir, spareName)
	f, err := l.fsys.Open(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return
	}
	b := &blank{spareName, f, 0, size}
	for b.alloc < size && p.goOn() {
		if err := p.step(f, b); err != nil {
			f.Close()
			l.fsys.Remove(path)
			return
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spare = b
}

func (p *preparer) step(f vfs.File, b *blank) error {
	n := min(growStep, b.cap-b.alloc)
	if err := f.Preallocate(b.alloc, n); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	b.alloc += n
	return nil
}

func (p *preparer) goOn() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.wanted && !p.halted
}

// take returns the spare as far as it is prepared, or nil.
func (p *preparer) take() *blank {
	p.mu.Lock()
	p.wanted = false
	p.mu.Unlock()
	p.working.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.spare
	p.spare, p.asked = nil, false
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
