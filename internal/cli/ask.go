package cli

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/comity-dev/comity/api"
)

// ask makes one call. With --json the reply is printed as it came, so that fields
// which this build does not know are not lost; the reply returned is clean for a
// terminal.
func ask[Rep any](ctx context.Context, a *app, op string, req any) (*Rep, error) {
	rep, raw, err := fetch[Rep](ctx, a, op, req)
	if err == nil && a.json {
		a.out.printf("%s\n", bytes.TrimRight(raw, "\n"))
	}
	return rep, err
}

// fetch makes one call and prints nothing.
func fetch[Rep any](ctx context.Context, a *app, op string, req any) (*Rep, json.RawMessage, error) {
	c, err := a.client()
	if err != nil {
		return nil, nil, err
	}
	var raw json.RawMessage
	if err := c.Do(ctx, op, req, &raw); err != nil {
		return nil, nil, err
	}
	rep := new(Rep)
	if err := json.Unmarshal(raw, rep); err != nil {
		return nil, nil, api.Errorf(api.CodeInternal, "the daemon's reply is not understood: %v", err).
			WithHint("comity version compares the two builds")
	}
	scrub(rep)
	return rep, raw, nil
}

// opened says that the call opened a session for this terminal.
func (a *app) opened(w api.Written) {
	if w.OpenedSession != "" && !a.json {
		a.note("opened session %s for this terminal", clean(w.OpenedSession))
	}
	if w.Durability == api.Failed {
		a.note("the write failed: whether it is on disk is not known")
	}
}
