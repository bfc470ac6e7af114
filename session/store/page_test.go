package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/gate"
	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/session/store"
	"github.com/comity-dev/comity/storage"
	"github.com/comity-dev/comity/storage/memstore"
)

// What is committed is what is read back, by page and by follower, for every
// size of page; and nothing private is in it.
func TestPublicBytesAreThoseCommitted(t *testing.T) {
	each(t, func(t *testing.T, b storage.Backend) {
		s := newStore(t, b, &store.Options{InlineBytes: 1 << 10})
		w := open(t, s)
		committed := make(map[uint64]store.PublicItem)
		commit := func(rec journal.JournalRecord) {
			t.Helper()
			res, err := w.AppendCommitted(t.Context(), rec)
			if err != nil {
				t.Fatal(err)
			}
			family, _ := journal.FamilyOf(rec)
			kind := ""
			if r, ok := rec.(journal.OpaqueRecord); ok {
				kind = r.Kind
			}
			if res.Public.EventID != "" {
				committed[res.Sequence] = store.PublicItem{Seq: res.Sequence, Family: family, Kind: kind, ID: res.Public.EventID, Body: bytes.Clone(res.Public.Body)}
				for i := range res.Public.Body { // it is the caller's
					res.Public.Body[i] = 'X'
				}
			}
		}
		at := event.Coordinates{Loop: loop}
		commit(ev(10))
		commit(note("private", "secret"))
		commit(prepared(11, 900))
		commit(journal.NewEventRecord(in(event.GateOpened{Gate: id(900), Asks: gate.KindPermission, Subject: "shell"}, 12, at)))
		commit(journal.NewEventRecord(in(event.GateResolved{Gate: id(900), Decision: gate.Decision{
			Action: gate.Approved, Scope: gate.ScopeOnce, By: gate.Decider{Kind: gate.Person, Name: "ada"}, Audit: "secret grounds",
		}}, 13, at)))
		commit(journal.NewEventRecord(in(event.AuditNoted{Activity: "review", Phase: event.PhaseStarted, Note: "secret"}, 14, event.Coordinates{})))
		commit(journal.NewEventRecord(in(event.MessageAdded{Role: event.RoleUser, Content: event.Text(strings.Repeat("long ", 2000))}, 15, at)))
		commit(journal.OpaqueRecord{Kind: "note", ID: "both", Body: []byte("secret"), Public: []byte{}})
		commit(phased(16, "intent"))
		if len(committed) != 5 {
			t.Errorf("%d records have a public form, want 5", len(committed))
		}

		check := func(how string, items []store.PublicItem) {
			t.Helper()
			if len(items) != len(committed) {
				t.Errorf("%s: %d items, want %d", how, len(items), len(committed))
			}
			last := uint64(0)
			for _, item := range items {
				want := committed[item.Seq]
				if item.Family != want.Family || item.Kind != want.Kind || item.ID != want.ID || !bytes.Equal(item.Body, want.Body) || item.Seq <= last {
					t.Errorf("%s: item %d is %.200s, want %.200s", how, item.Seq, fmt.Sprintf("%+v", item), fmt.Sprintf("%+v", want))
				}
				if bytes.Contains(item.Body, []byte("secret")) {
					t.Errorf("%s: item %d shows what is private: %s", how, item.Seq, item.Body)
				}
				last = item.Seq
			}
		}
		for limit := 1; limit <= 6; limit++ {
			for _, budget := range []int{1, 300, 0} {
				var items []store.PublicItem
				req := store.PageRequest{SessionID: session, Limit: limit, MaxBytes: budget}
				for covered := uint64(0); ; {
					p, err := s.Page(t.Context(), req)
					if err != nil {
						t.Fatal(err)
					}
					if len(p.Items) > limit || p.Tip != 10 || p.CoveredThrough <= covered || (p.Next == "") != (p.CoveredThrough == p.Tip) {
						t.Fatalf("limit %d, budget %d: page %+v behind %d", limit, budget, p, covered)
					}
					if budget == 1 && len(p.Items) > 1 && len(p.Items[1].Body) > 0 {
						t.Errorf("a page of a byte has %d items", len(p.Items))
					}
					items, covered = append(items, p.Items...), p.CoveredThrough
					if req.Cursor = p.Next; p.Next == "" {
						break
					}
				}
				check(fmt.Sprint("pages of ", limit, " and ", budget), items)
			}
		}
		var items []store.PublicItem
		ctx, cancel := context.WithCancel(t.Context())
		for item, err := range s.FollowPublic(ctx, session, 0) {
			if err != nil {
				if !errors.Is(err, context.Canceled) {
					t.Errorf("follower ended with %v", err)
				}
				break
			}
			if items = append(items, item); len(items) == len(committed) {
				cancel()
			}
		}
		cancel()
		check("follower", items)
	})
}

func TestPagesFromASequence(t *testing.T) {
	s := newStore(t, closing(t, memstore.New()), nil)
	w := open(t, s)
	mustAppend(t, w, ev(10), note("1", "x"), ev(11), ev(12), note("2", "x"))
	page := func(req store.PageRequest) store.Page {
		t.Helper()
		req.SessionID = session
		p, err := s.Page(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := page(store.PageRequest{From: journal.FromSeq(3), Limit: 1})
	if len(p.Items) != 1 || p.Items[0].Seq != 4 || p.CoveredThrough != 4 || p.Tip != 6 {
		t.Errorf("from 3: %+v", p)
	}
	mustAppend(t, w, ev(13))
	if p := page(store.PageRequest{Cursor: p.Next}); len(p.Items) != 1 || p.Items[0].Seq != 5 || p.CoveredThrough != 6 || p.Tip != 6 || p.Next != "" {
		t.Errorf("the next page: %+v", p)
	}
	if p := page(store.PageRequest{From: journal.FromSeq(7)}); len(p.Items) != 1 || p.Items[0].Seq != 7 || p.Next != "" {
		t.Errorf("what came later: %+v", p)
	}
	if p := page(store.PageRequest{From: journal.FromSeq(8)}); len(p.Items) != 0 || p.CoveredThrough != 7 || p.Next != "" {
		t.Errorf("behind the end: %+v", p)
	}
	if p, err := s.Page(t.Context(), store.PageRequest{SessionID: id(77)}); err != nil || len(p.Items) != 0 || p.Next != "" || p.CoveredThrough != 0 {
		t.Errorf("a session that is not there: %+v, %v", p, err)
	}
}

func TestCursorsAreHeldToTheirJournal(t *testing.T) {
	b := closing(t, memstore.New())
	s := newStore(t, b, nil)
	w := open(t, s)
	mustAppend(t, w, ev(10), ev(11), ev(12))
	p, err := s.Page(t.Context(), store.PageRequest{SessionID: session, Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	try := func(what string, req store.PageRequest) {
		t.Helper()
		want[*store.CursorError](t, what, second(s.Page(t.Context(), req)))
	}
	try("another session's", store.PageRequest{SessionID: id(2), Cursor: p.Next})
	try("beside a sequence", store.PageRequest{SessionID: session, Cursor: p.Next, From: journal.FromSeq(2)})
	for i := range len(p.Next) {
		bad := []byte(p.Next)
		bad[i] ^= 1
		if got, err := s.Page(t.Context(), store.PageRequest{SessionID: session, Cursor: string(bad)}); err == nil && len(got.Items) > 2 {
			t.Errorf("byte %d changed: %+v", i, got)
		}
	}
	for _, bad := range []string{"x", p.Next + "=", p.Next + "A", p.Next[1:], "!" + p.Next, strings.ToUpper(p.Next)} {
		try("cursor "+bad, store.PageRequest{SessionID: session, Cursor: bad})
	}
	for _, req := range []store.PageRequest{{Limit: 1001}, {Limit: -1}, {MaxBytes: -1}} {
		req.SessionID = session
		if _, err := s.Page(t.Context(), req); err == nil {
			t.Errorf("%+v is taken", req)
		}
	}
	closed(t, w)
	if err := b.Ledger().Delete(t.Context(), ledger); err != nil {
		t.Fatal(err)
	}
	w = open(t, s)
	mustAppend(t, w, ev(10), ev(11), ev(12))
	try("of a journal that was deleted", store.PageRequest{SessionID: session, Cursor: p.Next})
}

// A backend may count the lives of each ledger for itself.
type sameLife struct{ storage.Backend }

func (s sameLife) Ledger() storage.Ledger { return sameLifeLedger{s.Backend.Ledger()} }

type sameLifeLedger struct{ storage.Ledger }

func (l sameLifeLedger) Tip(ctx context.Context, name string) (storage.Tip, error) {
	tip, err := l.Ledger.Tip(ctx, name)
	tip.Gen = 1
	return tip, err
}

func TestCursorOfAnotherSession(t *testing.T) {
	b := closing(t, memstore.New())
	s := newStore(t, b, nil)
	mustAppend(t, open(t, s), ev(10), ev(11), ev(12))
	other, err := s.Open(t.Context(), id(2), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	mustAppend(t, other, note("1", "x"), note("2", "x"), note("3", "x"))
	look := newStore(t, sameLife{b}, nil)
	p, err := look.Page(t.Context(), store.PageRequest{SessionID: session, Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	if p, err := look.Page(t.Context(), store.PageRequest{SessionID: session, Cursor: p.Next, Limit: 1}); err != nil || len(p.Items) != 1 {
		t.Errorf("the next page = %+v, %v", p, err)
	}
	want[*store.CursorError](t, "the cursor of another session", second(look.Page(t.Context(), store.PageRequest{SessionID: id(2), Cursor: p.Next})))
}
