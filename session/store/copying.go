package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/storage"
)

// A copying is a journal that is being written from frames that exist: by an
// import or a repair. Until it is finished the session is marked as partial and
// cannot be opened.
type copying struct {
	s        *Store
	n        names
	lease    *Lease
	origin   origin
	revision uint64
	tip      storage.Tip
	last     []byte
	batch    [][]byte
	bytes    int
}

const (
	copyRecords = 64
	copyBytes   = 4 << 20
)

// A SessionExistsError reports a session that is there already.
type SessionExistsError struct {
	SessionID event.ID
	Seq       uint64 // where its journal ends
}

func (e *SessionExistsError) Error() string {
	return fmt.Sprintf("session %s is there already, with %d records", e.SessionID, e.Seq)
}

// begin acquires a session that is not there, and marks it as partial. What is
// left of an earlier copying that was not finished goes first.
func (s *Store) begin(ctx context.Context, id event.ID, o origin) (*copying, error) {
	lease, err := s.Acquire(ctx, id)
	if err != nil {
		return nil, err
	}
	c := &copying{s: s, lease: lease, origin: o}
	if err := c.begin(ctx); err != nil {
		c.letGo()
		return nil, err
	}
	return c, nil
}

func (c *copying) begin(ctx context.Context) (err error) {
	if c.n, err = c.s.names(c.lease.id); err != nil {
		return err
	}
	was, revision, err := c.s.origin(ctx, c.n)
	if err != nil {
		return err
	}
	tip, err := c.s.b.Ledger().Tip(ctx, c.n.ledger)
	if err != nil {
		return err
	}
	if tip.Seq > 0 && !was.Partial {
		return &SessionExistsError{c.n.id, tip.Seq}
	}
	c.origin.Partial = true
	if c.revision, err = c.s.putOrigin(ctx, c.n, c.origin, revision); err != nil {
		return err
	}
	if err := c.s.erase(ctx, c.n); err != nil {
		return err
	}
	c.tip, err = c.s.b.Ledger().Tip(ctx, c.n.ledger)
	return err
}

func (c *copying) letGo() { c.s.letGo(c.lease) }

// content copies what a frame refers to.
func (c *copying) content(ctx context.Context, src *Store, n names, at located) error {
	for _, f := range []journal.Field{at.frame.Body, at.frame.Public} {
		if f.Ref == (journal.Ref{}) {
			continue
		}
		b, err := src.content(ctx, n, at.seq, f)
		if err != nil {
			return err
		}
		if _, err := c.s.putContent(ctx, c.n, b); err != nil {
			return err
		}
	}
	return nil
}

// frame writes a frame behind the last one, chained to it if it was chained.
func (c *copying) frame(ctx context.Context, f journal.Frame) error {
	if f.Prev != (journal.Digest{}) {
		f.Prev = journal.Digest{}
		if c.last != nil {
			f.Prev = journal.DigestOf(c.last)
		}
	}
	raw, err := f.AppendTo(nil)
	if err != nil {
		return err
	}
	return c.raw(ctx, raw)
}

// raw writes the bytes of a frame behind the last one.
func (c *copying) raw(ctx context.Context, raw []byte) error {
	if len(c.batch) == copyRecords || c.bytes+len(raw) > min(copyBytes, c.s.b.Traits().MaxBatchBytes) {
		if err := c.flush(ctx); err != nil {
			return err
		}
	}
	c.last = append([]byte{}, raw...)
	c.batch, c.bytes = append(c.batch, c.last), c.bytes+len(raw)
	return nil
}

// flush appends what is waiting. An outcome that is not known is told by the
// tip: nobody else writes here.
func (c *copying) flush(ctx context.Context) error {
	if len(c.batch) == 0 {
		return nil
	}
	if !c.lease.Valid() {
		return &journal.JournalLeaseLostError{SessionID: c.n.id, Epoch: c.lease.Epoch()}
	}
	var err error
	for range c.s.o.Attempts {
		var tip storage.Tip
		if tip, err = c.s.b.Ledger().Append(ctx, c.n.ledger, c.tip, c.batch...); err == nil {
			c.tip, c.batch, c.bytes = tip, nil, 0
			return nil
		}
		var unknown *storage.AmbiguousError
		var conflict *storage.ConflictError
		if !errors.As(err, &unknown) && !errors.As(err, &conflict) || ctx.Err() != nil {
			break
		}
		if tip, terr := c.s.b.Ledger().Tip(ctx, c.n.ledger); terr == nil && tip.Seq == c.tip.Seq+uint64(len(c.batch)) {
			c.tip, c.batch, c.bytes = tip, nil, 0
			return nil
		}
	}
	return fmt.Errorf("write the copy of session %s: %w", c.n.id, err)
}

// finish makes the copy a session. epoch is the highest in it: that of every
// owner to come is above it.
func (c *copying) finish(ctx context.Context, epoch uint64) error {
	if err := c.flush(ctx); err != nil {
		return err
	}
	c.origin.Partial, c.origin.Base = false, epoch
	_, err := c.s.putOrigin(ctx, c.n, c.origin, c.revision)
	return err
}
