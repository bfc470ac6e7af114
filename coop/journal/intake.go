package journal

import (
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// enqueue gives what was accepted its places in the log, in batches of the size
// of one write. From here on it runs to its end, like an own write.
func (i *intake) enqueue() []*batch {
	j := i.j
	if j.ended != nil || len(i.accepted)+len(i.proofs) == 0 {
		return nil
	}
	var all []*batch
	b, recs, size := new(batch), make([][]byte, 0, len(i.accepted)+len(i.proofs)), 0
	flush := func() {
		if len(recs) > 0 {
			all = append(all, j.queue(b, recs))
		}
		b, recs, size = new(batch), nil, 0
	}
	add := func(t RecordType, raw []byte) {
		recs = append(recs, j.seal.seal(t, raw))
		size += recordHeader + len(raw)
	}
	full := func(e *event.Event) bool {
		return len(recs) == maxBatchRecords || size+recordHeader+len(e.Raw) > maxBatchBytes
	}
	for _, c := range i.accepted {
		if full(c.event) {
			flush()
		}
		b.taken = append(b.taken, c.event)
		add(RecordEvent, c.event.Raw)
	}
	for _, e := range i.proofs {
		if full(e) {
			flush()
		}
		b.proofs++
		add(RecordFork, e.Raw)
	}
	flush()
	return all
}

// store waits until what was accepted is synced and applied, and tells what
// became of it.
func (i *intake) store(batches []*batch) (err error) {
	for _, b := range batches {
		i.j.settle(b)
		if b.err != nil && err == nil {
			err = b.err
		}
		for range b.taken {
			i.settled(i.accepted[0], b.err)
			i.accepted = i.accepted[1:]
		}
	}
	for _, c := range i.accepted { // nothing can be written
		err = &ReadOnlyError{i.j.readOnly()}
		i.settled(c, err)
	}
	return err
}

func (i *intake) settled(c *candidate, err error) {
	if err != nil {
		i.set(c, event.NotStored, "")
		return
	}
	i.set(c, event.Accepted, "")
}

// landTaken applies the events of others in a synced batch that begins at index.
func (j *Journal) landTaken(b *batch, index uint64) {
	for n, e := range b.taken {
		j.ours(e)
		j.heardAgain(e.Stream.Runtime())
		refused := j.arrive(Arrival{Event: e, Index: index + uint64(n)})
		if refused != "" {
			j.health.refuse(refused) // unreachable unless it was judged wrongly: a reload judges alike
		}
	}
	if len(b.taken) > 0 {
		j.lives.trim(j.cfg.Limits, j.clock.Boot())
	}
}

// ours looks at a first event of our own runtime that came from outside. An
// earlier run of ours was lost here; any other is a second user's.
func (j *Journal) ours(e *event.Event) {
	first, ok := e.Body.(event.StreamSucceeded)
	if !ok || e.Seq > 1 || e.Stream.Node() != j.runtime.Node || e.Stream == j.own.stream {
		return
	}
	ahead := first.Record == j.run.Record && first.Run >= j.run.Run
	if ahead && e.Stream.Runtime() == j.runtime && j.own.seq == 0 { // we have said nothing yet: we come after it
		j.run.Run = first.Run + 1
		return
	}
	if ahead || first.Record != j.run.Record {
		j.second(j.lives.of(e.Stream, j.clock.Boot()))
	}
	if ahead && e.Stream.Runtime() == j.runtime {
		j.outrun()
	}
}

// outrun ends this run, which somebody counts against: this machine was set back
// to before a run that there was, or a copy of this folder counts under its record.
// By that count what this run writes has ended, or is going to end what the copy
// has. So the next run begins a record of its own.
func (j *Journal) outrun() {
	j.run.Record, j.run.Run = ident.NewRecord(), 0
	j.forsake()
}

func (j *Journal) readOnly() error {
	j.lock()
	defer j.unlock()
	return j.ended
}
