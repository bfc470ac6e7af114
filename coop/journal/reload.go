package journal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"slices"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// reload reads the log once, in order, and makes the state of it. Nobody else
// has the journal yet.
type reload struct {
	j         *Journal
	authentic *authentic
	lastOwn   ident.Stream // of the last event of this runtime
}

func newReload(j *Journal) *reload {
	return &reload{j: j, authentic: newAuthentic(j.cfg.Limits.Pending)}
}

func (j *Journal) reload(ctx context.Context) error {
	r := newReload(j)
	if err := r.all(ctx); err != nil {
		return err
	}
	j.forks.keep(func(s ident.Stream) bool { return j.heads[s] != nil || j.withheld[s] != nil })
	j.resume()
	return nil
}

// resume begins this run, once what was before it is known.
func (j *Journal) resume() {
	j.view = j.viewNow()
	j.run = j.nextRun()
	j.lapseOnReload()
	j.health.SecondUsers = j.secondUsers()
}

// all takes the records of the log one by one.
func (r *reload) all(ctx context.Context) error {
	j, next := r.j, uint64(1)
	l := newLookout(j.sealer, func(found *reading) {
		r.missing(next, found.index)
		r.record(found)
		next = found.index + 1
	})
	defer l.end()
	for rec, err := range j.log.From(next) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		l.put(rec)
	}
	l.rest()
	r.missing(next, j.log.End()+1)
	r.end()
	return nil
}

// end gives up what still waits, and brings the arrivals into order: events that
// waited came behind those that reached them.
func (r *reload) end() {
	for range r.authentic.rest() {
		r.refuse(RefusedSignature)
	}
	r.j.health.Verified += r.authentic.checked
	r.j.relist()
}

func (r *reload) record(found *reading) {
	j, rec := r.j, &found.record
	switch {
	case found.err != nil:
		r.refuse(RefusedRecord)
		return
	case rec.version > recordVersion:
		j.health.Newer++
		j.ended = ErrNewerFormat
		return
	}
	j.health.count(rec.kind)
	if !rec.sealed {
		j.health.BadMACs++
	}
	switch rec.kind {
	case RecordEvent:
		r.event(found)
	case RecordRow:
		r.row(rec, found.index)
	case RecordBeats:
		r.beats(rec)
	case RecordTombs:
		r.tombs(rec)
	case RecordFork:
		r.fork(rec)
	}
}

func (r *reload) beats(rec *record) {
	saved, err := decodeBeats(rec.payload)
	if err != nil || !rec.sealed {
		r.refuse(RefusedRecord)
		return
	}
	r.j.stamp = max(r.j.stamp, saved.clock)
	r.j.waste += len(rec.payload)
	r.j.restore(saved)
}

// tombs takes up which streams were dropped. One that is here nevertheless is
// what a rewrite that did not get to its end has left.
func (r *reload) tombs(rec *record) {
	boot, all, err := decodeTombs(rec.payload)
	if err != nil || !rec.sealed {
		r.refuse(RefusedRecord)
		return
	}
	j := r.j
	j.waste += len(rec.payload)
	j.tombs = newTombs()
	for _, t := range all {
		t.measured = t.measured && boot == j.clock.BootID() && t.taken <= j.started
		j.tombs.put(t, j.cfg.Limits.Tombstones)
		if t.returned {
			if j.believed(t.stream.Node()) {
				j.want(t)
			}
			continue
		}
		delete(r.authentic.waiting, t.stream)
		delete(j.forks, t.stream)
		j.dead = append(j.dead, j.withheld[t.stream]...)
		delete(j.withheld, t.stream)
		if j.heads[t.stream] == nil {
			j.lives.remove(t.stream)
			j.lives.changes.note(t.stream)
			continue
		}
		indexes, _ := j.leave(t.stream)
		j.unlist(indexes)
		j.dead = append(j.dead, indexes...)
	}
}

func (r *reload) fork(rec *record) {
	e, err := event.Parse(rec.payload)
	if err != nil || !rec.sealed {
		r.refuse(RefusedRecord)
		return
	}
	r.j.forks.put(e)
}

func (r *reload) row(rec *record, index uint64) {
	local, err := decodeRow(rec.payload)
	if err != nil || !rec.sealed {
		r.refuse(RefusedRecord)
		return
	}
	r.j.row(local, index)
}

func (r *reload) event(at *reading) {
	e := at.event
	if e == nil {
		r.refuse(parseRefusal(at.form))
		return
	}
	if at.record.sealed { // a stamp that was seen once is never given out again
		r.j.stamp = max(r.j.stamp, e.Lamport)
	}
	if refused := r.unbelieved(e); refused != "" {
		if refused == RefusedUntrusted {
			r.withhold(at)
		}
		r.refuse(refused)
		return
	}
	good, bad := r.authentic.admit(found{e, at.index}, at.record.sealed)
	for range bad {
		r.refuse(RefusedSignature)
	}
	for _, f := range good {
		r.apply(f)
	}
}

// withhold keeps in mind where an event is that is not believed. One behind the
// record that says that its stream was dropped says that it came back since.
func (r *reload) withhold(at *reading) {
	j, s := r.j, at.event.Stream
	j.withheld[s] = append(j.withheld[s], at.index)
	if t := j.tombs.of(s); t != nil && at.record.sealed {
		t.returned = true
	}
}

func (r *reload) apply(f found) {
	if refused := r.j.arrive(Arrival{Event: f.event, Index: f.index, Reloaded: true}); refused != "" {
		r.refuse(refused)
		return
	}
	r.j.health.Reloaded++
	if r.j.heads[f.event.Stream].ours {
		r.lastOwn = f.event.Stream
	}
}

// missing steps over the records from one index up to another that the disk
// lost. Which events they were shows when their stream goes on; when it does
// not, the own stream that was being written may have lost its end. Each of them
// may have carried a stamp.
func (r *reload) missing(from, to uint64) {
	if from >= to {
		return
	}
	for _, d := range r.j.log.Damage() {
		first, last := max(d.FirstIndex, from), min(d.LastIndex, to-1)
		if d.FirstIndex == 0 || first > last {
			continue
		}
		r.j.stamp += last - first + 1
		if r.lastOwn != "" {
			r.j.health.suspect(r.lastOwn, r.j.heads[r.lastOwn].seq+1)
		}
	}
}

func (r *reload) refuse(why Refusal) { r.j.health.refuse(why) }

// unbelieved is unbelieved of the journal. Of a stream that is held it is known
// whose it is: what Trust says stays the same.
func (r *reload) unbelieved(e *event.Event) Refusal {
	if e.Repo == r.j.cfg.Repo && r.j.heads[e.Stream] != nil {
		return ""
	}
	return r.j.unbelieved(e)
}

// unbelieved is why an event is not taken whoever signed it.
func (j *Journal) unbelieved(e *event.Event) Refusal {
	switch {
	case e.Repo != j.cfg.Repo:
		return RefusedRepository
	case e.Stream.Node() == j.runtime.Node:
		return ""
	case !j.believed(e.Stream.Node()):
		return RefusedUntrusted
	}
	return ""
}

func parseRefusal(err error) Refusal {
	var form *event.FormError
	if errors.As(err, &form) {
		return formRefusal(form.Reason)
	}
	return formRefusal(event.Malformed)
}

const viewDigits = 8

// viewNow names the set of nodes whose events are on disk and not believed.
func (j *Journal) viewNow() string {
	nodes := map[ident.NodeID]bool{}
	for s := range j.withheld {
		nodes[s.Node()] = true
	}
	h := sha256.New()
	for _, n := range slices.Sorted(maps.Keys(nodes)) {
		h.Write([]byte(n))
	}
	return hex.EncodeToString(h.Sum(nil))[:viewDigits]
}
