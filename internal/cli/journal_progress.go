package cli

import (
	"io"
	"time"
)

// A progress says on a terminal how far long work has come. Elsewhere it says
// nothing.
type progress struct {
	*app
	next  time.Time // not before
	shown bool
}

// Work that takes less than this says nothing, and none says it more often.
const (
	progressAfter = 500 * time.Millisecond
	progressEvery = 100 * time.Millisecond
)

func (a *app) progress() *progress { return &progress{app: a, next: time.Now().Add(progressAfter)} }

func (p *progress) say(format string, args ...any) {
	if !p.errs.colour || time.Now().Before(p.next) { // no terminal, or one that cannot go back
		return
	}
	p.next, p.shown = time.Now().Add(progressEvery), true
	p.errs.printf("\r\x1b[Kcomity: "+format, args...)
	_ = p.errs.flush() // the work goes on all the same
}

// end takes away what was said.
func (p *progress) end() {
	if p.shown {
		p.errs.printf("\r\x1b[K")
		_ = p.errs.flush()
	}
	p.shown = false
}

// A counter passes bytes on and counts them.
type counter struct {
	w    io.Writer
	n    int64
	told func(n int64)
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	c.told(c.n)
	return n, err
}
