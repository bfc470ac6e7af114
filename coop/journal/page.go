package journal

import (
	"errors"
	"fmt"
	"sort"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/internal/seglog"
)

// DefaultPage is the limit of a page for which none is given.
const DefaultPage = 100

// An Arrival is one event and its place in the order in which this journal got
// its events.
type Arrival struct {
	Cursor string // behind this event; empty when Reloaded
	Index  uint64 // in the log
	Event  *event.Event
	Again  bool // it was dropped once and came a second time

	Reloaded bool // told to Observe: found on disk when the journal was opened
}

// A Page is a piece of the walk over all events in the order of arrival.
type Page struct {
	Arrivals []Arrival
	Next     string // where the walk goes on
	More     bool   // there is more already
}

// Page returns the events behind cursor, at most limit, from the beginning for
// the empty cursor; a limit below 1 means DefaultPage. A walk that follows Next
// gets every event exactly once, also those that come while it goes on. Events
// that are not synced are never in a page.
//
// A cursor that this journal cannot follow is a *CursorError. An event that can
// no longer be read ends the page before it, and is an error when it is the first.
func (j *Journal) Page(cursor string, limit int) (Page, error) {
	if limit < 1 {
		limit = DefaultPage
	}
	return j.page(func() (int, int, error) {
		after, err := j.after(cursor)
		if err != nil {
			return 0, 0, err
		}
		from := j.behind(after)
		return from, from + min(limit, j.arrivals.len()-from), nil
	})
}

// Tail returns the last n events; its Next is the end.
func (j *Journal) Tail(n int) (Page, error) {
	return j.page(func() (int, int, error) {
		to := j.arrivals.len()
		return to - min(max(n, 0), to), to, nil
	})
}

// page reads the arrivals that pick names under the lock.
func (j *Journal) page(pick func() (from, to int, err error)) (Page, error) {
	if err := j.gate.enter(); err != nil {
		return Page{}, err
	}
	defer j.gate.leave()
	j.lock()
	arrivals, view := j.arrivals, j.view
	from, to, err := pick()
	next := uint64(0)
	if err == nil && from > 0 {
		next = arrivals.at(from - 1)
	}
	p := Page{Next: j.cursor(next)}
	j.unlock()
	if err != nil {
		return Page{}, err
	}
	return j.read(p, view, arrivals, from, to)
}

func (j *Journal) read(p Page, view string, arrivals indexes, from, to int) (Page, error) {
	for i, index := range arrivals.slice(from, to) {
		e, err := j.readEvent(index)
		if errors.Is(err, seglog.ErrNotFound) { // dropped meanwhile
			p.Next = j.cursorIn(view, index)
			continue
		}
		if err != nil && i > 0 {
			p.More = true
			return j.marked(p), nil
		}
		if err != nil {
			return Page{}, fmt.Errorf("read event at index %d of the journal: %w", index, err)
		}
		p.Next = j.cursorIn(view, index)
		p.Arrivals = append(p.Arrivals, Arrival{Cursor: p.Next, Index: index, Event: e})
	}
	p.More = to < arrivals.len()
	return j.marked(p), nil
}

// marked says of each event whether it had been dropped before.
func (j *Journal) marked(p Page) Page {
	j.lock()
	defer j.unlock()
	for i, a := range p.Arrivals {
		p.Arrivals[i].Again = j.tombs.again(a.Event.Key(), a.Index)
	}
	return p
}

// readEvent reads an event that is in the fold: it was checked when it got there.
func (j *Journal) readEvent(index uint64) (*event.Event, error) {
	rec, err := j.log.Read(index)
	switch {
	case err != nil:
		return nil, err
	case len(rec.Data) < recordHeader:
		return nil, errShortRecord
	}
	return event.Parse(rec.Data[recordHeader:])
}

// behind is the place in arrivals of the first one behind index.
func (j *Journal) behind(index uint64) int {
	return sort.Search(j.arrivals.len(), func(i int) bool { return j.arrivals.at(i) > index })
}

// End is the cursor behind the last event that arrived.
func (j *Journal) End() string {
	j.lock()
	defer j.unlock()
	return j.cursor(j.last())
}

// Grown returns a channel that is closed once there is an event behind cursor,
// at once when there is one, when the cursor cannot be followed, and when the
// journal is closed.
func (j *Journal) Grown(cursor string) <-chan struct{} {
	j.lock()
	defer j.unlock()
	after, err := j.after(cursor)
	if err != nil || after < j.last() || j.grown == nil {
		return closed()
	}
	return j.grown
}
