package store_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/comity-dev/comity/session/command"
	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/gate"
	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/session/store"
	"github.com/comity-dev/comity/storage"
	"github.com/comity-dev/comity/storage/filestore"
	"github.com/comity-dev/comity/storage/memstore"
)

func id(n int) event.ID { return event.ID(fmt.Sprintf("%08x-0000-4000-8000-%012x", n, n)) }

var (
	session = id(1)
	loop    = id(2)
	ledger  = "sessions/" + string(session)
)

// backends are those that most tests run over.
var backends = map[string]func(t testing.TB) storage.Backend{
	"memstore": func(t testing.TB) storage.Backend { return closing(t, memstore.New()) },
	"filestore": func(t testing.TB) storage.Backend {
		s, err := filestore.Open(t.TempDir(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return closing(t, s)
	},
	"natsstore": natsBackend,
}

func closing(t testing.TB, b storage.Backend) storage.Backend {
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return b
}

func each(t *testing.T, test func(t *testing.T, b storage.Backend)) {
	for name, open := range backends {
		t.Run(name, func(t *testing.T) {
			if name == "natsstore" && testing.Short() {
				t.Skip("a server for each test")
			}
			test(t, open(t))
		})
	}
}

func newStore(t testing.TB, b storage.Backend, o *store.Options) *store.Store {
	t.Helper()
	s, err := store.New(b, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func open(t testing.TB, s *store.Store) *store.Writer {
	t.Helper()
	w, err := s.Open(t.Context(), session, nil)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func closed(t testing.TB, w *store.Writer) {
	t.Helper()
	if err := w.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
}

func started(n int) event.Event {
	return event.Event{
		Header: event.Header{ID: id(n), At: event.Coordinates{Session: session}, CreatedAt: uint64(n)},
		Body:   event.SessionStarted{Title: fmt.Sprint("session ", n), Workspace: "/home/ada/secret"},
	}
}

func ev(n int) journal.EventRecord { return journal.NewEventRecord(started(n)) }

func in(body event.Body, n int, at event.Coordinates) event.Event {
	at.Session = session
	e := event.Event{Header: event.Header{ID: id(n), At: at}, Body: body}
	switch body.(type) {
	case event.GatePrepared, event.AuditNoted:
		e.Visibility = event.Internal
	}
	return e
}

func note(id, body string) journal.OpaqueRecord {
	return journal.OpaqueRecord{Kind: "note", ID: id, Schema: 1, Body: []byte(body)}
}

func phased(n int, phase command.DeliveryPhase) journal.CommandRecord {
	return journal.NewCommandRecord(session, loop, command.Command{
		Header: command.Header{ID: id(n), Agency: event.Machine},
		Body:   command.UserInput{Content: event.Text("go on"), Phase: phase, Target: loop},
	})
}

var permission = gate.Payload{Permission: &gate.Permission{Tool: "shell", Input: "rm -rf secret-folder"}}

func prepared(n, gateID int) journal.GatePreparedRecord {
	return journal.NewGatePreparedRecord(in(event.GatePrepared{Gate: id(gateID), Asks: gate.KindPermission}, n, event.Coordinates{Loop: loop}), permission)
}

func mustAppend(t testing.TB, w journal.SessionJournal, recs ...journal.JournalRecord) uint64 {
	t.Helper()
	var seq uint64
	for _, rec := range recs {
		var err error
		if seq, err = w.Append(t.Context(), rec); err != nil {
			t.Fatalf("Append(%T %s): %v", rec, rec.IdempotencyID(), err)
		}
	}
	return seq
}

// replayed returns what a replay yields, as family and id, and how it ended.
func replayed(t testing.TB, s *store.Store, req journal.ReplayRequest) (recs []journal.JournalRecord, seqs []uint64, end error) {
	t.Helper()
	if req.SessionID == "" {
		req.SessionID = session
	}
	c, err := s.Records().Open(t.Context(), req)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	defer c.Close()
	for {
		rec, seq, err := c.Next(t.Context())
		if err == io.EOF {
			return recs, seqs, nil
		}
		if err != nil {
			return recs, seqs, err
		}
		recs, seqs = append(recs, rec), append(seqs, seq)
	}
}

func all(t testing.TB, s *store.Store) []journal.JournalRecord {
	t.Helper()
	recs, seqs, err := replayed(t, s, journal.ReplayRequest{})
	if err != nil {
		t.Fatalf("replay: %v", err)
	}
	for i, seq := range seqs {
		if seq != uint64(i+1) {
			t.Fatalf("record %d has sequence %d", i+1, seq)
		}
	}
	return recs
}

// wantIDs wants the journal to hold these records behind fences, and no others.
func wantIDs(t testing.TB, s *store.Store, want ...string) {
	t.Helper()
	var got []string
	for _, rec := range all(t, s) {
		if family, _ := journal.FamilyOf(rec); family != journal.FamilyFence {
			got = append(got, rec.IdempotencyID())
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the journal holds %v, want %v", got, want)
	}
}

func as[E error](err error) (e E, ok bool) {
	ok = errors.As(err, &e)
	return e, ok
}

func want[E error](t testing.TB, what string, err error) E {
	t.Helper()
	e, ok := as[E](err)
	if !ok {
		t.Fatalf("%s = %v (%T), want %T", what, err, err, e)
	}
	return e
}

func tip(t testing.TB, b storage.Backend) storage.Tip {
	t.Helper()
	tip, err := b.Ledger().Tip(context.Background(), ledger)
	if err != nil {
		t.Fatal(err)
	}
	return tip
}
