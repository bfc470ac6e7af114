package store

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/storage"
)

// A Problem is a record that is not what it should be.
type Problem struct {
	Ledger string
	Seq    uint64
	Err    error // typed, as a replay would end with it, or an *InconsistentError
}

// A Report is what Verify found.
type Report struct {
	Session event.ID
	// Tip is the last record that was looked at, Records how many were good.
	Tip, Records uint64
	// Blobs counts references to content that is stored outside of the journal,
	// and Bytes all contents.
	Blobs, Bytes uint64
	// Problems are the records that are not good, in their order. More counts those
	// beyond the first MaxProblems.
	Problems []Problem
	More     uint64
	// Books are what is wrong with what is kept beside the journal: the checkpoint
	// of the index and the row of the catalog. Nothing is lost by it: it is made
	// anew from the journal.
	Books []error
}

// MaxProblems bounds the problems of a Report.
const MaxProblems = 1000

// Good reports whether nothing was found.
func (r Report) Good() bool { return len(r.Problems) == 0 && len(r.Books) == 0 }

func (r *Report) problem(ledger string, seq uint64, err error) {
	if len(r.Problems) == MaxProblems {
		r.More++
		return
	}
	r.Problems = append(r.Problems, Problem{ledger, seq, err})
}

// Verify reads the whole journal of a session with all its content, holds each
// record to those before it, and names every problem. It changes nothing and may
// run beside a writer: it looks at what was there when it began. Memory grows by some
// 60 bytes a record. The error is about the store, not about the journal; the
// report is then that of what was read.
//
// Of a backend that shows what was there when it was opened, as
// filestore.OpenReadOnly does, a part of the checkpoint that is not found
// (*storage.NotFoundError) may be one that a writer has removed since. It is lost if it is
// not found in another opening either.
func (s *Store) Verify(ctx context.Context, id event.ID) (Report, error) {
	n, err := s.names(id)
	if err != nil {
		return Report{}, err
	}
	tip, err := s.b.Ledger().Tip(ctx, n.ledger)
	if err != nil {
		return Report{}, readError(ctx, n, 1, err)
	}
	r := Report{Session: id, Tip: tip.Seq}
	a := newAudit(s, n)
	err = s.walk(ctx, n, tip.Seq, func(at located) error {
		err := a.record(ctx, at)
		switch {
		case err == nil:
			r.count(at)
		case aboutRecord(err):
			r.problem(n.ledger, at.seq, err)
		default:
			return err
		}
		return nil
	}, func(seq uint64, err error) error {
		r.problem(n.ledger, seq, err)
		return nil
	})
	if err != nil {
		return r, err
	}
	if len(r.Problems) == 0 {
		r.Books = s.verifyBooks(ctx, n, a, tip)
	}
	return r, ctx.Err()
}

func (r *Report) count(at located) {
	r.Records++
	for _, size := range []uint64{at.frame.Body.Size(), at.frame.Public.Size()} {
		r.Bytes += size
	}
	if at.frame.Body.Ref.Size > 0 {
		r.Blobs++
	}
	if at.frame.Public.Ref.Size > 0 {
		r.Blobs++
	}
}

// verifyBooks compares what is kept beside a journal with the journal.
func (s *Store) verifyBooks(ctx context.Context, n names, a *audit, tip storage.Tip) (found []error) {
	if err := s.verifyCheckpoint(ctx, n, a, tip.Gen); err != nil {
		found = append(found, fmt.Errorf("checkpoint of session %s: %w", n.id, err))
	}
	e, _, err := s.row(ctx, n)
	var missing *storage.NotFoundError
	switch {
	case errors.As(err, &missing):
	case err != nil:
		found = append(found, err)
	case e.LastSeq > tip.Seq: // a writer may have gone on
		now, err := s.b.Ledger().Tip(ctx, n.ledger)
		if err != nil {
			found = append(found, err)
		} else if e.LastSeq > now.Seq && now.Gen == tip.Gen {
			found = append(found, fmt.Errorf("catalog of session %s: it knows of record %d, and the journal ends at %d", n.id, e.LastSeq, now.Seq))
		}
	}
	return found
}

// verifyCheckpoint compares the checkpoint with what was seen of the journal. A
// writer at work stores another one meanwhile and removes parts of the one before: what is
// wrong counts once it is found twice of the same one, and of a writer that is
// always quicker nothing can be told.
func (s *Store) verifyCheckpoint(ctx context.Context, n names, a *audit, gen uint64) error {
	const tries = 5
	judged := uint64(math.MaxUint64) // the revision of the one before
	for range tries {
		tip, err := s.b.Ledger().Tip(ctx, n.ledger)
		if err != nil {
			return err
		}
		if tip.Gen != gen { // it is another journal by now
			return nil
		}
		x := newIndex(s, n)
		if err = x.loadCheckpoint(ctx, tip); err == nil {
			err = x.compare(ctx, a.seen)
		}
		if err == nil || x.point.revision == judged {
			return err
		}
		judged = x.point.revision
	}
	return nil
}

// compare returns how the checkpoint differs from the ids of the journal: of one
// damage the same each time.
func (x *index) compare(ctx context.Context, seen map[half]entry) error {
	for _, r := range x.point.Runs {
		for _, d := range r.Shards {
			if d == (storage.Digest{}) {
				continue
			}
			if _, err := x.readShard(ctx, d); err != nil {
				return fmt.Errorf("index of session %s: %w", x.n.id, err)
			}
		}
	}
	in, first := 0, uint64(math.MaxUint64)
	for k, e := range seen {
		if e.seq > x.point.Seq {
			continue
		}
		in++
		got, ok, err := x.lookupRuns(ctx, k)
		if err != nil {
			return err
		}
		if !ok || got != e {
			first = min(first, e.seq)
		}
	}
	if first != math.MaxUint64 {
		return fmt.Errorf("it does not say of record %d what the journal says", first)
	}
	for _, r := range x.point.Runs {
		in -= r.Records
	}
	if in > 0 {
		return fmt.Errorf("it has %d ids fewer than the journal", in)
	}
	return nil
}
