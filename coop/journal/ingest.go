package journal

import (
	"context"
	"fmt"
	"slices"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// Ingest takes what others sent: the stored bytes of events, of any streams and
// in any order. It returns when the fate of each is known; what it calls accepted
// is synced and in the state. ctx bounds the wait for batches before this one.
// The bytes must not be changed afterwards.
//
// Each event is looked at in this order: size, canonical form, version, identity;
// repository; whether it is held; trust; its stamp; its signature; the bounds on
// what others send; whether it comes next. Held means with the same bytes: that
// costs no signature check. Of one held with other bytes the first stays, and the
// second is kept beside it as proof, if its author signed it.
//
// An event is authentic when its own signature is good, or when a later authentic
// event of its stream reaches it through prev: so a run costs one check. One that
// is neither waits for that, as one waits whose predecessor is not there: one for
// each place, and one that is authentic takes the place of one that is not.
// Nothing depends on how a history is cut into batches.
//
// An authentic event of our own current stream that we do not hold says that this
// run was set back or is copied: the stream ends and the next append begins a new
// run (see [Health.Forsaken]).
func (j *Journal) Ingest(ctx context.Context, batch [][]byte) event.IngestReport {
	i := newIntake(j, batch)
	err := j.gate.enter()
	if err == nil {
		defer j.gate.leave()
		err = i.run(ctx)
	}
	if err != nil {
		i.report.Err = err
		for n, o := range i.report.Outcomes {
			if o.Status == 0 {
				i.report.Outcomes[n].Status = event.NotStored
			}
		}
	}
	i.report.Count()
	return i.report
}

// run takes the batch in its turn.
func (i *intake) run(ctx context.Context) error {
	i.parse()
	select {
	case i.j.turnstile <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("wait for the batches before: %w", ctx.Err())
	}
	defer func() { <-i.j.turnstile }()

	i.j.lock()
	i.ceiling = i.j.ceiling()
	for _, c := range i.candidates {
		if c != nil {
			i.take(c)
		}
	}
	for _, s := range i.order { // an event that was refused may have vouched for one that waits
		i.drain(s)
	}
	batches := i.enqueue()
	i.j.unlock()

	err := i.store(batches)

	i.j.lock()
	defer i.j.unlock()
	i.finish()
	return err
}

// intake is one batch on its way in. It has the journal's lock but while a
// signature is checked; the turnstile keeps other batches away meanwhile.
type intake struct {
	j          *Journal
	raw        [][]byte
	report     event.IngestReport
	candidates []*candidate // in the order in which they are looked at
	courses    map[ident.Stream]*course
	order      []*course
	ceiling    uint64 // no stamp above it counts

	accepted []*candidate // in the order of the log
	shares   shares       // of those accepted
	bytes    int64        // of those accepted
	proofs   []*event.Event

	newcomers newcomers
}

func newIntake(j *Journal, batch [][]byte) *intake {
	return &intake{
		j:       j,
		raw:     batch,
		report:  event.IngestReport{Outcomes: make([]event.Outcome, len(batch))},
		courses: map[ident.Stream]*course{},
		shares:  shares{},

		newcomers: newcomers{nodes: map[ident.NodeID]*newcomer{}},
	}
}

// parse reads the batch, without the lock: all that an event tells by itself.
// The events of one stream trade places so that they come in its order.
func (i *intake) parse() {
	i.candidates = make([]*candidate, len(i.raw))
	all := make([]candidate, len(i.raw))
	var parser event.Parser
	for n, raw := range i.raw {
		e, err := parser.Parse(raw)
		switch {
		case err != nil:
			i.report.Outcomes[n] = event.Outcome{Status: event.Rejected, Reason: event.Reason(parseRefusal(err))}
		case e.Repo != i.j.cfg.Repo:
			i.report.Outcomes[n] = event.Outcome{Status: event.Rejected, Reason: event.OtherRepository}
		default:
			s := i.course(e.Stream)
			c := &all[n]
			c.event, c.course, c.at = e, s, n
			i.candidates[n] = c
			s.all = append(s.all, c)
		}
	}
	for _, s := range i.order {
		s.sort(i.candidates)
	}
}

// set notes what became of c.
func (i *intake) set(c *candidate, s event.Status, why event.Reason) {
	switch {
	case !c.old:
		i.report.Outcomes[c.at] = event.Outcome{Status: s, Reason: why}
	case s == event.Accepted:
		i.report.Released++
	case s == event.Rejected || s == event.NotStored:
		i.report.Dropped++
	}
	if s != event.Rejected || c.old { // what another sender got wrong is not this one's
		return
	}
	in := i.courses[c.event.Stream]
	if in.block == nil || c.event.Seq < in.block.Seq {
		in.block = &event.Blocked{Stream: in.stream, Seq: c.event.Seq, Why: why}
	}
}

func (i *intake) refuse(c *candidate, why event.Reason) { i.set(c, event.Rejected, why) }

// finish leaves what waits as the next batch shall find it, and ends the report.
func (i *intake) finish() {
	j := i.j
	for _, s := range i.order {
		waiting := j.waiting.streams[s.stream]
		for seq, c := range waiting {
			waiting[seq] = c.settled()
		}
	}
	i.report.Count()
	j.health.Received += uint64(i.report.Accepted + i.report.Released)
	j.health.Duplicates += uint64(i.report.Duplicate)
	for why, n := range i.report.Rejected {
		for range n {
			add(&j.health.Rejected, why)
		}
	}
	for _, s := range i.order {
		if b, blocked := s.blocked(j); blocked {
			i.report.Blocked = append(i.report.Blocked, b)
		}
	}
	slices.SortFunc(i.report.Blocked, byStream)
}

// blocked tells where the stream gets no further, if it does not. A copy that was
// refused of what is held blocks nothing.
func (s *course) blocked(j *Journal) (event.Blocked, bool) {
	var b event.Blocked
	next := j.end(s.stream).seq + 1
	if s.block != nil && s.block.Why == event.Capacity && (s.returned || s.block.Seq > next) { // what comes before it is wanted
		return event.Blocked{Stream: s.stream, Seq: next, Why: event.Waiting}, true
	}
	blocked := s.block != nil && (s.block.Seq >= next || s.block.Why == event.Forked)
	if blocked {
		b = *s.block
	}
	if s.waits(j) {
		if w := j.waiting.blockedAt(j, s.stream); !blocked || w.Seq < b.Seq {
			return w, true
		}
	}
	return b, blocked
}

// waits reports whether something of the batch waits. What another sender brought is
// not this one's to wait for: a forged event would keep the author's own from us.
func (s *course) waits(j *Journal) bool {
	if len(j.waiting.streams[s.stream]) == 0 {
		return false
	}
	for _, c := range s.all {
		if w := j.waiting.get(s.stream, c.event.Seq); w != nil && w.event.Hash == c.event.Hash {
			return true
		}
	}
	return false
}
