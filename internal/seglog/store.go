package seglog

import (
	"sort"
	"sync"

	"github.com/comity-dev/comity/internal/vfs"
)

// A store is what reading needs: the segments and the durable end.
type store struct {
	fsys vfs.FS
	dir  string
	inc  [16]byte

	mu      sync.RWMutex
	segs    []*segment // replaced as a whole, never changed in place
	end     uint64
	damage  []Damage
	waiters map[uint64]chan struct{}
	closed  bool

	bufs sync.Pool // of look-ups
}

// First returns the first index that is kept: End()+1 when none is.
func (s *store) First() uint64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.firstLocked()
}

func (s *store) firstLocked() uint64 {
	for _, g := range s.segs {
		if g.kept != 0 {
			return g.kept
		}
	}
	return s.end + 1
}

// End returns the highest durable index, whether or not its record was dropped
// since: 0 when nothing was ever appended.
func (s *store) End() uint64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.end
}

// Incarnation returns the random name that the log got when it was made.
func (s *store) Incarnation() [16]byte { return s.inc }

// Damage returns all damage known: what opening reported and what reading has
// come upon since.
func (s *store) Damage() []Damage {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return append([]Damage(nil), s.damage...)
}

func (s *store) noteDamage(list ...Damage) {
	if len(list) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.damage = addDamage(s.damage, list...)
}

// damaged reports whether index lies in a known damage.
func (s *store) damaged(index uint64) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, d := range s.damage {
		if d.FirstIndex <= index && index <= d.LastIndex {
			return true
		}
	}
	return false
}

// Grown returns a channel that is closed once End() >= index, or when the log
// is closed.
func (s *store) Grown(index uint64) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.waiters[index]; c != nil {
		return c
	}
	c := make(chan struct{})
	if s.end >= index || s.closed {
		close(c)
		return c
	}
	if s.waiters == nil {
		s.waiters = make(map[uint64]chan struct{})
	}
	s.waiters[index] = c
	return c
}

// wakeLocked closes the channels of those who wait for the end as it is.
func (s *store) wakeLocked() {
	for index, c := range s.waiters {
		if index <= s.end || s.closed {
			close(c)
			delete(s.waiters, index)
		}
	}
}

// A span is one segment as a reader sees it.
type span struct {
	*segment
	file   *handle
	last   uint64
	limit  int64
	places []place
}

// span returns the first segment that stands for index or for one behind it;
// none when there is no such segment. The caller releases its file.
func (s *store) span(index uint64) (*span, error) {
	s.mu.RLock()
	if s.closed {
		s.mu.RUnlock()
		return nil, ErrClosed
	}
	i := sort.Search(len(s.segs), func(i int) bool { return s.segs[i].last >= index })
	if i == len(s.segs) {
		s.mu.RUnlock()
		return nil, nil
	}
	g := s.segs[i]
	f, err := g.acquire(s.fsys, s.dir)
	sp := &span{segment: g, file: f, last: g.last}
	active := i == len(s.segs)-1
	if active { // it grows under s.mu; the others change once, under their own
		sp.limit, sp.places = g.limit, g.places
	}
	s.mu.RUnlock()
	if err != nil {
		return nil, err
	}
	if active {
		return sp, nil
	}
	damage, err := g.load(f, s.inc)
	if err != nil {
		f.release()
		return nil, err
	}
	s.noteDamage(damage...)
	g.mu.Lock()
	sp.limit, sp.places = g.limit, g.places
	g.mu.Unlock()
	return sp, nil
}

// walk returns a walker of sp from the record index on.
func (s *store) walk(sp *span, index uint64, chunk int) *walker {
	at := floor(sp.places, index)
	prev := sp.first - 1
	for _, p := range sp.places {
		if p.off == at {
			prev = p.index - 1
		}
		if p.off >= at {
			break
		}
	}
	w := &walker{sparse: sp.sparse(), prev: prev}
	w.scanner = scanner{r: sp.file, seal: sp.seal, pos: at, limit: sp.limit, last: prev, hi: sp.last, skip: index, chunk: chunk}
	w.onHole = func(h hole) { s.noteDamage(h.damage(sp.name)) }
	if sp.broken {
		w.limit = w.pos
	}
	return w
}

// close makes readers fail, wakes followers, and lets go of the files.
func (s *store) close() error {
	s.mu.Lock()
	s.closed = true
	s.wakeLocked()
	segs := s.segs
	s.mu.Unlock()
	var first error
	for _, g := range segs {
		if err := g.drop(); err != nil && first == nil {
			first = err
		}
	}
	return first
}
