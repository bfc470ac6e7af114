package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/session/runtimecommand"
	"github.com/comity-dev/comity/storage"
)

// walk reads a journal up to through, and goes on behind what cannot be read:
// good gets each frame that is one in its place, bad each record that is none. An
// error that is not about a record ends it.
func (s *Store) walk(ctx context.Context, n names, through uint64, good func(located) error, bad func(seq uint64, err error) error) error {
	c := scan{ledger: n.ledger, next: 1}
	for c.next <= through {
		again, err := s.walkFrom(ctx, n, &c, through, good, bad)
		if err != nil {
			return err
		}
		if !again {
			break
		}
	}
	for c.next <= through {
		if err := bad(c.next, &journal.ReplayReadError{Subject: n.ledger, Seq: c.next, Cause: errMissing}); err != nil {
			return err
		}
		c.next++
	}
	return nil
}

// walkFrom walks until the store ends the reading. again is true when it did
// that over a damaged record.
func (s *Store) walkFrom(ctx context.Context, n names, c *scan, through uint64, good func(located) error, bad func(seq uint64, err error) error) (again bool, err error) {
	for rec, err := range s.b.Ledger().Read(ctx, n.ledger, c.next) {
		var damaged *storage.DamagedError
		if errors.As(err, &damaged) && damaged.Seq >= c.next {
			if err := bad(damaged.Seq, readError(ctx, n, c.next, err)); err != nil {
				return false, err
			}
			*c = scan{ledger: c.ledger, next: damaged.Seq + 1}
			return true, nil
		}
		if err != nil {
			return false, readError(ctx, n, c.next, err)
		}
		at, err := c.take(rec)
		if err == nil {
			err = good(at)
		} else {
			err = bad(c.next, err)
			*c = scan{ledger: c.ledger, next: c.next + 1}
		}
		if err != nil || c.next > through {
			return false, err
		}
	}
	return false, nil
}

// An audit holds each record to all those before it.
type audit struct {
	s    *Store
	n    names
	seen map[half]entry // all ids
	apps map[string]runtimecommand.Application
	// content returns what a field holds or refers to.
	content func(ctx context.Context, seq uint64, f journal.Field) ([]byte, error)
}

func newAudit(s *Store, n names) *audit {
	a := &audit{s: s, n: n, seen: make(map[half]entry), apps: make(map[string]runtimecommand.Application)}
	a.content = func(ctx context.Context, seq uint64, f journal.Field) ([]byte, error) {
		return s.content(ctx, n, seq, f)
	}
	return a
}

// An InconsistentError reports a record that is whole and cannot be true
// together with one before it.
type InconsistentError struct {
	Subject string
	Seq     uint64
	Detail  string
}

func (e *InconsistentError) Error() string {
	return fmt.Sprintf("record %d of %s: %s", e.Seq, e.Subject, e.Detail)
}

// record reads all of a frame's content and judges it. The error says what is
// wrong with it; one that is not about it is told apart by aboutRecord.
func (a *audit) record(ctx context.Context, at located) error {
	if at.frame.HasPublic {
		if _, err := a.content(ctx, at.seq, at.frame.Public); err != nil {
			return err
		}
	}
	body, err := a.content(ctx, at.seq, at.frame.Body)
	if err != nil {
		return err
	}
	f := *at.frame
	f.Body = journal.Field{Bytes: body}
	rec, err := a.s.o.Kinds.Decode(a.n.id, &f)
	if err != nil {
		return &journal.ReplayDecodeError{Subject: a.n.ledger, Seq: at.seq, Cause: err}
	}
	return a.known(at, rec)
}

// known judges a record whose content has been read, and notes it.
func (a *audit) known(at located, rec journal.JournalRecord) error {
	if detail := a.judge(at, rec); detail != "" {
		return &InconsistentError{a.n.ledger, at.seq, detail}
	}
	a.note(at, rec)
	return nil
}

// judge returns what is wrong with a record behind those that were noted.
func (a *audit) judge(at located, rec journal.JournalRecord) string {
	if e, ok := a.seen[halfOf(at.frame.IndexKey())]; ok && at.frame.Family != journal.FamilyFence {
		return fmt.Sprintf("its id is that of record %d", e.seq)
	}
	switch r := rec.(type) {
	case journal.CommandRecord:
		o := overlay{x: &index{s: a.s}, tail: a.seen}
		d, err := o.delivery(context.Background(), r) // all of it is in memory
		if err == nil {
			err = d.Admit(r)
		}
		if err != nil {
			return err.Error()
		}
	case journal.CommandDispositionRecord:
		d := r.Disposition()
		app, ok := a.apps[d.CommandID]
		if !ok {
			return fmt.Sprintf("it ends an attempt at command %q, which no record before it began", d.CommandID)
		}
		if !d.Of(app) {
			return fmt.Sprintf("it ends another attempt at command %q than the one that was begun", d.CommandID)
		}
		if e, ok := a.seen[halfOf(disposedKey(d.CommandID))]; ok {
			return fmt.Sprintf("command %q was ended by record %d", d.CommandID, e.seq)
		}
	}
	return ""
}

func (a *audit) note(at located, rec journal.JournalRecord) {
	x := index{tail: a.seen}
	x.observe(newPending(rec, at.frame), at.seq)
	if r, ok := rec.(journal.CommandApplicationRecord); ok {
		a.apps[r.Application().CommandID] = r.Application()
	}
}

// aboutRecord reports whether an error says that a record is bad, and not that
// the store could not be asked.
func aboutRecord(err error) bool {
	var damaged *storage.DamagedError
	var decode *journal.ReplayDecodeError
	var integrity *journal.BlobIntegrityError
	var large *journal.BodyTooLargeError
	var inconsistent *InconsistentError
	var blob *journal.BlobUnavailableError
	var missing *storage.NotFoundError
	return errors.As(err, &damaged) || errors.As(err, &decode) || errors.As(err, &integrity) || errors.As(err, &large) ||
		errors.As(err, &inconsistent) || errors.As(err, &blob) && errors.As(err, &missing) || errors.Is(err, errMissing)
}
