package journal_test

import (
	"context"

	"github.com/comity-dev/comity/session/journal"
)

// A fake is what a journal can be appended to by, in each strength, over one
// list of records.
type fake struct {
	recs []journal.JournalRecord
	err  error // of every append
	seen bool  // every record was durable before
	ctx  context.Context
}

type plain struct{ *fake }
type idempotent struct{ plain }
type committed struct{ idempotent }
type batch struct{ committed }

func (f *fake) add(ctx context.Context, recs ...journal.JournalRecord) (uint64, error) {
	f.ctx = ctx
	if f.err != nil {
		return 0, f.err
	}
	f.recs = append(f.recs, recs...)
	return uint64(len(f.recs)), nil
}

func (j plain) Append(ctx context.Context, rec journal.JournalRecord) (uint64, error) {
	return j.add(ctx, rec)
}

func (j idempotent) AppendIdempotent(ctx context.Context, rec journal.JournalRecord) (journal.AppendResult, error) {
	seq, err := j.add(ctx, rec)
	return journal.AppendResult{Sequence: seq, Appended: err == nil && !j.seen}, err
}

func (j committed) AppendCommitted(ctx context.Context, rec journal.JournalRecord) (res journal.CommittedAppendResult, err error) {
	res.AppendResult, err = j.AppendIdempotent(ctx, rec)
	if res.Appended {
		res.Public = journal.CommittedPublicBody{EventID: rec.IdempotencyID(), Body: []byte("public")}
	}
	return res, err
}

func (j batch) AppendBatch(ctx context.Context, recs ...journal.JournalRecord) ([]journal.CommittedAppendResult, error) {
	if _, err := j.add(ctx, recs...); err != nil {
		return nil, err
	}
	return make([]journal.CommittedAppendResult, len(recs)), nil
}

func (j batch) Resolve(context.Context) ([]journal.CommittedAppendResult, error) {
	return make([]journal.CommittedAppendResult, 7), nil
}

// strengths are journals of each strength over f.
func strengths(f *fake) map[string]journal.SessionJournal {
	p := plain{f}
	i := idempotent{p}
	c := committed{i}
	return map[string]journal.SessionJournal{"plain": p, "idempotent": i, "committed": c, "batch": batch{c}}
}

// appends are the ways to append a record, by the strength that they need.
var appends = map[string]func(ctx context.Context, j journal.SessionJournal, rec journal.JournalRecord) (seq uint64, err error){
	"plain": func(ctx context.Context, j journal.SessionJournal, rec journal.JournalRecord) (uint64, error) {
		return j.Append(ctx, rec)
	},
	"idempotent": func(ctx context.Context, j journal.SessionJournal, rec journal.JournalRecord) (uint64, error) {
		res, err := j.(journal.IdempotentJournal).AppendIdempotent(ctx, rec)
		return res.Sequence, err
	},
	"committed": func(ctx context.Context, j journal.SessionJournal, rec journal.JournalRecord) (uint64, error) {
		res, err := j.(journal.CommittedPublicJournal).AppendCommitted(ctx, rec)
		return res.Sequence, err
	},
	"batch": func(ctx context.Context, j journal.SessionJournal, rec journal.JournalRecord) (uint64, error) {
		res, err := j.(journal.BatchJournal).AppendBatch(ctx, rec)
		return uint64(len(res)), err
	},
}
