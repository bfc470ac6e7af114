package journal

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"slices"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/internal/seglog"
)

// reload reads the log once, in order, and makes the state of it. Nobody else
// has the journal yet.
type reload struct {
	j         *Journal
	authentic *authentic
	withheld  map[ident.NodeID]bool // nodes with events here that are not believed
	lastOwn   ident.Stream          // of the last event of this runtime
}

func (j *Journal) reload(ctx context.Context, report *seglog.Report) error {
	r := &reload{j: j, authentic: newAuthentic(j.cfg.Limits.Pending), withheld: map[ident.NodeID]bool{}}
	holes := lostRanges(report)
	for rec, err := range j.log.From(j.log.First()) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		for len(holes) > 0 && holes[0].First < rec.Index {
			r.pass(holes[0])
			holes = holes[1:]
		}
		r.record(rec)
	}
	for _, h := range holes {
		r.pass(h)
	}
	for range r.authentic.rest() {
		r.refuse(RefusedSignature)
	}
	slices.Sort(j.arrivals) // events that waited came behind those that reached them
	j.view = viewOf(r.withheld)
	j.run = j.nextRun()
	j.health.SecondUsers = j.secondUsers()
	return nil
}

func (r *reload) record(stored seglog.Record) {
	j := r.j
	rec, err := j.seal.open(stored.Data)
	switch {
	case err != nil:
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
		r.event(slices.Clone(rec.payload), stored.Index, rec.sealed)
	case RecordRow:
		r.row(rec)
	}
}

func (r *reload) row(rec record) {
	local, err := decodeRow(rec.payload)
	if err != nil || !rec.sealed {
		r.refuse(RefusedRecord)
		return
	}
	r.j.rows.apply(local)
}

func (r *reload) event(raw []byte, index uint64, sealed bool) {
	e, err := event.Parse(raw)
	if err != nil {
		r.refuse(parseRefusal(err))
		return
	}
	if sealed { // a stamp that was seen once is never given out again
		r.j.stamp = max(r.j.stamp, e.Lamport)
	}
	if refused := r.j.unbelieved(e); refused != "" {
		if refused == RefusedUntrusted {
			r.withheld[e.Stream.Node()] = true
		}
		r.refuse(refused)
		return
	}
	good, bad := r.authentic.admit(found{e, index}, sealed)
	for range bad {
		r.refuse(RefusedSignature)
	}
	for _, f := range good {
		r.apply(f)
	}
}

func (r *reload) apply(f found) {
	if refused := r.j.arrive(Arrival{Event: f.event, Index: f.index, Reloaded: true}); refused != "" {
		r.refuse(refused)
		return
	}
	r.j.health.Reloaded++
	delete(r.j.health.Suspects, f.event.Stream) // it goes on
	if f.event.Stream.Runtime() == r.j.runtime {
		r.lastOwn = f.event.Stream
	}
}

// pass steps over records that the disk lost. Which events they were shows when
// their stream goes on; when it does not, the own stream that was being written
// may have lost its end. Each of them may have carried a stamp.
func (r *reload) pass(h Range) {
	r.j.stamp += h.Last - h.First + 1
	if r.lastOwn != "" {
		r.j.health.suspect(r.lastOwn, r.j.heads[r.lastOwn].seq+1)
	}
}

func (r *reload) refuse(why Refusal) { r.j.health.refuse(why) }

// unbelieved is why an event is not taken whoever signed it.
func (j *Journal) unbelieved(e *event.Event) Refusal {
	switch {
	case e.Repo != j.cfg.Repo:
		return RefusedRepository
	case e.Stream.Node() == j.runtime.Node:
		return ""
	case j.cfg.Trust == nil || !j.cfg.Trust(e.Stream.Node()):
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

// viewOf names the set of nodes whose events are on disk and not believed.
func viewOf(withheld map[ident.NodeID]bool) string {
	h := sha256.New()
	for _, n := range slices.Sorted(maps.Keys(withheld)) {
		h.Write([]byte(n))
	}
	return hex.EncodeToString(h.Sum(nil))[:viewDigits]
}

// lostRanges are the ranges of lost records whose indexes are known, in order.
func lostRanges(report *seglog.Report) []Range {
	var all []Range
	for _, d := range report.Damage {
		if d.FirstIndex > 0 {
			all = append(all, Range{d.FirstIndex, d.LastIndex})
		}
	}
	slices.SortFunc(all, func(a, b Range) int { return cmp.Compare(a.First, b.First) })
	return all
}
