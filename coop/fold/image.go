package fold

import (
	"errors"
	"fmt"
	goruntime "runtime"
	"sync"
	"sync/atomic"

	"github.com/comity-dev/comity/internal/pack"
)

// errUnsettled says that a state cannot be written down between two of its steps.
var errUnsettled = errors.New("image of the state: an event is being folded")

// AppendImage appends to b an image of the state, of which Restore makes it again
// without its events. The image means something only to the program that wrote it:
// any other has the events read. It refuses, and writes nothing, what it cannot
// write down whole.
func (s *State) AppendImage(b []byte) ([]byte, error) {
	if len(s.work.streams)+len(s.work.sessions)+len(s.work.things)+len(s.work.queue) > 0 {
		return b, errUnsettled
	}
	g := newGraph(s)
	g.number()
	sections := g.sections()
	for grew := true; grew; {
		grew = false
		for _, one := range sections {
			grew = one.write() || grew
		}
	}
	for _, one := range sections {
		if one.out.Err() != nil {
			g.odd = one.name + " that refer to nothing"
		}
	}
	if g.odd != "" {
		return b, fmt.Errorf("image of the state: %s", g.odd)
	}
	c := pack.NewWriter(b)
	for _, one := range sections {
		n := uint64(one.written)
		pack.Uint(c, &n)
	}
	for _, one := range sections {
		whole := one.out.Written()
		c.Bytes(&whole)
	}
	return c.Written(), nil
}

// Restore makes the state of an image, on all cores. It shares no memory with the
// image. One that AppendImage did not write gives an error, or a state that nobody
// should trust; it does not panic, but may take hundreds of times its size in memory:
// know who wrote it.
func Restore(image []byte) (*State, error) {
	g := newGraph(New())
	sections := g.sections()
	c := pack.NewReader(image)
	for _, one := range sections {
		pack.Uint(c, &one.held)
	}
	for _, one := range sections {
		one.in = c.Part(nil)
	}
	if err := c.End(); err != nil {
		return nil, fmt.Errorf("image of the state: %w", err)
	}
	for _, one := range sections {
		if one.held > uint64(len(one.in)) { // each takes a byte at least
			return nil, fmt.Errorf("image of the state: %w", pack.ErrMalformed)
		}
	}
	var rooms, reads []func()
	for _, one := range sections {
		rooms, reads = append(rooms, one.room), append(reads, one.read)
	}
	onAllCores(rooms)
	onAllCores(reads)
	for _, one := range sections {
		if one.err != nil {
			return nil, fmt.Errorf("image of the state: %s: %w", one.name, one.err)
		}
	}
	if len(g.roots.all) != 1 {
		return nil, fmt.Errorf("image of the state: %w", pack.ErrMalformed)
	}
	g.join()
	return g.state, nil
}

// onAllCores does all of it, in no order.
func onAllCores(all []func()) {
	var next atomic.Int64
	var done sync.WaitGroup
	for range min(goruntime.GOMAXPROCS(0), len(all)) {
		done.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(all)); i = next.Add(1) - 1 {
				all[i]()
			}
		})
	}
	done.Wait()
}
