package journal_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/comity-dev/comity/session/hook"
	"github.com/comity-dev/comity/session/journal"
)

// A watcher notes what it is told, and may panic at either end.
type watcher struct {
	seen              []string
	panics, panicsEnd bool
}

func (w *watcher) Begin(ctx context.Context, c hook.Call) (context.Context, func(hook.Outcome, error)) {
	w.seen = append(w.seen, fmt.Sprint(c.Operation, " ", c.Session, " ", c.Family, " ", c.ID))
	if w.panics {
		panic("observer")
	}
	return nil, func(o hook.Outcome, err error) {
		w.seen = append(w.seen, fmt.Sprint(o, " ", err))
		if w.panicsEnd {
			panic("observer")
		}
	}
}

func watched(j journal.SessionJournal, w *watcher) journal.SessionJournal {
	return journal.WithHooks(j, hook.NewRunner(map[hook.Operation][]hook.Observer{hook.JournalAppend: {w}}), session)
}

func TestHooksSeeEveryFamilyOnce(t *testing.T) {
	for family, rec := range everyRecord() {
		f, w := new(fake), new(watcher)
		if seq, err := watched(plain{f}, w).Append(t.Context(), rec); seq != 1 || err != nil {
			t.Errorf("%v: Append = %d, %v", family, seq, err)
		}
		want := []string{fmt.Sprintf("journal-append %s %v %s", session, family, rec.IdempotencyID()), "completed <nil>"}
		if !slices.Equal(w.seen, want) {
			t.Errorf("%v: told %q, want %q", family, w.seen, want)
		}
	}
}

func TestHooksChangeNoResult(t *testing.T) {
	failed := errors.New("append failed")
	for name, w := range map[string]*watcher{"quiet": {}, "panics at the beginning": {panics: true}, "panics at the end": {panicsEnd: true}} {
		for strength, do := range appends {
			for _, want := range []error{nil, failed} {
				f := &fake{err: want}
				seq, err := do(t.Context(), watched(strengths(f)["batch"], w), everyRecord()[journal.FamilyEvent])
				if err != want || (seq == 1) != (want == nil) || len(f.recs) != int(seq) {
					t.Errorf("%s, %s: %d, %v, want the journal's own result with %v", name, strength, seq, err, want)
				}
			}
		}
	}
}

func TestHooksSayHowItEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	failed := errors.New("append failed")
	unknown := &journal.AmbiguousAckError{Subject: "s", MsgID: "1", Cause: failed}
	for _, tt := range []struct {
		ctx  context.Context
		err  error
		want string
	}{
		{t.Context(), nil, "completed <nil>"},
		{ctx, nil, "completed <nil>"},
		{t.Context(), failed, "failed append failed"},
		{ctx, failed, "cancelled append failed"},
		{t.Context(), unknown, "ambiguous " + unknown.Error()},
		{ctx, unknown, "ambiguous " + unknown.Error()},
	} {
		w := new(watcher)
		watched(plain{&fake{err: tt.err}}, w).Append(tt.ctx, everyRecord()[journal.FamilyEvent])
		if got := w.seen[1]; got != tt.want {
			t.Errorf("ended %q, want %q", got, tt.want)
		}
	}
	// A record that cannot be described goes on without an observer.
	w, f := new(watcher), new(fake)
	for _, rec := range []journal.JournalRecord{nil, &journal.FenceRecord{}} {
		if _, err := watched(plain{f}, w).Append(t.Context(), rec); err != nil || len(w.seen) != 0 {
			t.Errorf("%T: %v, told %q", rec, err, w.seen)
		}
	}
	if len(f.recs) != 2 {
		t.Errorf("appended %v", f.recs)
	}
	// A panic of the journal is told and goes on.
	w = new(watcher)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic of the journal was swallowed")
			}
		}()
		watched(panicking{}, w).Append(t.Context(), everyRecord()[journal.FamilyEvent])
	}()
	if len(w.seen) != 2 {
		t.Errorf("told %q of an append that panicked", w.seen)
	}
}

type panicking struct{}

func (panicking) Append(context.Context, journal.JournalRecord) (uint64, error) { panic("journal") }

func TestNoHooks(t *testing.T) {
	j := plain{new(fake)}
	for name, r := range map[string]*hook.Runner{"nil": nil, "empty": hook.NewRunner(nil), "of others": hook.NewRunner(map[hook.Operation][]hook.Observer{"other": {&watcher{}}})} {
		if got := journal.WithHooks(j, r, session); got != journal.SessionJournal(j) {
			t.Errorf("%s: WithHooks = %v, want the journal itself", name, got)
		}
		if journal.HookMiddleware(r, session) != nil {
			t.Errorf("%s: HookMiddleware is not nil", name)
		}
	}
	if got := journal.WithHooks(nil, hook.NewRunner(nil), session); got != nil {
		t.Errorf("WithHooks(nil) = %v, want nil", got)
	}
	w, f := new(watcher), new(fake)
	m := journal.HookMiddleware(hook.NewRunner(map[hook.Operation][]hook.Observer{hook.JournalAppend: {w}}), session)
	if seq, err := m(plain{f}.Append)(t.Context(), everyRecord()[journal.FamilyFence]); seq != 1 || err != nil || len(w.seen) != 2 {
		t.Errorf("HookMiddleware: %d, %v, told %q", seq, err, w.seen)
	}
}
