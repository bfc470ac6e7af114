package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/comity-dev/comity/api"
)

// Watch follows the changes of a repository until ctx ends or emit fails, and
// returns the reason; nil and the error of ctx both end the stream in silence.
// emit may be called from one goroutine at a time and blocks until the caller
// has taken the change, at most [WriteTimeout].
type Watch func(ctx context.Context, c Caller, req api.WatchRequest, emit func(api.Change) error) error

// stream answers with server-sent events. The status is only sent with the first
// event or comment, so that a refusal is an ordinary one.
func (s *server) stream(w http.ResponseWriter, r *http.Request, c Caller, body []byte) {
	var req api.WatchRequest
	if err := decode(body, &req); err != nil {
		s.fail(w, r, 0, err)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	ev := &events{w: w, rc: http.NewResponseController(w)}
	var alive sync.WaitGroup
	alive.Go(func() {
		if ev.keepAlive(ctx) != nil {
			cancel()
		}
	})
	err := s.follow(ctx, c, req, ev.change)
	cancel()
	alive.Wait()
	switch {
	case err == nil || r.Context().Err() != nil:
	case !ev.begun:
		s.fail(w, r, 0, err)
	default:
		_ = ev.failure(err) // the caller may be gone
	}
}

func (s *server) follow(ctx context.Context, c Caller, req api.WatchRequest, emit func(api.Change) error) (err error) {
	_, err = s.call(ctx, route{op: api.OpWatch, call: func(ctx context.Context, c Caller, _ []byte) (any, error) {
		return nil, s.watch(ctx, c, req, emit)
	}}, c, nil)
	return err
}

// events writes server-sent events, whole ones, from several goroutines.
type events struct {
	rc *http.ResponseController

	mu    sync.Mutex
	w     http.ResponseWriter
	begun bool
}

func (e *events) change(c api.Change) error { return e.send("", c) }

func (e *events) failure(err error) error {
	return e.send("event: error\n", api.Failure{Error: outgoing(err)})
}

func (e *events) send(head string, v any) error {
	b, err := encode(v)
	if err != nil {
		return fmt.Errorf("encode a change: %w", err)
	}
	return e.write(head + "data: " + string(b) + "\n\n")
}

// keepAlive comments a quiet stream until ctx ends; its error means that the
// caller is gone.
func (e *events) keepAlive(ctx context.Context) error {
	t := time.NewTicker(KeepAlive)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
			if err := e.write(": alive\n\n"); err != nil {
				return err
			}
		}
	}
}

func (e *events) write(s string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.begun {
		e.begun = true
		e.w.Header().Set("Content-Type", "text/event-stream")
	}
	_ = e.rc.SetWriteDeadline(time.Now().Add(WriteTimeout)) // not every writer has deadlines
	if _, err := e.w.Write([]byte(s)); err != nil {
		return err
	}
	return e.rc.Flush()
}
