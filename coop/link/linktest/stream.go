package linktest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"testing"
	"time"
)

// pattern is n bytes that show where they were cut or swapped.
func pattern(n int) []byte {
	b := make([]byte, 0, n+8)
	for i := 0; len(b) < n; i++ {
		b = fmt.Appendf(b, "%d,", i)
	}
	return b[:n]
}

// async runs f and returns how to wait for its error, as often as one likes.
func async(f func() error) (wait func() error) {
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		err = f()
	}()
	return func() error {
		select {
		case <-done:
			return err
		case <-time.After(patience):
			return errors.New("it never returned")
		}
	}
}

// writeAll writes b in pieces of many sizes.
func writeAll(w io.Writer, b []byte) error {
	for n := 1; len(b) > 0; n = n*7%65521 + 1 {
		k := min(n, len(b))
		if m, err := w.Write(b[:k]); err != nil || m != k {
			return fmt.Errorf("write of %d bytes: %d, %w", k, m, err)
		}
		b = b[k:]
	}
	return nil
}

func (s suite) order(t *testing.T) {
	a, b := s.open(t)
	want := pattern(3 << 20)
	var waits []func() error
	for _, e := range []struct{ from, to io.ReadWriteCloser }{{a, b}, {b, a}} {
		waits = append(waits, async(func() error { return writeAll(e.from, want) }), async(func() error {
			got := make([]byte, len(want))
			if _, err := io.ReadFull(e.to, got); err != nil {
				return err
			}
			if !bytes.Equal(got, want) {
				return errors.New("other bytes were read than were written")
			}
			return nil
		}))
	}
	for _, wait := range waits {
		if err := wait(); err != nil {
			t.Error(err)
		}
	}
}

// manyBytes is more than any carrier may keep for a reader that is slow.
const manyBytes = 24 << 20

// slowReads is how many bytes a slow reader reads, one at a time: long enough for
// a carrier without a bound to take all.
const slowReads = 1 << 19

func (s suite) backpressure(t *testing.T) {
	a, b := s.open(t)
	var took atomic.Bool
	wait := async(func() error {
		piece := make([]byte, 1<<20)
		for range manyBytes / len(piece) {
			if _, err := a.Write(piece); err != nil {
				return err
			}
		}
		took.Store(true)
		return nil
	})
	for n := 0; n < slowReads && !took.Load(); n++ {
		if _, err := io.ReadFull(b, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
	}
	if took.Load() {
		t.Errorf("of %d bytes %d were read, and the carrier took all", manyBytes, slowReads)
	}
	b.Close()
	if err := wait(); err == nil && !took.Load() {
		t.Error("a write whose reader is gone = nil, want an error")
	}
}

func (s suite) closeEnds(t *testing.T) {
	a, b := s.open(t)
	read := async(func() error {
		_, err := io.Copy(io.Discard, a)
		return err
	})
	write := async(func() error {
		for {
			if _, err := a.Write(make([]byte, 1<<20)); err != nil {
				return nil
			}
		}
	})
	if _, err := io.ReadFull(b, make([]byte, 1)); err != nil { // the write is under way
		t.Fatal(err)
	}
	a.Close()
	if err := write(); err != nil {
		t.Error("write after close:", err)
	}
	if err := read(); err != nil && err.Error() == "it never returned" {
		t.Error("read after close:", err)
	}
	a.Close()
	if _, err := a.Read(make([]byte, 1)); err == nil {
		t.Error("Read of a closed end = nil, want an error")
	}
	if _, err := a.Write(make([]byte, 1)); err == nil {
		t.Error("Write to a closed end = nil, want an error")
	}
}

func (s suite) halfClose(t *testing.T) {
	want := pattern(10_000)
	a, b := s.open(t)
	if err := writeAll(a, want); err != nil {
		t.Fatal(err)
	}
	a.Close()
	if got, err := io.ReadAll(b); !bytes.Equal(got, want) {
		t.Errorf("%d of %d bytes were read that were written before Close: %v", len(got), len(want), err)
	}

	a, b = s.open(t)
	half, ok := a.(interface{ CloseWrite() error })
	if !ok {
		return
	}
	if err := errors.Join(writeAll(a, want), half.CloseWrite()); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(b); !bytes.Equal(got, want) || err != nil {
		t.Errorf("%d of %d bytes were read that were written before CloseWrite: %v", len(got), len(want), err)
	}
	if err := writeAll(b, want); err != nil {
		t.Fatal(err)
	}
	back := make([]byte, len(want))
	if _, err := io.ReadFull(a, back); err != nil || !bytes.Equal(back, want) {
		t.Errorf("the way back of a stream that was closed one way: %v", err)
	}
}
