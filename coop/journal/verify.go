package journal

import (
	"context"
	"fmt"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/internal/seglog"
)

// maxFindings bounds the list of a report; all are counted.
const maxFindings = 1000

// A VerifyReport says what a journal's records are worth by themselves.
type VerifyReport struct {
	Records  uint64 // read
	Events   uint64 // among them, in order, authentic and of this repository
	Withheld uint64 // events of keys that are not believed: not looked at
	Streams  int
	Findings []Finding // the first 1,000
	Found    uint64    // all of them
}

// OK reports whether nothing was found.
func (r VerifyReport) OK() bool { return r.Found == 0 }

// A Finding is one thing that is wrong. Stream and Seq are zero when what is
// wrong does not tell them.
type Finding struct {
	Index  uint64
	Stream ident.Stream
	Seq    uint64
	What   string
}

// Verify reads every record again, as far as the log was durable when it began,
// and checks all that can be checked of it: the record's digest, canonical form,
// bounds, identity, repository, every signature, numbers, chain and stamps of
// every stream. It takes no lock and holds nobody up.
func (j *Journal) Verify(ctx context.Context) (VerifyReport, error) {
	if err := j.gate.enter(); err != nil {
		return VerifyReport{}, err
	}
	defer j.gate.leave()
	v := &verify{
		j:         j,
		seal:      newSealer(j.cfg.Key.DeriveMAC(macLabel(j.cfg.Repo))),
		authentic: newAuthentic(j.cfg.Limits.Pending),
		heads:     heads{},
		hashes:    hashesByStream{},
		dead:      map[uint64]bool{},
	}
	j.lock()
	for _, index := range j.dead {
		v.dead[index] = true
	}
	j.unlock()
	end, first := j.log.End(), j.log.First()
	for rec, err := range j.log.From(first) {
		switch {
		case err != nil:
			return v.report, err
		case ctx.Err() != nil:
			return v.report, ctx.Err()
		case j.gate.shutting():
			return v.report, ErrClosed
		case rec.Index > end:
			return v.done(), nil
		}
		v.record(rec)
	}
	return v.done(), nil
}

type verify struct {
	j         *Journal
	seal      *sealer
	authentic *authentic
	heads     heads
	hashes    hashesByStream
	dead      map[uint64]bool // events that a rewrite has yet to take out
	report    VerifyReport
}

func (v *verify) done() VerifyReport {
	v.unsigned(v.authentic.rest())
	v.report.Streams = len(v.heads)
	return v.report
}

func (v *verify) find(f Finding) {
	v.report.Found++
	if len(v.report.Findings) < maxFindings {
		v.report.Findings = append(v.report.Findings, f)
	}
}

func (v *verify) record(stored seglog.Record) {
	v.report.Records++
	rec, err := v.seal.open(stored.Data)
	switch {
	case err != nil:
		v.find(Finding{Index: stored.Index, What: "record: " + err.Error()})
		return
	case rec.version > recordVersion:
		v.find(Finding{Index: stored.Index, What: "record: " + ErrNewerFormat.Error()})
		return
	case !rec.sealed:
		v.find(Finding{Index: stored.Index, What: "record: not sealed by this node"})
	}
	switch rec.kind {
	case RecordEvent:
		if !v.dead[stored.Index] {
			v.event(rec.payload, stored.Index)
		}
	case RecordRow:
		_, err := decodeRow(rec.payload)
		v.wrong(stored.Index, err)
	case RecordBeats:
		_, err := decodeBeats(rec.payload)
		v.wrong(stored.Index, err)
	case RecordTombs:
		_, _, err := decodeTombs(rec.payload)
		v.wrong(stored.Index, err)
	case RecordFork:
		_, err := event.Parse(rec.payload)
		v.wrong(stored.Index, err)
	}
}

// wrong notes a record that cannot be read.
func (v *verify) wrong(index uint64, err error) {
	if err != nil {
		v.find(Finding{Index: index, What: err.Error()})
	}
}

func (v *verify) event(raw []byte, index uint64) {
	e, err := event.Parse(raw)
	if err != nil {
		v.find(Finding{Index: index, What: err.Error()})
		return
	}
	refused := v.j.unbelieved(e)
	if refused == RefusedUntrusted {
		v.report.Withheld++
		return
	}
	if refused != "" {
		v.find(Finding{index, e.Stream, e.Seq, string(refused)})
		return
	}
	good, bad := v.authentic.admit(found{e, index}, false)
	v.unsigned(bad)
	for _, f := range good {
		v.place(f)
	}
}

func (v *verify) unsigned(bad []found) {
	for _, f := range bad {
		v.find(Finding{f.index, f.event.Stream, f.event.Seq, string(RefusedSignature)})
	}
}

func (v *verify) place(f found) {
	e := f.event
	h := v.heads[e.Stream]
	if h == nil {
		h = new(head)
	}
	at := h.place(e, v.hashes)
	if at.refused != "" {
		v.find(Finding{f.index, e.Stream, e.Seq, string(at.refused)})
		return
	}
	if at.lostFrom > 0 {
		v.find(Finding{f.index, e.Stream, at.lostFrom, fmt.Sprintf("lost before this record: %d to %d", at.lostFrom, e.Seq-1)})
	}
	v.heads[e.Stream] = h
	h.put(e, f.index)
	v.hashes.put(e)
	v.report.Events++
}

// hashesByStream are the hashes of events by stream and place.
type hashesByStream map[ident.Stream][][32]byte

func (hs hashesByStream) put(e *event.Event) {
	all := hs[e.Stream]
	for uint64(len(all)) < e.Seq {
		all = append(all, [32]byte{})
	}
	all[e.Seq-1] = e.Hash
	hs[e.Stream] = all
}

// Hash is the hash of an event that was put.
func (hs hashesByStream) Hash(k event.Key) ([32]byte, bool) {
	all := hs[k.Stream]
	if k.Seq < 1 || k.Seq > uint64(len(all)) {
		return [32]byte{}, false
	}
	return all[k.Seq-1], true
}
