package main

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/store"
)

// A screen shows what is durable, one line for each record: its sequence, what
// it is, its id.
type screen struct {
	mu sync.Mutex
	w  io.Writer
}

// NoteEvent is called by the journal for each event once it is durable.
func (s *screen) NoteEvent(_ context.Context, e event.Event, seq uint64) error {
	text := ""
	switch b := e.Body.(type) {
	case event.MessageAdded:
		text = string(b.Role) + ": " + first(b.Content)
	case event.TurnStarted:
		text = first(b.Input)
	case event.ToolCalled:
		text = b.Name
	case event.ToolFinished:
		text = string(b.Outcome)
	case event.GateResolved:
		text = string(b.Decision.Action)
	}
	s.record(seq, e.Body.Kind(), e.ID.String(), text)
	return nil
}

func first(content []event.Block) string {
	if len(content) == 0 {
		return ""
	}
	return fmt.Sprintf("%q", content[0].Text)
}

func (s *screen) record(seq uint64, what, id, text string) {
	s.print("%5d  %-22s  %s  %s", seq, what, id, text)
}

// answer tells the sender of a command what it came to.
func (s *screen) answer(id string, a store.Answer) {
	s.record(a.Sequence, "command_application", "command-application:"+id, "")
	if a.Disposition == 0 {
		s.print("command %s: it is not known what it came to", id)
		return
	}
	s.print("command %s: %s, record %d", id, a.Result, a.Disposition)
}

func (s *screen) print(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.w, format+"\n", args...)
}
