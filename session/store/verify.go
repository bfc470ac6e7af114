package store

import (
	"context"
	"errors"
	"fmt"

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
	x := newIndex(s, n)
	if err := x.loadCheckpoint(ctx, tip); err != nil {
		found = append(found, fmt.Errorf("checkpoint of session %s: %w", n.id, err))
	} else if err := x.compare(ctx, a.seen); err != nil {
		found = append(found, fmt.Errorf("checkpoint of session %s: %w", n.id, err))
	}
	e, _, err := s.row(ctx, n)
	var missing *storage.NotFoundError
	switch {
	case errors.As(err, &missing):
	case err != nil:
		found = append(found, err)
	case e.LastSeq > tip.Seq:
		found = append(found, fmt.Errorf("catalog of session %s: it knows of record %d, and the journal ends at %d", n.id, e.LastSeq, tip.Seq))
	}
	return found
}

// compare returns how the checkpoint differs from the ids of the journal.
func (x *index) compare(ctx context.Context, seen map[half]entry) error {
	in := 0
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
			return fmt.Errorf("it does not say of record %d what the journal says", e.seq)
		}
	}
	for _, r := range x.point.Runs {
		in -= r.Records
	}
	if in > 0 {
		return fmt.Errorf("it has %d ids fewer than the journal", in)
	}
	return nil
}
