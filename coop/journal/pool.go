package journal

import (
	"bytes"
	"slices"
	"strings"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// A candidate is an event of somebody else that is not taken yet.
type candidate struct {
	event  *event.Event
	course *course // of the batch under way, nil when it waits since an earlier one
	at     int     // its number in the batch under way, since when it waits if at all
	old    bool    // it waits since an earlier batch

	checked, good bool    // its own signature was looked at, and is good
	reached       bool    // it is authentic
	barren        *intake // the batch in which nothing reaches it
}

// settled is c as it waits by itself: it keeps nothing of the batch that it came in,
// whose bytes may lie in one large buffer, as its candidates do.
func (c *candidate) settled() *candidate {
	c.barren = nil
	if c.old {
		return c
	}
	own := *c
	own.course, own.old = nil, true
	if e, err := event.Parse(bytes.Clone(c.event.Raw)); err == nil { // it was parsed before
		own.event = e
	}
	return &own
}

// pool holds the candidates that wait, in the bounds of the limits: one for each
// place of a stream.
type pool struct {
	streams map[ident.Stream]map[uint64]*candidate
	nodes   map[ident.NodeID]held
	total   held
}

// held is how much waits.
type held struct {
	events int
	size   int64 // bytes
}

func (h held) with(events, size int) held { return held{h.events + events, h.size + int64(size)} }

func newPool() pool {
	return pool{streams: map[ident.Stream]map[uint64]*candidate{}, nodes: map[ident.NodeID]held{}}
}

func (p *pool) get(s ident.Stream, seq uint64) *candidate { return p.streams[s][seq] }

func (p *pool) put(c *candidate) {
	s := c.event.Stream
	if p.streams[s] == nil {
		p.streams[s] = map[uint64]*candidate{}
	}
	p.streams[s][c.event.Seq] = c
	p.nodes[s.Node()] = p.nodes[s.Node()].with(1, len(c.event.Raw))
	p.total = p.total.with(1, len(c.event.Raw))
}

// full reports whether e is more than may wait.
func (p *pool) full(e *event.Event, l event.Limits) bool {
	node, all := p.nodes[e.Stream.Node()].with(1, len(e.Raw)), p.total.with(1, len(e.Raw))
	return node.events > l.NodePending || node.size > l.NodePendingSize ||
		all.events > l.PendingTotal || all.size > l.PendingSize ||
		len(p.streams[e.Stream]) >= l.Pending
}

func (p *pool) remove(c *candidate) {
	s := c.event.Stream
	delete(p.streams[s], c.event.Seq)
	if len(p.streams[s]) == 0 {
		delete(p.streams, s)
	}
	left := p.nodes[s.Node()].with(-1, -len(c.event.Raw))
	if p.nodes[s.Node()] = left; left.events == 0 {
		delete(p.nodes, s.Node())
	}
	p.total = p.total.with(-1, -len(c.event.Raw))
}

// blocked tells, by stream, what those that wait are waiting for.
func (p *pool) blocked(j *Journal) []event.Blocked {
	var all []event.Blocked
	for s := range p.streams {
		all = append(all, p.blockedAt(j, s))
	}
	slices.SortFunc(all, byStream)
	return all
}

func (p *pool) blockedAt(j *Journal, s ident.Stream) event.Blocked {
	h := j.heads.of(s)
	next := j.end(s).seq + 1
	if h.whole < h.seq {
		next = h.whole + 1
	}
	why := event.Waiting
	if p.get(s, next) != nil { // it is there, and nothing vouches for it
		why = event.BadSignature
	}
	return event.Blocked{Stream: s, Seq: next, Why: why}
}

func byStream(a, b event.Blocked) int { return strings.Compare(string(a.Stream), string(b.Stream)) }
