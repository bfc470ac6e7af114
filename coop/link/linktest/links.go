package linktest

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/link"
)

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

// cutSteps is how many places of an exchange are tried; with COMITY_LONG set
// every byte is.
const cutSteps = 60

func (s suite) cuts(t *testing.T) {
	total := s.cut(t, -1)
	steps := cutSteps
	if os.Getenv("COMITY_LONG") != "" {
		steps = total
	}
	for i := range steps {
		s.cut(t, total*i/steps)
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
