package room

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/journal"
)

// Bounds of one page of the log.
const (
	DefaultPage = 100
	MaxPage     = 1000
)

// watchPage is the most events that one change of a watch carries: even of the
// largest, they stay below what a client takes at once.
const watchPage = 256

// Log is one page of the journal: every event once, in the order of arrival.
func (r *Room) Log(_ context.Context, a Actor, req api.LogRequest) (api.LogPage, error) {
	limit := req.Limit
	if limit == 0 {
		limit = DefaultPage
	}
	if limit < 1 || limit > MaxPage {
		return api.LogPage{}, api.Errorf(api.CodeUsage, "a page of %d events: want 1 to %d", limit, MaxPage)
	}
	page, err := r.page(req, limit)
	var cursor *journal.CursorError
	if errors.As(err, &cursor) {
		return api.LogPage{}, api.Errorf(api.CodeCursor, "%v", err).WithHint("start the walk again, without --after")
	}
	if err != nil {
		return api.LogPage{}, failure(err)
	}
	out := api.LogPage{Events: []api.LogEvent{}, Next: page.Next, More: page.More}
	r.view(func(v look) {
		r.heard(v, a)
		for _, e := range page.Arrivals {
			out.Events = append(out.Events, r.logEvent(e))
		}
	})
	return out, nil
}

func (r *Room) page(req api.LogRequest, limit int) (journal.Page, error) {
	if req.Last && req.After == "" {
		return r.journal.Tail(limit)
	}
	return r.journal.Page(req.After, limit)
}

func (r *Room) logEvent(a journal.Arrival) api.LogEvent {
	e := a.Event
	out := api.LogEvent{
		Cursor: a.Cursor, Event: e.Key().String(), Short: r.names.short(e.Key()), Kind: e.Body.Kind(),
		Lamport: e.Lamport, At: e.At, Again: a.Again, Text: sentence(e.Body), Body: bodyOf(e.Raw),
	}
	if id, ok := e.Session(); ok {
		out.Session = id.SID
	}
	return out
}

// bodyOf is the body as it is stored.
func bodyOf(raw []byte) any {
	var envelope struct {
		Body json.RawMessage `json:"body"`
	}
	if err := json.Unmarshal(raw, &envelope); err != nil {
		return nil // unreachable unless the journal kept an event that does not parse
	}
	return envelope.Body
}

// Watch tells of new events until ctx ends: from the cursor given, or from now.
// It wakes when the log grows; it never polls.
func (r *Room) Watch(ctx context.Context, a Actor, req api.WatchRequest, emit func(api.Change) error) error {
	at := req.After
	if at == "" {
		at = r.journal.End()
		if err := emit(api.Change{Cursor: at}); err != nil {
			return err
		}
	}
	for {
		page, err := r.Log(ctx, a, api.LogRequest{After: at, Limit: watchPage})
		if err != nil {
			return err
		}
		at = page.Next
		if len(page.Events) > 0 {
			if err := emit(api.Change{Cursor: at, Events: page.Events}); err != nil {
				return err
			}
			continue
		}
		select {
		case <-r.journal.Grown(at):
		case <-ctx.Done():
			return nil
		}
	}
}
