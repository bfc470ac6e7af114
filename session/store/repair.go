package store

import (
	"context"
	"crypto/rand"
	"fmt"
	"strconv"

	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/journal"
)

// A RepairReport says what a copy has and has not.
type RepairReport struct {
	From, To event.ID
	Records  uint64 // that the copy has, with the fences below
	Fences   uint64 // that were lost and are written anew
	// Dropped are the records that the copy has not, in their order: those that
	// Verify names, and whole ones of a batch that lost others.
	Dropped []Problem
}

// Repair copies what can be read of a journal into a new one: session as of dst,
// which must not be there, and may be the same session in another store. The
// journal itself is not touched. Records keep their content, ids, epochs and order,
// and get new sequence numbers where one before them was dropped. Each that is
// dropped is in the report, and where the copy comes from is noted beside it.
//
// It refuses records of a newer build: dropping what this one does not understand
// is no repair.
func (s *Store) Repair(ctx context.Context, id event.ID, dst *Store, as event.ID) (RepairReport, error) {
	n, err := s.names(id)
	if err != nil {
		return RepairReport{}, err
	}
	tip, err := s.b.Ledger().Tip(ctx, n.ledger)
	if err != nil {
		return RepairReport{}, readError(ctx, n, 1, err)
	}
	c, err := dst.begin(ctx, as, origin{From: id, How: "repair"})
	if err != nil {
		return RepairReport{}, err
	}
	defer c.letGo()
	m := &mender{src: s, n: n, copy: c, audit: newAudit(s, n), report: RepairReport{From: id, To: as}}
	err = s.walk(ctx, n, tip.Seq, func(at located) error { return m.good(ctx, at) }, func(seq uint64, err error) error {
		m.interrupt()
		return m.drop(seq, err)
	})
	if err == nil {
		m.interrupt()
		err = c.finish(ctx, m.epoch)
	}
	m.report.Records = c.tip.Seq
	return m.report, err
}

// A mender chooses what goes into the copy.
type mender struct {
	src    *Store
	n      names
	copy   *copying
	audit  *audit
	report RepairReport
	epoch  uint64    // of the last frame in the copy
	batch  []located // of a batch that is not complete yet
}

// good takes a frame that is one in its place.
func (m *mender) good(ctx context.Context, at located) error {
	if at.frame.Batch == 1 {
		m.interrupt()
	}
	if int(at.frame.Batch) != len(m.batch)+1 {
		return m.drop(at.seq, m.partial(at.seq))
	}
	m.batch = append(m.batch, at)
	if at.frame.Batch < at.frame.Of {
		return nil
	}
	batch := m.batch
	m.batch = nil
	for _, at := range batch {
		err := m.audit.record(ctx, at)
		if err == nil {
			continue
		}
		if !aboutRecord(err) {
			return err
		}
		for _, other := range batch {
			why := m.partial(other.seq)
			if other.seq == at.seq {
				why = err
			}
			if err := m.drop(other.seq, why); err != nil {
				return err
			}
		}
		return nil
	}
	return m.put(ctx, batch)
}

// interrupt drops what there is of a batch that does not go on.
func (m *mender) interrupt() {
	for _, at := range m.batch {
		m.drop(at.seq, m.partial(at.seq))
	}
	m.batch = nil
}

func (m *mender) partial(seq uint64) error {
	return &InconsistentError{m.n.ledger, seq, "other records of its batch are lost"}
}

func (m *mender) drop(seq uint64, err error) error {
	if IsNewer(err) {
		return fmt.Errorf("repair session %s: %w", m.n.id, err)
	}
	m.report.Dropped = append(m.report.Dropped, Problem{m.n.ledger, seq, err})
	return nil
}

// put writes the records of a batch, behind a fence if theirs was lost.
func (m *mender) put(ctx context.Context, batch []located) error {
	f := batch[0].frame
	if f.Epoch < m.epoch {
		for _, at := range batch {
			if err := m.drop(at.seq, &InconsistentError{m.n.ledger, at.seq, fmt.Sprintf("epoch %d behind epoch %d", f.Epoch, m.epoch)}); err != nil {
				return err
			}
		}
		return nil
	}
	if f.Epoch > m.epoch && f.Family != journal.FamilyFence {
		if err := m.fence(ctx, f.Epoch); err != nil {
			return err
		}
	}
	for _, at := range batch {
		if err := m.copy.content(ctx, m.src, m.n, at); err != nil {
			return err
		}
		if err := m.copy.frame(ctx, *at.frame); err != nil {
			return err
		}
		m.epoch = at.frame.Epoch
	}
	return nil
}

func (m *mender) fence(ctx context.Context, epoch uint64) error {
	body, err := journal.EncodeLeaseFence(journal.LeaseFence{Epoch: epoch})
	if err != nil {
		return err
	}
	f := journal.Frame{
		Family: journal.FamilyFence, Epoch: epoch, Batch: 1, Of: 1, Schema: 1,
		ID: strconv.FormatUint(epoch, 10), Body: journal.Field{Bytes: body},
	}
	rand.Read(f.Token[:])
	m.epoch = epoch
	m.report.Fences++
	return m.copy.frame(ctx, f)
}
