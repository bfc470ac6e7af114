package linktest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/link"
)

// patience is how long the suite waits for what has to come. It is no pause: a
// carrier that works never uses it up.
const patience = time.Minute

// Run holds a carrier to what links need of it. Pair makes the two ends of a new
// stream. Each end is read by one goroutine, written by another, and closed by
// any, once or more.
func Run(t *testing.T, pair func() (a, b io.ReadWriteCloser)) {
	s := suite{pair}
	for _, tt := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"bytes arrive in order, both ways at once", s.order},
		{"a writer waits for its reader", s.backpressure},
		{"close ends a read and a write under way", s.closeEnds},
		{"what was written before close is read", s.halfClose},
		{"links exchange what they hold", s.exchange},
		{"frames of every size pass", s.bigFrames},
		{"a link that is cut goes on on the next stream", s.cuts},
		{"a link that is left says so", s.leave},
	} {
		t.Run(tt.name, tt.run)
	}
}

type suite struct {
	pair func() (a, b io.ReadWriteCloser)
}

func (s suite) open(t *testing.T) (a, b io.ReadWriteCloser) {
	t.Helper()
	a, b = s.pair()
	t.Cleanup(func() {
		a.Close()
		b.Close()
	})
	return a, b
}

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

// manyBytes is more than any carrier may keep for a reader that does not read.
const manyBytes = 64 << 20

func (s suite) backpressure(t *testing.T) {
	a, b := s.open(t)
	wait := async(func() error {
		piece := make([]byte, 1<<20)
		for range manyBytes / len(piece) {
			if _, err := a.Write(piece); err != nil {
				return err
			}
		}
		return nil
	})
	if _, err := io.ReadFull(b, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	b.Close()
	if err := wait(); err == nil {
		t.Errorf("a carrier took %d bytes that nobody read", manyBytes)
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
	a, b := s.open(t)
	want := pattern(10_000)
	if err := writeAll(a, want); err != nil {
		t.Fatal(err)
	}
	half, ok := a.(interface{ CloseWrite() error })
	if ok {
		half.CloseWrite()
	} else {
		a.Close()
	}
	got, err := io.ReadAll(b)
	if !bytes.Equal(got, want) {
		t.Errorf("%d of %d bytes were read that were written before the end: %v", len(got), len(want), err)
	}
	if !ok {
		return
	}
	if err := writeAll(b, want); err != nil {
		t.Fatal(err)
	}
	back := make([]byte, len(want))
	if _, err := io.ReadFull(a, back); err != nil || !bytes.Equal(back, want) {
		t.Errorf("the way back of a stream that was closed one way: %v", err)
	}
}

// A duo is two stores and the links between them.
type duo struct {
	t      *testing.T
	stores [2]*Store
	links  [2]*link.Link
	waits  [2]func() error
	stop   context.CancelFunc
	moved  chan struct{} // a store changed
}

func newDuo(t *testing.T) *duo {
	return &duo{t: t, stores: [2]*Store{NewStore("ada"), NewStore("bob")}, moved: make(chan struct{}, 1)}
}

// connect links the stores over the two ends of a stream.
func (d *duo) connect(ends [2]io.ReadWriteCloser) {
	ctx, stop := context.WithCancel(d.t.Context())
	d.stop = stop
	start := time.Now()
	for i, s := range d.stores {
		l, err := link.New(ConfigOf(s, i == 0), s, func() time.Duration { return time.Since(start) })
		if err != nil {
			d.t.Fatal(err)
		}
		d.links[i] = l
		s.Listen(func() {
			l.News()
			select {
			case d.moved <- struct{}{}:
			default:
			}
		})
		d.waits[i] = async(func() error { return l.Run(ctx, ends[i]) })
	}
}

// ConfigOf is how the node of a store greets a peer that it trusts.
func ConfigOf(s *Store, dialer bool) link.Config {
	return link.Config{
		Key: s.Key, Card: link.Card{Repo: s.Repo, Instance: s.Stream.Instance(), Fold: 1, Name: "linktest"},
		Dialer: dialer, Trust: func(ident.NodeID) bool { return true }, Limits: event.DefaultLimits(),
	}
}

// agree waits until both hold the same.
func (d *duo) agree() {
	d.t.Helper()
	late := time.After(patience)
	for !maps.Equal(d.stores[0].Held(), d.stores[1].Held()) {
		select {
		case <-d.moved:
		case <-late:
			d.t.Fatalf("the stores never agreed: %v and %v", d.stores[0].Held(), d.stores[1].Held())
		}
	}
}

func (d *duo) end() (errs [2]error) {
	d.stop()
	for i, wait := range d.waits {
		errs[i] = wait()
	}
	return errs
}

func (s suite) exchange(t *testing.T) {
	d := newDuo(t)
	d.stores[0].Append(300, 100)
	d.stores[1].Append(200, 100)
	a, b := s.open(t)
	d.connect([2]io.ReadWriteCloser{a, b})
	d.agree()
	for range 20 {
		d.stores[0].Append(1, 100)
		d.stores[1].Append(1, 100)
	}
	d.agree()
	for i, l := range d.links {
		if st := l.Stats(); st.EventsOut != 320 && st.EventsOut != 220 || st.Duplicate > 0 {
			t.Errorf("link %d sent %d events, %d of them in vain", i, st.EventsOut, st.Duplicate)
		}
	}
	d.end()
}

func (s suite) bigFrames(t *testing.T) {
	d := newDuo(t)
	for size := 1000; size < 32_000; size += 1111 {
		d.stores[0].Append(2, size)
		d.stores[1].Append(1, size)
	}
	a, b := s.open(t)
	d.connect([2]io.ReadWriteCloser{a, b})
	d.agree()
	d.end()
}

func (s suite) leave(t *testing.T) {
	d := newDuo(t)
	d.stores[0].Append(1, 100)
	a, b := s.open(t)
	d.connect([2]io.ReadWriteCloser{a, b})
	d.agree()
	d.links[0].Leave("done")
	var bye *link.GoodbyeError
	if err := d.waits[0](); !errors.Is(err, link.ErrLeft) {
		t.Errorf("the side that left ended with %v", err)
	}
	if err := d.waits[1](); !errors.As(err, &bye) || bye.Reason != "done" {
		t.Errorf("the other side ended with %v", err)
	}
	d.stop()
}

// cutSteps is how many places of an exchange are tried.
const cutSteps = 60

func (s suite) cuts(t *testing.T) {
	total := s.cut(t, -1)
	for i := range cutSteps {
		s.cut(t, total*i/cutSteps)
	}
}

// cut lets an exchange break after n bytes, never for -1, and wants both sides to
// agree over the next stream. It returns how many bytes an exchange takes, for -1.
func (s suite) cut(t *testing.T, n int) int {
	t.Helper()
	d := newDuo(t)
	d.stores[0].Append(5, 100)
	d.stores[1].Append(5, 100)
	a, b := s.open(t)
	c := &cutter{left: n, cut: func() {
		a.Close()
		b.Close()
	}}
	d.connect([2]io.ReadWriteCloser{c.end(a), c.end(b)})
	total := 0
	if n < 0 {
		d.agree()
		total = c.carried()
	} else {
		for i, wait := range d.waits {
			if err := wait(); err == nil {
				t.Errorf("cut after %d bytes, side %d ended without an error", n, i)
			}
		}
	}
	d.end()
	a, b = s.open(t)
	d.connect([2]io.ReadWriteCloser{a, b})
	d.agree()
	d.end()
	return total
}

// A cutter breaks a stream after so many bytes were written, in both directions
// together.
type cutter struct {
	mu         sync.Mutex
	left, done int
	cut        func()
}

func (c *cutter) carried() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.done
}

func (c *cutter) end(e io.ReadWriteCloser) io.ReadWriteCloser { return &cutEnd{e, c} }

type cutEnd struct {
	io.ReadWriteCloser
	c *cutter
}

func (e *cutEnd) Write(b []byte) (int, error) {
	e.c.mu.Lock()
	n := len(b)
	if e.c.left >= 0 {
		n = min(n, e.c.left)
		e.c.left -= n
	}
	e.c.done += n
	e.c.mu.Unlock()
	m, err := e.ReadWriteCloser.Write(slices.Clip(b[:n]))
	if err == nil && n < len(b) {
		e.c.cut()
		return m, io.ErrClosedPipe
	}
	return m, err
}
