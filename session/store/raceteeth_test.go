package store_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/comity-dev/comity/storage"
	"github.com/comity-dev/comity/storage/memstore"
)

// A loose backend takes an append at any tip. A leaky one refuses it, and keeps it.
type loose struct {
	storage.Backend
	leaky bool
}

func (l loose) Ledger() storage.Ledger { return looseLedger{l.Backend.Ledger(), l.leaky} }

type looseLedger struct {
	storage.Ledger
	leaky bool
}

func (l looseLedger) Append(ctx context.Context, name string, expected storage.Tip, recs ...[]byte) (storage.Tip, error) {
	tip, err := l.Ledger.Append(ctx, name, expected, recs...)
	conflict, ok := as[*storage.ConflictError](err)
	if !ok {
		return tip, err
	}
	tip, kept := l.Ledger.Append(ctx, name, conflict.Tip, recs...)
	if l.leaky {
		return storage.Tip{}, errors.Join(err, kept)
	}
	return tip, kept
}

// The judge of the races has teeth: it refuses what comes of a store without a
// fence, and of one that keeps what it has refused; and a good history in which
// one answer is another.
func TestRaceIsJudged(t *testing.T) {
	r := round{session: id(1), owners: 3, deaf: true, at: before, free: end}
	for name, b := range map[string]storage.Backend{
		"without a fence":        loose{closing(t, memstore.New()), false},
		"that keeps the refused": loose{closing(t, memstore.New()), true},
	} {
		history, owners, err := r.run(t.Context(), []storage.Backend{b, b, b})
		if err != nil {
			t.Fatal(err)
		}
		if history.judge() == nil {
			t.Errorf("a race on a store %s passes", name)
		}
		if name == "without a fence" && r.stale(owners) == nil {
			t.Errorf("a race on a store %s: what its stale owners were told passes", name)
		}
		for _, o := range owners {
			o.close(t.Context())
		}
	}

	b := closing(t, memstore.New())
	history, owners, err := r.run(t.Context(), []storage.Backend{b, b, b})
	if err = errors.Join(err, history.judge(), r.stale(owners)); err != nil {
		t.Fatal(err)
	}
	for _, o := range owners {
		o.close(t.Context())
	}
	nth := func(op string, how outcome, n int) int {
		for i, o := range history.ops {
			if o.Input.(question).op == op && o.Output.(answer).how == how {
				if n--; n == 0 {
					return i
				}
			}
		}
		t.Fatalf("the history has too few of %s, %v", op, how)
		return 0
	}
	opened := func(n int) answer { return history.ops[nth("open", acked, n)].Output.(answer) }
	for name, lie := range map[string]struct {
		at     int
		change func(*answer)
	}{
		"a stale append that is acknowledged": {nth("append", fenced, 1), func(a *answer) {
			a.how, a.seq = acked, history.ops[nth("append", acked, 6)].Output.(answer).seq+2
		}},
		"a stale append in its successor's place": {nth("append", fenced, 1), func(a *answer) { a.how, a.seq = acked, opened(2).seq }},
		"an epoch that goes down":                 {nth("open", acked, 3), func(a *answer) { a.epoch = opened(2).epoch - 1 }},
		"an epoch that is given out twice":        {nth("open", acked, 2), func(a *answer) { a.epoch = opened(1).epoch }},
		"a sequence that is given out twice":      {nth("append", acked, 2), func(a *answer) { a.seq-- }},
		"a sequence that is left out":             {nth("append", acked, 6), func(a *answer) { a.seq++ }},
		"an owner that is fenced by nobody":       {nth("append", acked, 6), func(a *answer) { a.how = fenced }},
		"a record that is not found":              {nth("read", acked, 1), func(a *answer) { a.found = a.found[:strings.LastIndex(strings.TrimSpace(a.found), " ")+1] }},
		"a record that is found twice":            {nth("read", acked, 1), func(a *answer) { a.found += a.found[strings.LastIndex(strings.TrimSpace(a.found), " ")+1:] }},
	} {
		ops := slices.Clone(history.ops[:lie.at+1]) // what comes behind it must not give it away
		a := ops[lie.at].Output.(answer)
		lie.change(&a)
		ops[lie.at].Output = a
		if oneFencedLog(ops) {
			t.Errorf("%s passes the checker", name)
		}
	}
}
