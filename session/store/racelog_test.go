package store_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/storage"
)

// A question is what an owner asks of a journal: to open it, to append to it as
// one, or to read it all.
type question struct {
	op    string   // "open", "append" or "read"
	epoch uint64   // of the owner that appends
	ids   []string // of the records that it appends
}

// An answer is what came of it.
type answer struct {
	how   outcome
	epoch uint64 // of an opening
	seq   uint64 // of the fence, or of the first record
	found string // by a reading
}

type outcome uint8

const (
	untried outcome = iota
	acked
	fenced // refused: a later owner has written
	lost   // refused: the lease has ended, or somebody else's record came between
	unsure // nobody knows, and it may be done at any later time
	failed // with an error that is none of these
)

func (o outcome) String() string {
	return [...]string{"not tried", "acknowledged", "fenced", "refused", "unknown", "failed"}[o]
}

// A fencedLog is the journal that every history must be one of: one line, of
// which only the newest epoch appends.
type fencedLog struct {
	epoch uint64 // of the last fence
	tip   uint64
	recs  string
}

func entryOf(epoch uint64, id string) string { return fmt.Sprint(epoch, ":", id, " ") }

func (l fencedLog) add(epoch uint64, ids ...string) fencedLog {
	for _, id := range ids {
		l.tip++
		l.recs += entryOf(epoch, id)
	}
	l.epoch = epoch
	return l
}

const fenceID = "fence"

// step returns the logs that l may be when the question has had the answer; none
// when it cannot have had it.
func (l fencedLog) step(q question, a answer) []any {
	if q.op == "read" {
		return only(l, a.found == l.recs)
	}
	epoch, ids, may := q.epoch, q.ids, q.epoch == l.epoch
	if q.op == "open" {
		epoch, ids, may = a.epoch, []string{fenceID}, a.epoch > l.epoch
	}
	switch next := l.add(epoch, ids...); a.how {
	case acked:
		return only(next, may && a.seq == l.tip+1)
	case fenced:
		return only(l, l.epoch > epoch)
	case lost:
		return only(l, true)
	case unsure:
		return append(only(l, true), only(next, may)...)
	}
	return nil
}

func only(l fencedLog, can bool) []any {
	if !can {
		return nil
	}
	return []any{l}
}

// oneFencedLog reports whether a history is one that a fenced log could have had.
func oneFencedLog(history []porcupine.Operation) bool {
	model := porcupine.NondeterministicModel{
		Init: func() []any { return []any{fencedLog{}} },
		Step: func(state, in, out any) []any { return state.(fencedLog).step(in.(question), out.(answer)) },
	}
	return porcupine.CheckOperationsTimeout(model.ToModel(), history, time.Minute) == porcupine.Ok
}

// A chronicle is the history of one session. Its time is a count of what began
// and ended.
type chronicle struct {
	mu   sync.Mutex
	now  int64
	ops  []porcupine.Operation
	errs []error // of answers that failed
}

func (c *chronicle) begin() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now++
	return c.now
}

// end notes an answer. One that is unsure never ends.
func (c *chronicle) end(began int64, owner int, q question, a answer, err error) outcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now++
	op := porcupine.Operation{ClientId: owner, Input: q, Output: a, Call: began, Return: c.now}
	switch a.how {
	case unsure:
		op.Return = math.MaxInt64
	case failed:
		c.errs = append(c.errs, fmt.Errorf("owner %d: %s: %w", owner, q.op, err))
	}
	c.ops = append(c.ops, op)
	return a.how
}

// read notes all that is in the ledger.
func (c *chronicle) read(ctx context.Context, b storage.Backend, ledger string) error {
	began := c.begin()
	var found strings.Builder
	next := uint64(1)
	for rec, err := range b.Ledger().Read(ctx, ledger, 0) {
		if err != nil {
			return err
		}
		f, err := journal.ParseFrame(rec.Data)
		if err != nil {
			return err
		}
		if rec.Seq != next {
			return fmt.Errorf("record %d comes where %d should be", rec.Seq, next)
		}
		next++
		id := f.ID
		if f.Family == journal.FamilyFence {
			id = fenceID
		}
		found.WriteString(entryOf(f.Epoch, id))
	}
	c.end(began, -1, question{op: "read"}, answer{how: acked, found: found.String()}, nil)
	return nil
}

// refused returns the records of all appends that were refused.
func (c *chronicle) refused() (ids []string) {
	for _, op := range c.ops {
		if how := op.Output.(answer).how; how == fenced || how == lost {
			ids = append(ids, op.Input.(question).ids...)
		}
	}
	return ids
}

// judge returns what is wrong with the history, read at its end.
func (c *chronicle) judge() error {
	if len(c.errs) > 0 {
		return c.errs[0]
	}
	found := c.ops[len(c.ops)-1].Output.(answer).found
	for _, id := range c.refused() {
		if strings.Contains(found, ":"+id+" ") {
			return fmt.Errorf("record %s was refused and is there: %s", id, found)
		}
	}
	if !oneFencedLog(c.ops) {
		return fmt.Errorf("the history is not that of one fenced log: %+v", c.ops)
	}
	return nil
}
