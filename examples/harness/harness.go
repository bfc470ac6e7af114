package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/session/store"
	"github.com/comity-dev/comity/storage/filestore"
)

// A harness is the owner of one session, for one run of the program. All of it
// that has to outlive the run is in the journal.
type harness struct {
	options
	sessions *store.Store
	journal  *store.Writer
	screen   *screen
	inbox    <-chan request
	files    workspace

	here  event.Coordinates // where the root loop is: between turns, in one, in a step
	turns uint64            // that were begun in the root loop
	done  uint64            // steps that were done in it
	steps uint64            // of them, in the turn
	used  event.Usage       // by the turn
	asked *question         // that waits for its answer, nil if none does
}

// run opens the session, brings it to rest after whatever ended the run before,
// works until it has its steps, and writes the transcript.
func run(ctx context.Context, o options, in io.Reader, out io.Writer) (err error) {
	backend, err := filestore.Open(o.store, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, backend.Close()) }()
	sessions, err := store.New(backend, nil)
	if err != nil {
		return err
	}
	h := &harness{
		options: o, sessions: sessions, screen: &screen{w: out}, inbox: listen(in),
		files: workspace{o.store + ".work"},
		here:  event.Coordinates{Session: o.session, Loop: idOf(o.session, "root loop")},
	}
	// From here on the session is ours: a fence is in its journal, behind which no
	// earlier owner can write. The screen hears of each event once it is durable.
	if h.journal, err = sessions.Open(ctx, o.session, &store.OpenOptions{Catalog: h.screen}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.journal.Close()) }()
	// What the session does ends at once when somebody else has taken it over.
	if err := h.work(h.journal.Context()); err != nil {
		return err
	}
	return h.writeTranscript(ctx, o.store+".md")
}

// work is a session from wherever it stands to its end.
func (h *harness) work(ctx context.Context) error {
	open, err := h.sessions.Recover(ctx, h.session)
	if err != nil {
		return err
	}
	if open.Stopped {
		h.screen.print("the session has ended; its transcript is written again")
		return nil
	}
	if err := h.resume(ctx, open); err != nil {
		return err
	}
	for h.done < h.until {
		if err := h.takeAll(ctx); err != nil {
			return err
		}
		if err := h.step(ctx); err != nil {
			return err
		}
	}
	if err := h.endTurn(ctx, event.Done); err != nil {
		return err
	}
	return h.say(ctx, event.Coordinates{Session: h.session}, event.Cause{}, event.SessionStopped{Reason: "the steps are done"})
}

// say makes durable that something happened, all of it or nothing. Nobody hears of
// it before.
func (h *harness) say(ctx context.Context, at event.Coordinates, why event.Cause, what ...event.Body) error {
	var recs []journal.JournalRecord
	for _, body := range what {
		recs = append(recs, journal.NewEventRecord(newEvent(at, why, body)))
	}
	_, err := h.journal.AppendBatch(ctx, recs...)
	return err
}

// note makes a private record durable, and shows it.
func (h *harness) note(ctx context.Context, what string, rec journal.JournalRecord) error {
	seq, err := h.journal.Append(ctx, rec)
	if err == nil {
		h.screen.record(seq, what, rec.IdempotencyID(), "")
	}
	return err
}

func newEvent(at event.Coordinates, why event.Cause, what event.Body) event.Event {
	return event.Event{
		Header: event.Header{ID: event.NewID(), At: at, Cause: why, CreatedAt: uint64(time.Now().UnixMilli())},
		Body:   what,
	}
}

// idOf is an id that every run makes again from the same id and words.
func idOf(of event.ID, words ...string) event.ID {
	sum := sha256.Sum256([]byte(fmt.Sprint(of, "\x00", strings.Join(words, "\x00"))))
	return event.IDFrom([16]byte(sum[:16]))
}
