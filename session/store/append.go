package store

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/session/runtimecommand"
	"github.com/comity-dev/comity/storage"
)

// A pending record is one on its way into the journal.
type pending struct {
	rec   journal.JournalRecord
	frame *journal.Frame // before anything of it was offloaded
	key   half           // of its IndexKey
	fp    half           // of its Fingerprint
}

func newPending(rec journal.JournalRecord, f *journal.Frame) pending {
	var few [256]byte
	key := sha256.Sum256(f.AppendIndexKey(few[:0]))
	fp := sha256.Sum256(f.AppendFingerprint(few[:0]))
	return pending{rec, f, half(key[:16]), half(fp[:16])}
}

// An attempt is one batch on its way.
type attempt struct {
	expected storage.Tip
	token    journal.Token
	recs     []pending // those that are written
	frames   [][]byte
	all      []journal.CommittedAppendResult // of all that the caller gave
	told     []int                           // where in all those of recs are
	doubted  bool                            // one append of it may have been done
	few      few
}

// A few is the memory of an attempt of one record.
type few struct {
	frame  journal.Frame
	recs   [1]pending
	frames [1][]byte
	all    [1]journal.CommittedAppendResult
	told   [1]int
}

func newAttempt(n int) *attempt {
	a := new(attempt)
	if n == 1 {
		a.recs, a.frames, a.all, a.told = a.few.recs[:0], a.few.frames[:0], a.few.all[:], a.few.told[:0]
		return a
	}
	a.all = make([]journal.CommittedAppendResult, n)
	return a
}

// frame returns a frame to encode a record into.
func (a *attempt) frame() *journal.Frame {
	if len(a.all) == 1 {
		return &a.few.frame
	}
	return new(journal.Frame)
}

// publish puts what is stored for the public into the results.
func (a *attempt) publish() {
	for i, p := range a.recs {
		if p.frame.HasPublic {
			a.all[a.told[i]].Public = journal.CommittedPublicBody{EventID: p.frame.ID, Body: append([]byte{}, p.frame.Public.Bytes...)}
		}
	}
}

// append does the whole of an append, under the turn.
func (w *Writer) append(ctx context.Context, recs []journal.JournalRecord, public bool) ([]journal.CommittedAppendResult, error) {
	if err := w.guard(); err != nil {
		return nil, err
	}
	if len(recs) == 0 {
		return nil, nil
	}
	ctx = w.limit.begin(ctx)
	defer w.limit.end()
	if w.doubt != nil {
		if err := w.settleDoubt(ctx); err != nil {
			return nil, err
		}
	}
	a, err := w.prepare(ctx, recs)
	if err != nil {
		return nil, err
	}
	if len(a.recs) == 0 {
		return a.all, nil
	}
	if err := w.write(ctx, a); err != nil {
		return nil, err
	}
	w.note(ctx, a)
	if public {
		a.publish()
	}
	return a.all, nil
}

// prepare encodes and judges recs. Nothing is written by it, and nothing
// remembered.
func (w *Writer) prepare(ctx context.Context, recs []journal.JournalRecord) (*attempt, error) {
	a := newAttempt(len(recs))
	batch := newOverlay(w.index)
	for i, rec := range recs {
		p, err := w.judge(rec, a.frame())
		if err != nil {
			return nil, err
		}
		seq, seen, err := batch.check(ctx, p)
		if err != nil {
			return nil, w.collision(p, err)
		}
		if seen {
			a.all[i].Sequence = seq
			continue
		}
		if err := w.admit(ctx, batch, p); err != nil {
			return nil, err
		}
		seq = w.tip.Seq + uint64(len(a.recs)) + 1
		if i+1 < len(recs) {
			batch.observe(p, seq)
		}
		a.recs, a.told = append(a.recs, p), append(a.told, i)
		a.all[i].AppendResult = journal.AppendResult{Sequence: seq, Appended: true}
	}
	return a, w.checkBatch(a)
}

// judge encodes a record into f and looks at all that can be told from it alone.
func (w *Writer) judge(rec journal.JournalRecord, f *journal.Frame) (pending, error) {
	if r, ok := rec.(journal.CommandRecord); ok {
		if err := journal.ValidateCommandRecordRoute(r); err != nil {
			var mismatch *journal.CommandRouteMismatchError
			if errors.As(err, &mismatch) {
				return pending{}, err
			}
			return pending{}, &journal.MarshalRecordError{Subject: w.n.ledger, Cause: err}
		}
	}
	if _, ok := rec.(journal.FenceRecord); ok {
		return pending{}, &journal.MarshalRecordError{Subject: w.n.ledger, Cause: errors.New("only the opening of a journal appends a fence")}
	}
	if err := w.s.o.Kinds.EncodeTo(f, w.n.id, rec); err != nil {
		var kind *journal.RecordKindError
		if errors.As(err, &kind) {
			return pending{}, &journal.RecordKindError{Subject: w.n.ledger}
		}
		return pending{}, &journal.MarshalRecordError{Subject: w.n.ledger, Cause: err}
	}
	for _, n := range [...]int{len(f.Body.Bytes), len(f.Public.Bytes)} {
		if n > w.s.o.MaxBodyBytes {
			return pending{}, &journal.RecordTooLargeError{Subject: w.n.ledger, MsgID: f.ID, Length: n}
		}
	}
	return newPending(rec, f), nil
}

// admit judges a record that is not durable by what is.
func (w *Writer) admit(ctx context.Context, batch *overlay, p pending) error {
	switch r := p.rec.(type) {
	case journal.CommandRecord:
		d, err := batch.delivery(ctx, r)
		if err != nil {
			return err
		}
		err = d.Admit(r)
		var refused *journal.DeliveryTransitionError
		if errors.As(err, &refused) {
			refused.Subject = w.n.ledger
		}
		return err
	case journal.CommandApplicationRecord:
		return w.ownEpoch(r.Application().LeaseEpoch)
	case journal.CommandDispositionRecord:
		if err := w.ownEpoch(r.Disposition().LeaseEpoch); err != nil {
			return err
		}
		return w.admitDisposition(ctx, batch, r)
	}
	return nil
}

// admitDisposition wants the command to have been begun, and not to have ended.
func (w *Writer) admitDisposition(ctx context.Context, batch *overlay, r journal.CommandDispositionRecord) error {
	d := r.Disposition()
	begun := journal.NewCommandApplicationRecord(runtimecommand.Application{CommandID: d.CommandID}).IdempotencyID()
	_, ok, err := batch.lookup(ctx, journal.IndexKey(journal.FamilyApplication, "", begun))
	if err != nil {
		return err
	}
	if !ok {
		return &journal.MarshalRecordError{Subject: w.n.ledger, Cause: fmt.Errorf("it ends command %q, which no record began", d.CommandID)}
	}
	ended, ok, err := batch.lookup(ctx, disposedKey(d.CommandID))
	if err != nil || !ok {
		return err
	}
	return &journal.IdempotencyCollisionError{Subject: w.n.ledger, Family: journal.FamilyDisposition, ID: r.IdempotencyID(), Seq: ended.seq}
}

func (w *Writer) ownEpoch(epoch uint64) error {
	if own := w.lease.Epoch(); epoch != own {
		return &StaleEpochError{w.n.id, w.n.ledger, epoch, own, 0}
	}
	return nil
}

// collision names the record in an error of the index.
func (w *Writer) collision(p pending, err error) error {
	var c *journal.IdempotencyCollisionError
	if errors.As(err, &c) {
		return &journal.IdempotencyCollisionError{Subject: w.n.ledger, Family: p.frame.Family, ID: p.frame.ID, Seq: c.Seq}
	}
	return err
}

// write stores what is too long for frames, and then the frames, behind the tip.
// On success the tip has moved and the index knows; on any failure neither has.
func (w *Writer) write(ctx context.Context, a *attempt) error {
	a.expected = w.tip
	rand.Read(a.token[:])
	prev := w.last
	for i, p := range a.recs {
		f := *p.frame
		f.Epoch, f.Token = w.lease.Epoch(), a.token
		f.Batch, f.Of = uint16(i+1), uint16(len(a.recs))
		if w.s.o.Chain && prev != nil {
			f.Prev = journal.DigestOf(prev)
		}
		if err := w.offload(ctx, &f); err != nil {
			return err
		}
		raw, err := f.AppendTo(nil)
		if err != nil {
			return &journal.MarshalRecordError{Subject: w.n.ledger, Cause: err}
		}
		prev = raw
		a.frames = append(a.frames, raw)
	}
	if err := w.bounded(a); err != nil {
		return err
	}
	return w.settle(ctx, a)
}

// done is what an append comes to that is durable: the only place where the tip
// moves.
func (w *Writer) done(a *attempt, tip storage.Tip) {
	w.tip, w.doubt, w.last = tip, nil, a.frames[len(a.frames)-1]
	for i, p := range a.recs {
		w.index.observe(p, a.expected.Seq+uint64(i)+1)
	}
}

// checkBatch holds a batch to the bounds that can be told before it is written.
func (w *Writer) checkBatch(a *attempt) error {
	tr := w.s.b.Traits()
	if most := min(tr.MaxBatchRecords, journal.MaxBatch); len(a.recs) > most {
		return &journal.RecordTooLargeError{Subject: w.n.ledger, MsgID: a.recs[0].frame.ID, Length: len(a.recs),
			Cause: &storage.TooLargeError{What: "batch (records)", Size: int64(len(a.recs)), Max: int64(most)}}
	}
	return nil
}

func (w *Writer) bounded(a *attempt) error {
	total := 0
	for _, raw := range a.frames {
		total += len(raw)
	}
	if most := w.s.b.Traits().MaxBatchBytes; total > most {
		return &journal.RecordTooLargeError{Subject: w.n.ledger, MsgID: a.recs[0].frame.ID, Length: total,
			Cause: &storage.TooLargeError{What: "batch", Size: int64(total), Max: int64(most)}}
	}
	return nil
}
