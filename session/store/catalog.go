package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/storage"
)

// A summary is the entry of a session that is being written.
type summary struct {
	s *Store
	n names
	e Entry
}

func newSummary(s *Store, n names) *summary {
	return &summary{s, n, Entry{Session: n.id, State: Idle}}
}

// load takes the entry that is stored. Without one, or one that is behind what
// is read of the journal, the entry is partial.
func (m *summary) load(ctx context.Context) {
	e, _, err := m.s.row(ctx, m.n)
	var missing *storage.NotFoundError
	switch {
	case err == nil:
		m.e = e
	case !errors.As(err, &missing):
		m.s.o.Trouble(err)
	}
}

// noteFrame adds a frame that was read.
func (m *summary) noteFrame(ctx context.Context, seq uint64, f *journal.Frame) {
	if seq <= m.e.LastSeq {
		return
	}
	if seq != m.e.LastSeq+1 {
		m.e.Partial = true
	}
	var rec journal.JournalRecord
	if f.Family == journal.FamilyEvent {
		whole, err := m.s.whole(ctx, m.n, seq, f)
		if err == nil {
			rec, err = m.s.o.Kinds.Decode(m.n.id, whole)
		}
		if err != nil { // whoever replays it is told
			m.e.Partial = true
		}
	}
	m.note(seq, f.Epoch, rec)
}

// loaded is called when what is behind the checkpoint, the own fence at least,
// has been read.
func (m *summary) loaded(tip uint64) {
	if m.e.LastSeq > tip { // it is another journal's
		m.e = Entry{Session: m.n.id, State: Idle, Partial: true, LastSeq: tip}
	}
}

func (m *summary) note(seq, epoch uint64, rec journal.JournalRecord) {
	m.e.LastSeq, m.e.Epoch = seq, epoch
	if r, ok := rec.(journal.EventRecord); ok {
		m.e.fold(r.Event())
	}
}

// row returns the entry as it is to be stored.
func (m *summary) row() Entry {
	e := m.e
	e.Updated = m.s.o.Now().UnixMilli()
	return e
}

// row returns the stored entry of a session and its revision.
func (s *Store) row(ctx context.Context, n names) (e Entry, revision uint64, err error) {
	value, revision, err := s.b.KV().Get(ctx, n.ledger)
	if err == nil {
		err = json.Unmarshal(value, &e)
	}
	if err == nil && e.Session != n.id {
		err = fmt.Errorf("it is that of session %.80q", string(e.Session))
	}
	if err != nil {
		return Entry{}, revision, fmt.Errorf("catalog of session %s: %w", n.id, err)
	}
	return e, revision, nil
}

// A CatalogConflictError reports an entry that others kept writing.
type CatalogConflictError struct {
	SessionID event.ID
	Attempts  int
}

func (e *CatalogConflictError) Error() string {
	return fmt.Sprintf("catalog of session %s: written by somebody else %d times", e.SessionID, e.Attempts)
}

const catalogAttempts = 8

// putRow stores an entry, unless a later one is there.
func (s *Store) putRow(ctx context.Context, n names, e Entry) error {
	value, err := json.Marshal(e)
	if err != nil {
		return err
	}
	for range catalogAttempts {
		old, revision, err := s.row(ctx, n)
		if err == nil && old.Epoch >= e.Epoch && old.LastSeq > e.LastSeq {
			return nil
		}
		if err != nil && ctx.Err() != nil {
			return err
		}
		_, err = s.b.KV().Put(ctx, n.ledger, revision, value)
		var moved *storage.RevisionError
		if !errors.As(err, &moved) {
			return err
		}
	}
	return &CatalogConflictError{n.id, catalogAttempts}
}

// saveRow stores an entry where nobody waits for it.
func (s *Store) saveRow(ctx context.Context, n names, e Entry) {
	if err := s.putRow(ctx, n, e); err != nil {
		s.o.Trouble(fmt.Errorf("catalog of session %s: %w", n.id, err))
	}
}

// SaveCatalog stores the session's entry now: when it comes to rest, for
// instance.
func (w *Writer) SaveCatalog(ctx context.Context) error {
	if err := w.enter(ctx); err != nil {
		return err
	}
	row := w.summary.row()
	w.leave()
	return w.s.putRow(ctx, w.n, row)
}

// tell tells the caller's own catalog.
func (w *Writer) tell(ctx context.Context, seq uint64, rec journal.JournalRecord) {
	if r, ok := rec.(journal.EventRecord); ok {
		if err := w.also.NoteEvent(ctx, r.Event(), seq); err != nil {
			w.s.o.Trouble(fmt.Errorf("catalog of the caller, record %d of %s: %w", seq, w.n.ledger, err))
		}
	}
}

// Catalog returns the entries of all sessions that have a journal, in the order of
// their ids; one without an entry has one that is Partial and says where it ends.
func (s *Store) Catalog(ctx context.Context) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for id, err := range s.Sessions(ctx) {
			if err != nil {
				yield(Entry{}, err)
				return
			}
			e, err := s.Entry(ctx, id)
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// Entry returns the entry of one session.
func (s *Store) Entry(ctx context.Context, id event.ID) (Entry, error) {
	n, err := s.names(id)
	if err != nil {
		return Entry{}, err
	}
	tip, err := s.b.Ledger().Tip(ctx, n.ledger)
	if err != nil {
		return Entry{}, err
	}
	e, _, err := s.row(ctx, n)
	if err != nil && ctx.Err() != nil {
		return Entry{}, err
	}
	if err != nil || e.LastSeq > tip.Seq { // there is none, it cannot be read, or it is another journal's
		e = Entry{Session: id, State: Idle, Partial: true}
	}
	e.Seq = tip.Seq
	return e, nil
}

// CatchUp returns an entry with what the journal has behind it, as whoever reads it
// to the end would write it: of a session that was killed, or is being written. It
// reads up to most records, and an entry that is further behind, or is Partial and
// further from the beginning, stays as it is; so does one behind which the journal
// cannot be read. Nothing is written.
func (s *Store) CatchUp(ctx context.Context, e Entry, most uint64) (Entry, error) {
	n, err := s.names(e.Session)
	if err != nil {
		return e, err
	}
	m := &summary{s, n, e}
	if e.Partial {
		m = newSummary(s, n)
	}
	if e.Seq-min(e.Seq, m.e.LastSeq) > most {
		return e, nil
	}
	for at, err := range s.frames(ctx, n, m.e.LastSeq+1, e.Seq) {
		if ctx.Err() != nil {
			return e, context.Cause(ctx)
		}
		if err != nil {
			return e, nil // Verify and every reading tell of it
		}
		m.noteFrame(ctx, at.seq, at.frame)
	}
	m.e.Seq = e.Seq
	return m.e, nil
}

// RepairCatalog makes the entry of a session anew from its journal.
func (s *Store) RepairCatalog(ctx context.Context, id event.ID) (Entry, error) {
	n, err := s.names(id)
	if err != nil {
		return Entry{}, err
	}
	tip, err := s.b.Ledger().Tip(ctx, n.ledger)
	if err != nil {
		return Entry{}, err
	}
	m := newSummary(s, n)
	for at, err := range s.frames(ctx, n, 1, tip.Seq) {
		if err != nil {
			return Entry{}, err
		}
		m.noteFrame(ctx, at.seq, at.frame)
	}
	e := m.row()
	e.Seq = tip.Seq
	return e, s.putRow(ctx, n, e)
}
