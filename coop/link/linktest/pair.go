package linktest

import (
	"io"
	"sync"
)

// pairBytes is how much one end may write before the other reads.
const pairBytes = 64 << 10

// Pair returns the two ends of a stream in memory, which buffers up to 64 KiB in
// each direction. What is written before Close is read before io.EOF.
func Pair() (a, b io.ReadWriteCloser) {
	there, back := newPipe(), newPipe()
	return &end{in: back, out: there}, &end{in: there, out: back}
}

type end struct{ in, out *pipe }

func (e *end) Read(b []byte) (int, error)  { return e.in.read(b) }
func (e *end) Write(b []byte) (int, error) { return e.out.write(b) }

// CloseWrite ends what the other end reads; this end reads on.
func (e *end) CloseWrite() error {
	e.out.shut(false)
	return nil
}

func (e *end) Close() error {
	e.out.shut(false)
	e.in.shut(true)
	return nil
}

// A pipe carries bytes one way.
type pipe struct {
	mu     sync.Mutex
	moved  sync.Cond
	buffer []byte
	ended  bool // nothing more is written
	broken bool // nobody reads any more
}

func newPipe() *pipe {
	p := new(pipe)
	p.moved.L = &p.mu
	return p
}

func (p *pipe) read(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.buffer) == 0 && !p.ended && !p.broken && len(b) > 0 {
		p.moved.Wait()
	}
	switch {
	case p.broken:
		return 0, io.ErrClosedPipe
	case len(p.buffer) == 0 && p.ended:
		return 0, io.EOF
	}
	n := copy(b, p.buffer)
	p.buffer = p.buffer[n:]
	p.moved.Broadcast()
	return n, nil
}

func (p *pipe) write(b []byte) (written int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(b) > 0 {
		for len(p.buffer) >= pairBytes && !p.ended && !p.broken {
			p.moved.Wait()
		}
		if p.ended || p.broken {
			return written, io.ErrClosedPipe
		}
		n := min(len(b), pairBytes-len(p.buffer))
		p.buffer = append(p.buffer, b[:n]...)
		b, written = b[n:], written+n
		p.moved.Broadcast()
	}
	return written, nil
}

func (p *pipe) shut(broken bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended, p.broken = true, p.broken || broken
	p.moved.Broadcast()
}
