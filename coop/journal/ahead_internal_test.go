package journal

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/internal/seglog"
)

// What is read ahead comes out in the order of the log, however many batches it
// makes, and each record as it is when it is read alone.
func TestReadingAheadKeepsTheOrder(t *testing.T) {
	m := newMachine(t, "ada")
	key := keyOf(t, "bob")
	stream := m.streamOf(key)
	var events [][]byte
	for i := range 8 {
		e := m.sealBy(key, stream, 1, uint64(i+1), nil, event.SessionClosed{Session: fmt.Sprint("s", i), Reason: "done"})
		events = append(events, e.Raw)
	}
	seal := func() *sealer { return newSealer([]byte("key")) }
	for _, n := range []int{0, 1, aheadRecords - 1, aheadRecords, aheadRecords + 1, 3 * aheadBatches * maxLookers * aheadRecords} {
		var want []reading
		var parser event.Parser
		var got int
		l := newLookout(seal, func(r *reading) {
			w := want[got]
			switch {
			case r.index != w.index, r.err != w.err, r.record.kind != w.record.kind, r.record.sealed != w.record.sealed,
				(r.event == nil) != (w.event == nil), (r.form == nil) != (w.form == nil),
				r.event != nil && r.event.Hash != w.event.Hash:
				t.Fatalf("of %d, record %d is %+v, want %+v", n, got, *r, w)
			}
			got++
		})
		for i := range n {
			payload := events[i%len(events)]
			if i%5 == 0 {
				payload = fmt.Appendf(nil, "no event %d", i)
			}
			data := seal().seal(RecordType(1+i%2), payload)
			switch {
			case i%7 == 0:
				data[5] ^= 1
			case i%11 == 0:
				data = data[:recordHeader-1]
			}
			stored := seglog.Record{Index: uint64(2*i + 1), Data: data}
			alone := reading{index: stored.Index}
			alone.read(seal(), &parser, stored.Data)
			want = append(want, alone)
			l.put(stored)
			if ahead := len(want) - got; ahead > (l.most+1)*aheadRecords {
				t.Fatalf("%d records are under way, want at most %d", ahead, (l.most+1)*aheadRecords)
			}
		}
		l.rest()
		l.end()
		if got != n {
			t.Fatalf("%d of %d records came", got, n)
		}
	}
}

// broken is a log that cannot be read from an index on.
type broken struct {
	*memory
	from uint64
	err  error
}

func (b broken) From(index uint64) iter.Seq2[seglog.Record, error] {
	return func(yield func(seglog.Record, error) bool) {
		for rec, err := range b.memory.From(index) {
			if rec.Index == b.from {
				yield(seglog.Record{}, b.err)
				return
			}
			if !yield(rec, err) {
				return
			}
		}
	}
}

// A reload that cannot go on ends with the error, whatever is under way.
func TestReloadEndsWithTheErrorOfTheLog(t *testing.T) {
	m := newMachine(t, "ada")
	j := m.start()
	for i := range 3 * aheadRecords {
		m.append(j, event.SessionClosed{Session: fmt.Sprint("s", i), Reason: "done"})
	}
	for _, from := range []uint64{1, aheadRecords, aheadRecords + 1, 2*aheadRecords + 5} {
		cause := errors.New("no such disk")
		j := newJournal(m.cfg, broken{m.log.memory, from, cause}, fake(j))
		if err := j.reload(t.Context()); !errors.Is(err, cause) {
			t.Errorf("a log that fails at %d: %v, want its error", from, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := newJournal(m.cfg, m.log, fake(j)).reload(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a reload that is called off: %v", err)
	}
	again := newJournal(m.cfg, m.log, fake(j))
	if err := again.reload(t.Context()); err != nil || again.Health().Reloaded != 3*aheadRecords+1 {
		t.Errorf("%d events came back (%v), want %d", again.Health().Reloaded, err, 3*aheadRecords+1)
	}
}
