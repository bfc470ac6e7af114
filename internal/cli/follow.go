package cli

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/client"
)

// errEnough ends a watch from within.
var errEnough = errors.New("enough")

// changed waits until the log has something after cursor. It keeps no state: a
// reader who pages after every return sees each event once.
func changed(ctx context.Context, c *client.Client, w api.Where, cursor string) error {
	err := c.Watch(ctx, api.WatchRequest{Where: w, After: cursor}, func(api.Change) error { return errEnough })
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// unlessInterrupted is err, and nil when the person at the keyboard ended it.
func unlessInterrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// followLog goes on after page p until ctx ends. Events come from pages alone;
// the watch only says when to look.
func (a *app) followLog(ctx context.Context, req api.LogRequest, p *page) error {
	c, err := a.client()
	if err != nil {
		return err
	}
	for {
		if !p.More {
			if err := changed(ctx, c, req.Where, p.Next); err != nil {
				return unlessInterrupted(ctx, err)
			}
		}
		req.After, req.Last = p.Next, false
		if p, err = a.logPage(ctx, req); err != nil {
			return unlessInterrupted(ctx, err)
		}
	}
}

// redrawEvery is how often the ages on a screen are made anew.
const redrawEvery = 5 * time.Second

// followStatus shows the picture again after each change that shows in it, until
// ctx ends: in place on a terminal, else one block after the other.
func (a *app) followStatus(ctx context.Context) error {
	w, err := a.where()
	if err != nil {
		return err
	}
	c, err := a.client()
	if err != nil {
		return err
	}
	s := &screen{app: a}
	for {
		st, raw, err := fetch[api.Status](ctx, a, api.OpStatus, api.StatusRequest{Where: w})
		if err != nil {
			return unlessInterrupted(ctx, err)
		}
		if err := s.show(st, raw); err != nil {
			return err
		}
		if err := s.wait(ctx, func(ctx context.Context) error { return changed(ctx, c, w, st.Cursor) }); err != nil {
			return unlessInterrupted(ctx, err)
		}
	}
}

// A screen shows one status after another.
type screen struct {
	*app
	last  []byte // what was shown last, without ages
	st    *api.Status
	since time.Time
}

func (s *screen) show(st *api.Status, raw []byte) error {
	s.st, s.since = st, time.Now()
	if s.redo && !s.json {
		return s.redraw()
	}
	now := render(st, ages{hidden: true})
	if s.last != nil && bytes.Equal(now, s.last) {
		return nil
	}
	switch {
	case s.json:
		s.out.printf("%s\n", bytes.TrimRight(raw, "\n"))
	case s.last != nil:
		s.out.printf("\n%s\n", time.Now().Format("15:04:05"))
		fallthrough
	default:
		s.out.status(st, ages{})
	}
	s.last = now
	return s.out.flush()
}

// redraw writes the picture over the one before, its ages as old as they are now.
func (s *screen) redraw() error {
	s.out.printf("\x1b[H\x1b[2J\x1b[3J")
	s.out.status(s.st, ages{sinceMS: time.Since(s.since).Milliseconds()})
	s.out.printf("%s\n", s.out.paint(faint, "as of "+s.since.Format("15:04:05")+"; interrupt to leave"))
	return s.out.flush()
}

// wait runs changed, and keeps the ages on a terminal true meanwhile.
func (s *screen) wait(ctx context.Context, changed func(context.Context) error) error {
	if !s.redo || s.json {
		return changed(ctx)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- changed(ctx) }()
	t := time.NewTicker(redrawEvery)
	defer t.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-t.C:
			if err := s.redraw(); err != nil {
				cancel()
				<-done
				return err
			}
		}
	}
}
