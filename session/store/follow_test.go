package store_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/storage"
	"github.com/comity-dev/comity/storage/memstore"
)

// Fifty followers that join at any moment, before the session begins and while it
// is written over several owners, see every record once and in order.
func TestFollowersMissNothing(t *testing.T) {
	each(t, func(t *testing.T, b storage.Backend) {
		s := newStore(t, b, nil)
		const followers, records = 50, 120
		var wg sync.WaitGroup
		follow := func(from uint64) {
			c, err := s.Records().Open(t.Context(), journal.ReplayRequest{SessionID: session, From: journal.FromSeq(from), Follow: true})
			if err != nil {
				t.Error(err)
				return
			}
			wg.Go(func() {
				defer c.Close()
				for want := max(from, 1); want <= records; want++ {
					rec, seq, err := c.Next(t.Context())
					if err != nil || seq != want {
						t.Errorf("follower from %d: record %d, %v, want %d", from, seq, err, want)
						return
					}
					if o, ok := rec.(journal.OpaqueRecord); ok && o.ID != fmt.Sprint(seq) {
						t.Errorf("record %d is %q", seq, o.ID)
					}
				}
			})
		}
		joined := 0
		join := func() {
			if joined < followers {
				follow(uint64(joined % 7))
				joined++
			}
		}
		for range 5 {
			join()
		}
		seq := uint64(0)
		for seq < records {
			w := open(t, s)
			seq++
			for range 39 {
				if seq >= records {
					break
				}
				seq = mustAppend(t, w, note(fmt.Sprint(seq+1), "x"))
				join()
			}
			closed(t, w)
		}
		for joined < followers {
			join()
		}
		wg.Wait()
	})
}

// A follower waits without polling: the bubble comes to rest while it waits.
func TestFollowWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := memstore.New()
		defer b.Close()
		s := newStore(t, b, nil)
		w, err := s.Open(t.Context(), session, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		c, err := s.PublicEvents().Open(t.Context(), journal.ReplayRequest{SessionID: session, Follow: true})
		if err != nil {
			t.Fatal(err)
		}
		type got struct {
			ev  event.Event
			seq uint64
			err error
		}
		next := make(chan got, 1)
		read := func(ctx context.Context) {
			go func() {
				ev, seq, err := c.Next(ctx)
				next <- got{ev, seq, err}
			}()
		}
		read(t.Context())
		synctest.Wait()
		if len(next) != 0 {
			t.Fatalf("Next returned %+v of a journal without events", <-next)
		}
		mustAppend(t, w, note("1", "x"), ev(10))
		if g := <-next; g.err != nil || g.seq != 3 || g.ev.ID != id(10) {
			t.Errorf("Next = %+v", g)
		}

		// The end of a call's context ends the call, not the replay.
		ctx, cancel := context.WithCancelCause(t.Context())
		read(ctx)
		synctest.Wait()
		why := errors.New("enough")
		cancel(why)
		if g := <-next; g.err != why {
			t.Errorf("Next with an ended context = %+v", g)
		}
		mustAppend(t, w, ev(11))
		read(t.Context())
		if g := <-next; g.err != nil || g.seq != 4 {
			t.Errorf("the Next behind it = %+v", g)
		}

		// Close ends a Next in flight.
		read(t.Context())
		synctest.Wait()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if g := <-next; g.err != io.EOF {
			t.Errorf("Next during Close = %+v", g)
		}
		read(t.Context())
		if g := <-next; g.err != io.EOF || c.Close() != nil {
			t.Errorf("Next behind Close = %+v", g)
		}
	})
}

// A replay that does not follow ends where the journal ended when it was opened.
func TestReplayEndsWhereItBegan(t *testing.T) {
	each(t, func(t *testing.T, b storage.Backend) {
		s := newStore(t, b, nil)
		w := open(t, s)
		mustAppend(t, w, note("2", "x"), note("3", "x"))
		c, err := s.Records().Open(t.Context(), journal.ReplayRequest{SessionID: session, From: journal.FromSeq(2)})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		mustAppend(t, w, note("4", "x"))
		for want := uint64(2); want <= 3; want++ {
			if _, seq, err := c.Next(t.Context()); seq != want || err != nil {
				t.Errorf("Next = %d, %v, want %d", seq, err, want)
			}
		}
		for range 2 {
			if _, seq, err := c.Next(t.Context()); seq != 0 || err != io.EOF {
				t.Errorf("Next at the end = %d, %v", seq, err)
			}
		}
		recs, _, err := replayed(t, s, journal.ReplayRequest{From: journal.FromSeq(99)})
		if len(recs) != 0 || err != nil {
			t.Errorf("beyond the end: %v, %v", recs, err)
		}
		recs, _, err = replayed(t, s, journal.ReplayRequest{SessionID: id(77)})
		if len(recs) != 0 || err != nil {
			t.Errorf("a session that is not there: %v, %v", recs, err)
		}
	})
}

func TestViews(t *testing.T) {
	s := newStore(t, closing(t, memstore.New()), nil)
	w := open(t, s)
	other := id(3)
	inLoop := func(n int, loop event.ID) journal.EventRecord {
		return journal.NewEventRecord(in(event.MessageAdded{Role: event.RoleUser, Content: event.Text("hi")}, n, event.Coordinates{Loop: loop}))
	}
	internal := journal.NewEventRecord(in(event.AuditNoted{Activity: "review", Phase: event.PhaseStarted}, 12, event.Coordinates{}))
	mustAppend(t, w, ev(10), inLoop(11, loop), internal, inLoop(13, other), prepared(14, 900), phased(15, "intent"), note("n", "x"))

	events := func(r journal.EventReplayer, loop event.ID) (seqs []uint64) {
		c, err := r.Open(t.Context(), journal.ReplayRequest{SessionID: session, LoopID: loop})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		for {
			ev, seq, err := c.Next(t.Context())
			if err == io.EOF {
				return seqs
			}
			if err != nil {
				t.Fatal(err)
			}
			if b, ok := ev.Body.(event.SessionStarted); ok && seq == 2 {
				if public := b.Workspace != "/home/ada/secret"; public != (r == s.PublicEvents()) {
					t.Errorf("workspace is %q", b.Workspace)
				}
			}
			seqs = append(seqs, seq)
		}
	}
	_, records, err := replayed(t, s, journal.ReplayRequest{LoopID: other})
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ got, want []uint64 }{
		"public":               {events(s.PublicEvents(), ""), []uint64{2, 3, 5}},
		"all":                  {events(s.Events(), ""), []uint64{2, 3, 4, 5}},
		"public, one loop":     {events(s.PublicEvents(), loop), []uint64{2, 3}},
		"all, the other loop":  {events(s.Events(), other), []uint64{2, 4, 5}},
		"records, other loop":  {records, []uint64{1, 2, 4, 5, 8}},
		"public, unknown loop": {events(s.PublicEvents(), id(99)), []uint64{2}},
	} {
		if fmt.Sprint(tt.got) != fmt.Sprint(tt.want) {
			t.Errorf("%s: sequences %v, want %v", name, tt.got, tt.want)
		}
	}
	if _, err := s.Records().Open(t.Context(), journal.ReplayRequest{SessionID: session, LoopID: "../x"}); err == nil {
		t.Error("a hostile loop is taken")
	}
}
