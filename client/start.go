package client

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/internal/home"
)

const (
	// handoverPatience is how long an older daemon has to finish and go.
	handoverPatience = 10 * time.Second

	// lockPoll is the pause between two looks at the lock of a daemon that goes.
	lockPoll = 10 * time.Millisecond
)

// start makes sure that a daemon serves, unless a person stopped it and nobody
// took that back.
func (c *Client) start(ctx context.Context) error {
	if err := c.lift(); err != nil {
		return err
	}
	exe := c.opts.Exe
	if exe == "" {
		var err error
		if exe, err = os.Executable(); err != nil {
			return api.Errorf(api.CodeUnreachable, "no daemon runs and this program does not know where it is: %v", err).
				WithHint("comity serve runs the daemon in the foreground")
		}
	}
	return HomeError(home.Start(ctx, c.home, exe, []string{"serve", "--background"}))
}

// lift takes back the hold of `comity stop` for a person, and is refused for
// anybody else.
func (c *Client) lift() error {
	held, err := c.home.Held()
	if err != nil {
		return api.Errorf(api.CodeUnreachable, "whether the daemon may be started is not known: %v", err)
	}
	if !held {
		return nil
	}
	if !c.opts.Person {
		return api.Errorf(api.CodeHeld, "the daemon was stopped by a person and waits for that person's next command").
			WithHint("a person's comity status starts it again")
	}
	return HomeError(c.home.SetHeld(false))
}

// replace asks an older daemon to go and starts ours.
func (c *Client) replace(ctx context.Context, refusal error) error {
	stop := []byte(`{"handover":true}`)
	if _, err := c.post(ctx, api.OpStop, stop); err != nil && !errors.As(err, new(*dialError)) {
		return c.unyielding(refusal, fmt.Errorf("asked to stop, it says: %w", err))
	}
	if err := c.gone(ctx); err != nil {
		return c.unyielding(refusal, err)
	}
	return c.start(ctx)
}

func (c *Client) unyielding(refusal, why error) error {
	var e *api.Error
	pid, build := any("unknown"), any("unknown")
	if errors.As(refusal, &e) {
		pid, build = e.Detail["pid"], e.Detail["build"]
	}
	out := api.Errorf(api.CodeOlderDaemon, "daemon pid %v is build %v and does not yield to build %s: %v", pid, build, c.opts.Build, why).
		WithHint("comity stop ends it; --no-start uses it as it is")
	out.Detail = map[string]any{"pid": pid, "build": build, "own_build": c.opts.Build}
	return out
}

// restart waits for a daemon that is stopping and starts the next one.
func (c *Client) restart(ctx context.Context) error {
	if err := c.gone(ctx); err != nil {
		return api.Errorf(api.CodeStopping, "%v", err).WithHint("comity doctor names its pid")
	}
	return c.start(ctx)
}

// gone waits until no daemon holds the lock.
func (c *Client) gone(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, handoverPatience)
	defer cancel()
	t := time.NewTicker(lockPoll)
	defer t.Stop()
	for {
		info, running, err := c.home.Running()
		if err != nil {
			return err
		}
		if !running {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("daemon pid %d has not ended within %v", info.PID, handoverPatience)
		case <-t.C:
		}
	}
}
