package journal

import (
	"slices"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// A lineage is the runs of this runtime under one record, as far as the next
// run may have to name them: those that the latest run named, and itself. Any
// other has ended, and nothing revives it.
type lineage struct {
	last   ident.Stream // the latest run, and its first event
	first  event.StreamSucceeded
	goesOn map[ident.Stream]bool
	opened map[string][]ident.Stream              // where an open session said what it is, first and last
	wrote  map[string]map[ident.Stream]bool       // where an open session opened, claimed or asked
	ends   map[ident.Stream]map[ident.Stream]bool // whose things a stream ends
}

func newLineage() *lineage {
	return &lineage{
		goesOn: map[ident.Stream]bool{},
		opened: map[string][]ident.Stream{},
		wrote:  map[string]map[ident.Stream]bool{},
		ends:   map[ident.Stream]map[ident.Stream]bool{},
	}
}

// lineages are those of all records that this runtime's key counts under: more
// than one when the folder went to another machine, or the key has a second user.
type lineages struct {
	byRecord map[string]*lineage
	records  map[ident.Stream]string
}

func newLineages() lineages {
	return lineages{map[string]*lineage{}, map[ident.Stream]string{}}
}

// of returns the lineage of a record; an empty one when there is none.
func (ls lineages) of(record string) *lineage {
	if l := ls.byRecord[record]; l != nil {
		return l
	}
	return newLineage()
}

// recordOf is the record that the first event of a stream of this runtime
// names, "" when it is not held.
func (ls lineages) recordOf(s ident.Stream) string { return ls.records[s] }

// observe takes in an event of this runtime, in the order of its stream but for
// one that was lost and comes late.
func (ls lineages) observe(e *event.Event, late bool) {
	if b, ok := e.Body.(event.StreamSucceeded); ok && e.Seq == 1 {
		l := ls.of(b.Record)
		ls.byRecord[b.Record] = l
		ls.records[e.Stream] = b.Record
		l.succeed(e.Stream, b)
		return
	}
	if l := ls.byRecord[ls.records[e.Stream]]; l != nil {
		l.observe(e, late || e.Stream != l.last)
	}
}

// drop takes out a run that is not held any more.
func (ls lineages) drop(s ident.Stream) {
	record := ls.records[s]
	l := ls.byRecord[record]
	delete(ls.records, s)
	if l == nil {
		return
	}
	if !ls.counts(record) { // as if there had never been one
		delete(ls.byRecord, record)
		return
	}
	delete(l.goesOn, s)
	delete(l.ends, s)
	for sid, at := range l.opened {
		if at = slices.DeleteFunc(at, func(in ident.Stream) bool { return in == s }); len(at) == 0 {
			delete(l.opened, sid)
		} else {
			l.opened[sid] = at
		}
	}
	for sid, in := range l.wrote {
		if delete(in, s); len(in) == 0 {
			delete(l.wrote, sid)
		}
	}
}

// counts reports whether some run of a record is held.
func (ls lineages) counts(record string) bool {
	for _, r := range ls.records {
		if r == record {
			return true
		}
	}
	return false
}

// succeed drops what the first event of a run does not name. That of an earlier
// run, which was not held and comes from a peer, drops nothing.
func (l *lineage) succeed(stream ident.Stream, b event.StreamSucceeded) {
	if l.last != "" && b.Run < l.first.Run {
		if slices.Contains(l.first.Streams, stream) {
			l.goesOn[stream] = true
		}
		return
	}
	l.last, l.first = stream, b
	for s := range l.goesOn {
		if !slices.Contains(b.Streams, s) {
			delete(l.goesOn, s)
			delete(l.ends, s)
		}
	}
	for sid := range l.wrote {
		if !slices.Contains(b.Sessions, sid) {
			l.forget(sid)
		}
	}
	l.goesOn[stream] = true
}

func (l *lineage) forget(sid string) {
	delete(l.wrote, sid)
	delete(l.opened, sid)
}

func (l *lineage) observe(e *event.Event, late bool) {
	switch b := e.Body.(type) {
	case event.SessionOpened:
		l.open(b.Info.Session, e.Stream)
		l.write(b.Info.Session, e.Stream)
	case event.ReviewRequested:
		l.write(b.Session, e.Stream)
	case event.ClaimAcquired:
		l.write(b.Session, e.Stream)
		for _, k := range b.Fences {
			l.end(e.Stream, k.Stream)
		}
	case event.ClaimReleased:
		l.end(e.Stream, b.Claim.Stream)
	case event.ReviewClosed:
		l.end(e.Stream, b.Request.Stream)
	case event.HandoverWithdrawn:
		l.end(e.Stream, b.Publication.Stream)
	case event.SessionClosed:
		for s := range l.wrote[b.Session] {
			l.end(e.Stream, s)
		}
		if !late { // the session may have been opened again since
			l.forget(b.Session)
		}
	case event.StreamCheckpoint:
		for _, s := range b.Covers {
			l.end(e.Stream, s)
		}
	}
}

func (l *lineage) open(sid string, s ident.Stream) {
	at := l.opened[sid]
	switch {
	case len(at) == 0:
		l.opened[sid] = []ident.Stream{s}
	case at[len(at)-1] != s:
		l.opened[sid] = []ident.Stream{at[0], s}
	}
}

func (l *lineage) write(sid string, s ident.Stream) {
	if l.wrote[sid] == nil {
		l.wrote[sid] = map[ident.Stream]bool{}
	}
	l.wrote[sid][s] = true
}

// end notes that s ends something in of.
func (l *lineage) end(s, of ident.Stream) {
	if s == of || !l.goesOn[of] {
		return
	}
	if l.ends[s] == nil {
		l.ends[s] = map[ident.Stream]bool{}
	}
	l.ends[s][of] = true
}

// close adds to named every run that ends something in a named one, and returns
// all in order.
func (l *lineage) close(named map[ident.Stream]bool) []ident.Stream {
	for grew := true; grew; {
		grew = false
		for s, of := range l.ends {
			if !named[s] && anyOf(of, named) {
				named[s], grew = true, true
			}
		}
	}
	all := make([]ident.Stream, 0, len(named))
	for s := range named {
		all = append(all, s)
	}
	slices.Sort(all)
	return all
}

func anyOf(a, b map[ident.Stream]bool) bool {
	for s := range a {
		if b[s] {
			return true
		}
	}
	return false
}
