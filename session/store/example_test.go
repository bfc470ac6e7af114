package store_test

import (
	"context"
	"fmt"
	"log"

	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/session/store"
	"github.com/comity-dev/comity/storage/memstore"
)

// A harness in fifty lines: it opens a session, writes a turn, dies, and takes
// it up again.
func Example() {
	ctx := context.Background()
	backend := memstore.New() // filestore.Open(dir, nil) keeps it
	defer backend.Close()
	sessions, err := store.New(backend, nil)
	check(err)
	session, loop, turn := event.NewID(), event.NewID(), event.NewID()

	w, err := sessions.Open(ctx, session, nil) // *journal.LeaseHeldError: somebody has it
	check(err)
	run := w.Context() // ends at once when the session is lost
	events, err := journal.NewJournalEventAppenderChecked(w)
	check(err)
	at := event.Coordinates{Session: session, Loop: loop, Turn: turn}
	say := func(at event.Coordinates, body event.Body) uint64 {
		e := event.Event{Header: event.Header{ID: event.NewID(), At: at}, Body: body}
		commit, err := events.AppendEventCommitted(run, e) // on disk before anybody hears of it
		check(err)
		return commit.Sequence
	}
	say(event.Coordinates{Session: session}, event.SessionStarted{Title: "demo"})
	say(at, event.TurnStarted{Index: 1, Input: event.Text("fix the build")})
	// An effect and a note of one's own, together or not at all.
	_, err = w.AppendBatch(run, journal.OpaqueRecord{Kind: "acme.cache", ID: "1", Body: []byte("private")},
		journal.OpaqueRecord{Kind: "acme.cache", ID: "2", Body: []byte("private"), Public: []byte("cached")})
	check(err)
	check(w.Close()) // here, the process dies

	open, err := sessions.Recover(ctx, session)
	check(err)
	fmt.Println("open turns:", len(open.Turns), "of session", open.Turns[0].At.Session == session)
	w, err = sessions.Open(ctx, session, nil) // the first owner can write no more
	check(err)
	run, events = w.Context(), journal.NewJournalEventAppender(w)
	say(at, event.TurnEnded{Outcome: event.Interrupted})

	page, err := sessions.Page(ctx, store.PageRequest{SessionID: session})
	check(err)
	for _, item := range page.Items {
		fmt.Println(item.Seq, item.Family)
	}
	check(w.Close())
	// Output:
	// open turns: 1 of session true
	// 2 event
	// 3 event
	// 5 opaque
	// 7 event
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
