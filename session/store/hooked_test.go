package store_test

import (
	"context"
	"testing"

	"github.com/comity-dev/comity/session/hook"
	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/session/store"
	"github.com/comity-dev/comity/storage"
)

// A rude observer panics wherever it can.
type rude struct{ begun int }

func (r *rude) Begin(context.Context, hook.Call) (context.Context, func(hook.Outcome, error)) {
	r.begun++
	if r.begun%2 == 0 {
		panic("observer, at the beginning")
	}
	return nil, func(hook.Outcome, error) { panic("observer, at the end") }
}

// Observers that panic change nothing of a writer, nor of its opening, and it
// keeps all that it can do.
func TestHooksOfAWriter(t *testing.T) {
	each(t, func(t *testing.T, b storage.Backend) {
		s := newStore(t, b, nil)
		observer := new(rude)
		runner := hook.NewRunner(map[hook.Operation][]hook.Observer{hook.JournalAppend: {observer}})
		w, err := s.Open(t.Context(), session, &store.OpenOptions{Opening: journal.HookMiddleware(runner, session)})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		hooked, ok := journal.WithHooks(w, runner, session).(journal.BatchJournal)
		if !ok {
			t.Fatal("the hooked writer has lost its capabilities")
		}
		for i := range 4 {
			for _, again := range []bool{false, true} {
				res, err := hooked.AppendCommitted(t.Context(), ev(10+i))
				if err != nil || res.Sequence != uint64(i)+2 || res.Appended == again || (res.Public.Body == nil) != again {
					t.Errorf("append %d, again %v: %+v, %v", i, again, res, err)
				}
			}
		}
		res, err := hooked.AppendBatch(t.Context(), note("1", "x"), note("2", "x"))
		if err != nil || res[1].Sequence != 7 {
			t.Errorf("AppendBatch = %+v, %v", res, err)
		}
		want[*journal.IdempotencyCollisionError](t, "a collision", second(hooked.Append(t.Context(), note("1", "other"))))
		if observer.begun != 1+8+2+1 {
			t.Errorf("the observer was told of %d appends", observer.begun)
		}
		wantIDs(t, s, string(id(10)), string(id(11)), string(id(12)), string(id(13)), "1", "2")
	})
}
