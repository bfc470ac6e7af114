package journal

import (
	"errors"
	"slices"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/internal/canon"
)

// A Tx is one decision under way: the view that it is made on, and what it
// appends. It is void when the function that got it returns.
type Tx struct {
	View
	first   *event.Event
	ended   []string
	events  []*event.Event
	rows    []row
	reserve bool

	next  numbering
	stamp uint64
	err   error // of a row or a bound; ends the decision
	over  bool
}

var errOver = errors.New("journal: a decision was used after its end")

func (j *Journal) begin() *Tx {
	return &Tx{View: View{j}, next: j.own, stamp: j.stamp}
}

func (tx *Tx) finish() { tx.over = true }

// Pending are the own events that are numbered and not yet synced, in order,
// those of this decision last.
func (tx *Tx) Pending() []*event.Event {
	return append(tx.View.Pending(), tx.batch()...)
}

// Clock is the highest stamp seen or given out, by this decision too.
func (tx *Tx) Clock() uint64 { return tx.stamp }

func (tx *Tx) batch() []*event.Event {
	if tx.first == nil {
		return tx.events
	}
	return append([]*event.Event{tx.first}, tx.events...)
}

// Append numbers, stamps and signs an event with this body. Bounds that it
// breaks are an error of package event, and then nothing was appended; f may go
// on. The first append of a run is preceded by the run's own first event.
func (tx *Tx) Append(body event.Body) (*event.Event, error) {
	if tx.over {
		return nil, errOver
	}
	began := tx.next.seq == 0
	if err := tx.Begin(); err != nil {
		return nil, err
	}
	e, err := tx.sealNext(body)
	if err != nil {
		if began {
			tx.unbegin()
		}
		return nil, err
	}
	tx.events = append(tx.events, e)
	return e, nil
}

// Begin writes the run's first event with this decision, unless it is written:
// what of earlier runs does not go on ends with it. Append does it by itself.
func (tx *Tx) Begin() error {
	if tx.over {
		return errOver
	}
	if tx.next.seq > 0 {
		return nil
	}
	body, ended := tx.j.succession()
	e, err := tx.sealNext(body)
	if err != nil {
		return err
	}
	tx.first, tx.ended = e, ended
	return nil
}

// unbegin takes Begin back, when nothing came of what asked for it.
func (tx *Tx) unbegin() {
	tx.first, tx.ended = nil, nil
	tx.next, tx.stamp = tx.j.own, tx.j.stamp
}

func (tx *Tx) sealNext(body event.Body) (*event.Event, error) {
	j := tx.j
	e, err := event.Seal(j.cfg.Key, event.Header{
		Repo:    j.cfg.Repo,
		Stream:  tx.next.stream,
		Seq:     tx.next.seq + 1,
		Lamport: tx.stamp + 1,
		At:      j.clock.Now().Unix(),
		Prev:    tx.next.prev,
	}, body)
	if err != nil {
		return nil, err
	}
	tx.next.put(e)
	tx.stamp = e.Lamport
	return e, nil
}

// PutLocal writes a local row with this decision: a fact of this machine that is
// never replicated. A nil value deletes it. A row out of bounds (MaxRowKind,
// MaxRowKey, MaxRowValue) fails the decision when f returns.
func (tx *Tx) PutLocal(kind, key string, value []byte) {
	r := row{kind, key, slices.Clone(value)}
	if err := r.check(); err != nil {
		tx.err = errors.Join(tx.err, err)
		return
	}
	tx.rows = append(tx.rows, r)
}

// Reserve lets this decision use the reserve of a full disk: for releases and
// closes, which make room for others.
func (tx *Tx) Reserve() { tx.reserve = true }

// records are the decision's records in the order of the log: the events, then
// the rows.
func (tx *Tx) records() ([][]byte, error) {
	if tx.err != nil {
		return nil, tx.err
	}
	if tx.first != nil {
		value, err := canon.Marshal(tx.j.run)
		if err != nil {
			return nil, err
		}
		tx.rows = append(tx.rows, row{runRowKind, runRowKey, value})
	}
	var recs [][]byte
	size := 0
	add := func(t RecordType, payload []byte) {
		recs = append(recs, tx.j.seal.seal(t, payload))
		size += recordHeader + len(payload)
	}
	for _, e := range tx.batch() {
		add(RecordEvent, e.Raw)
	}
	for _, r := range tx.rows {
		add(RecordRow, r.encode())
	}
	switch {
	case len(recs) > maxBatchRecords:
		return nil, &BatchError{"records", maxBatchRecords, len(recs)}
	case size > maxBatchBytes:
		return nil, &BatchError{"bytes", maxBatchBytes, size}
	}
	return recs, nil
}
