package sim

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"time"
)

// A trace is what happened, line by line.
type trace struct {
	lines []string
	sum   hash.Hash
}

func newTrace() *trace { return &trace{sum: sha256.New()} }

func (t *trace) add(now time.Duration, format string, args ...any) {
	line := fmt.Sprintf("%12.3f ", now.Seconds()) + fmt.Sprintf(format, args...)
	t.lines = append(t.lines, line)
	t.sum.Write([]byte(line + "\n"))
}

func (t *trace) digest() string { return fmt.Sprintf("%x", t.sum.Sum(nil)[:16]) }
