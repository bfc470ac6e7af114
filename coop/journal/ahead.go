package journal

import (
	"runtime"
	"sync"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/internal/seglog"
)

// A reading is a record of the log, opened, and parsed when it is an event's.
type reading struct {
	index  uint64
	record record
	event  *event.Event
	err    error // why it is no record
	form   error // why it is no event
}

// Records are looked at by the batch: enough of them that handing one over costs
// little, and few enough that they are not many at once in memory.
const (
	aheadRecords = 64
	aheadBatches = 4 // under way for each looker
	maxLookers   = 8 // who opens and parses at once
)

// lookout opens and parses records on all cores, ahead of the one who folds them:
// neither depends on what was before. Not safe for concurrent use.
type lookout struct {
	take  func(*reading) // in the order of the log; it is the lookout's again when take returns
	work  chan *sighting
	done  sync.WaitGroup
	next  *sighting
	order []*sighting // handed over and not taken yet
	spare []*sighting
	most  int // of order
}

// A sighting is one batch.
type sighting struct {
	records []seglog.Record
	found   []reading
	ready   chan struct{}
}

func newLookout(seal func() *sealer, take func(*reading)) *lookout {
	n := min(runtime.GOMAXPROCS(0), maxLookers)
	l := &lookout{take: take, work: make(chan *sighting, aheadBatches*n), most: aheadBatches * n}
	for range n {
		s := seal()
		l.done.Go(func() { l.look(s) })
	}
	return l
}

// look works off batches.
func (l *lookout) look(seal *sealer) {
	var parser event.Parser
	for b := range l.work {
		for _, stored := range b.records {
			b.found = append(b.found, reading{index: stored.Index})
			b.found[len(b.found)-1].read(seal, &parser, stored.Data)
		}
		b.ready <- struct{}{}
	}
}

// read opens the record of r.
func (r *reading) read(seal *sealer, parser *event.Parser, data []byte) {
	r.record, r.err = seal.open(data)
	if r.err == nil && r.record.kind == RecordEvent && r.record.version <= recordVersion {
		r.event, r.form = parser.Parse(r.record.payload)
	}
}

// put takes the next record of the log, whose bytes must stay as they are.
func (l *lookout) put(stored seglog.Record) {
	if l.next == nil {
		l.next = l.empty()
	}
	l.next.records = append(l.next.records, stored)
	if len(l.next.records) == aheadRecords {
		l.send()
	}
}

func (l *lookout) empty() *sighting {
	if n := len(l.spare); n > 0 {
		b := l.spare[n-1]
		l.spare = l.spare[:n-1]
		return b
	}
	return &sighting{ready: make(chan struct{}, 1)}
}

// send hands over the batch that fills, and takes those that are too many.
func (l *lookout) send() {
	if len(l.order) == l.most {
		l.first()
	}
	l.order = append(l.order, l.next)
	l.work <- l.next
	l.next = nil
}

// first takes the first batch that is under way.
func (l *lookout) first() {
	b := l.order[0]
	l.order = l.order[1:]
	<-b.ready
	for i := range b.found {
		l.take(&b.found[i])
	}
	clear(b.records)
	clear(b.found)
	b.records, b.found = b.records[:0], b.found[:0]
	l.spare = append(l.spare, b)
}

// rest takes all that was put.
func (l *lookout) rest() {
	if l.next != nil {
		l.send()
	}
	for len(l.order) > 0 {
		l.first()
	}
}

// end lets go of those who look, when all was taken or nobody wants the rest.
func (l *lookout) end() {
	close(l.work)
	l.done.Wait()
}
