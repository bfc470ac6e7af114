package journal_test

import (
	"context"
	"errors"
	"testing"

	"github.com/comity-dev/comity/session/command"
	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/journal"
)

type notes struct {
	seqs []uint64
	err  error
}

func (n *notes) NoteEvent(_ context.Context, _ event.Event, seq uint64) error {
	n.seqs = append(n.seqs, seq)
	return n.err
}

func TestEventAppenderUsesWhatTheJournalHas(t *testing.T) {
	for name, j := range strengths(new(fake)) {
		a, err := journal.NewJournalEventAppenderChecked(j)
		if err != nil {
			t.Fatal(err)
		}
		full := name == "committed" || name == "batch"
		if a.SupportsCommittedPublicBodies() != full {
			t.Errorf("%s: SupportsCommittedPublicBodies = %v", name, !full)
		}
		commit, err := a.AppendEventCommitted(t.Context(), started(10))
		if err != nil || commit.Sequence == 0 || !commit.Appended {
			t.Errorf("%s: %+v, %v", name, commit, err)
		}
		if full != (commit.EventID == id(10)) || full != (string(commit.PublicBody) == "public") || full != (commit.CoveredThrough == commit.Sequence) {
			t.Errorf("%s: commit of a public event is %+v", name, commit)
		}
		seq, appended, err := a.AppendEventResult(t.Context(), started(11))
		if seq != commit.Sequence+1 || !appended || err != nil {
			t.Errorf("%s: AppendEventResult = %d, %v, %v", name, seq, appended, err)
		}
		if seq, err := a.AppendEvent(t.Context(), started(12)); seq != commit.Sequence+2 || err != nil {
			t.Errorf("%s: AppendEvent = %d, %v", name, seq, err)
		}
	}
}

func TestCatalogIsToldOfWhatIsNew(t *testing.T) {
	catalogFails := errors.New("catalog")
	n := &notes{err: catalogFails}
	f := new(fake)
	a := journal.NewJournalEventAppender(strengths(f)["committed"], journal.WithCatalog(n), journal.WithCatalog(nil), nil)
	if seq, err := a.AppendEvent(t.Context(), started(10)); seq != 1 || err != nil {
		t.Errorf("AppendEvent = %d, %v: the catalog's error is its own", seq, err)
	}
	f.seen = true
	if _, appended, err := a.AppendEventResult(t.Context(), started(10)); appended || err != nil {
		t.Errorf("a repetition: %v, %v", appended, err)
	}
	f.seen, f.err = false, errors.New("append failed")
	if _, err := a.AppendEvent(t.Context(), started(11)); err != f.err {
		t.Errorf("AppendEvent = %v, want the journal's error untouched", err)
	}
	if len(n.seqs) != 1 || n.seqs[0] != 1 {
		t.Errorf("the catalog was told of %v, want the one new record", n.seqs)
	}
}

func TestAppendersRouteTheirRecords(t *testing.T) {
	f := new(fake)
	j := strengths(f)["idempotent"]
	commands, gates, runtime := journal.NewJournalCommandAppender(j), journal.NewJournalGateAppender(j), journal.NewJournalRuntimeCommandAppender(j.(journal.IdempotentJournal))
	opened, resolved := started(20), started(21)
	opened.Body, resolved.Body = event.GateOpened{Gate: id(900)}, event.GateResolved{Gate: id(900)}
	if err := errors.Join(
		commands.AppendCommand(t.Context(), session, loop, input(11, command.PhaseNone)),
		gates.AppendGatePrepared(t.Context(), prepared(12), permission),
		gates.AppendGateOpened(t.Context(), opened),
		gates.AppendGateResolved(t.Context(), resolved),
	); err != nil {
		t.Fatal(err)
	}
	if res, err := runtime.AppendCommandApplication(t.Context(), application(7)); res.Sequence != 5 || !res.Appended || err != nil {
		t.Errorf("AppendCommandApplication = %+v, %v", res, err)
	}
	f.seen = true
	if res, err := runtime.AppendCommandDisposition(t.Context(), disposition(7)); res.Sequence != 6 || res.Appended || err != nil {
		t.Errorf("AppendCommandDisposition of a known one = %+v, %v", res, err)
	}
	var got []journal.Family
	for _, rec := range f.recs {
		family, _ := journal.FamilyOf(rec)
		got = append(got, family)
	}
	want := []journal.Family{journal.FamilyCommand, journal.FamilyGatePrepared, journal.FamilyEvent, journal.FamilyEvent, journal.FamilyApplication, journal.FamilyDisposition}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("appended %v, want %v", got, want)
		}
	}
	if r := f.recs[0].(journal.CommandRecord); r.SessionID() != session || r.LoopID() != loop || r.Command().ID != id(11) {
		t.Errorf("the command was appended as %+v", r)
	}
	var refused *journal.MarshalRecordError
	if err := gates.AppendGateOpened(t.Context(), resolved); !errors.As(err, &refused) || len(f.recs) != 6 {
		t.Errorf("AppendGateOpened of another event: %v", err)
	}
	if err := gates.AppendGateResolved(t.Context(), event.Event{}); !errors.As(err, &refused) || len(f.recs) != 6 {
		t.Errorf("AppendGateResolved of no event: %v", err)
	}
	f.err = errors.New("append failed")
	for name, err := range map[string]error{
		"command":  commands.AppendCommand(t.Context(), session, loop, input(11, command.PhaseNone)),
		"prepared": gates.AppendGatePrepared(t.Context(), prepared(12), permission),
		"opened":   gates.AppendGateOpened(t.Context(), opened),
	} {
		if err != f.err {
			t.Errorf("%s: %v, want the journal's error untouched", name, err)
		}
	}
}

func TestAppendersWithoutAJournal(t *testing.T) {
	var none *journal.NilJournalError
	for name, j := range map[string]journal.SessionJournal{"nil": nil, "nil pointer": (*nothing)(nil)} {
		if a, err := journal.NewJournalEventAppenderChecked(j); a != nil || !errors.As(err, &none) {
			t.Errorf("%s: event appender %v, %v", name, a, err)
		}
		if a, err := journal.NewJournalCommandAppenderChecked(j); a != nil || !errors.As(err, &none) {
			t.Errorf("%s: command appender %v, %v", name, a, err)
		}
		if a, err := journal.NewJournalGateAppenderChecked(j); a != nil || !errors.As(err, &none) {
			t.Errorf("%s: gate appender %v, %v", name, a, err)
		}
		if a, err := journal.NewJournalRuntimeCommandAppenderChecked(j); a != nil || !errors.As(err, &none) {
			t.Errorf("%s: runtime appender %v, %v", name, a, err)
		}
		_, eventErr := journal.NewJournalEventAppender(j).AppendEvent(t.Context(), started(1))
		_, appErr := journal.NewJournalRuntimeCommandAppender(nil).AppendCommandApplication(t.Context(), application(1))
		_, dispErr := journal.NewJournalRuntimeCommandAppender(nil).AppendCommandDisposition(t.Context(), disposition(1))
		gates := journal.NewJournalGateAppender(j)
		opened := started(2)
		opened.Body = event.GateOpened{}
		for what, err := range map[string]error{
			"event": eventErr, "application": appErr, "disposition": dispErr,
			"command":  journal.NewJournalCommandAppender(j).AppendCommand(t.Context(), session, loop, input(1, command.PhaseNone)),
			"prepared": gates.AppendGatePrepared(t.Context(), prepared(1), permission),
			"opened":   gates.AppendGateOpened(t.Context(), opened),
		} {
			if !errors.As(err, &none) {
				t.Errorf("%s: append of %s: %v, want a *NilJournalError", name, what, err)
			}
		}
	}
	var weak *journal.NonIdempotentJournalError
	if a, err := journal.NewJournalRuntimeCommandAppenderChecked(plain{new(fake)}); a != nil || !errors.As(err, &weak) {
		t.Errorf("runtime appender to a plain journal: %v, %v", a, err)
	}
	if a, err := journal.NewJournalRuntimeCommandAppenderChecked(strengths(new(fake))["batch"]); a == nil || err != nil {
		t.Errorf("runtime appender: %v, %v", a, err)
	}
}
