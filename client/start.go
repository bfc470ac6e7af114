package client

import (
	"context"
	"encoding/json"
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
	if err := c.lift(c.opts.Person); err != nil {
		return err
	}
	exe, err := c.exe()
	if err != nil {
		return err
	}
	return HomeError(home.Start(ctx, c.home, exe, serve()))
}

func serve() []string { return []string{"serve", "--background"} }

func (c *Client) exe() (string, error) {
	if c.opts.Exe != "" {
		return c.opts.Exe, nil
	}
	exe, err := os.Executable()
	if err != nil {
		return "", api.Errorf(api.CodeUnreachable, "no daemon runs and this program does not know where it is: %v", err).
			WithHint("comity serve runs the daemon in the foreground")
	}
	return exe, nil
}

// lift takes back the hold of `comity stop` for a person, and is refused for
// anybody else.
func (c *Client) lift(person bool) error {
	held, err := c.home.Held()
	if err != nil {
		return api.Errorf(api.CodeUnreachable, "whether the daemon may be started is not known: %v", err)
	}
	if !held {
		return nil
	}
	if !person {
		return api.Errorf(api.CodeHeld, "the daemon was stopped by a person and waits for that person's next command").
			WithHint("a person's comity status starts it again")
	}
	return HomeError(c.home.SetHeld(false))
}

// replace asks an older daemon to go and starts ours. Nobody else starts one in
// between.
func (c *Client) replace(ctx context.Context, refusal error) error {
	exe, err := c.exe()
	if err != nil {
		return err
	}
	yielded := false
	err = home.Replace(ctx, c.home, exe, serve(), func(ctx context.Context) error {
		if yielded = c.young(ctx); yielded {
			return errReplaced
		}
		stop := []byte(`{"handover":true}`)
		if _, err := c.post(ctx, api.OpStop, stop); err != nil && !errors.As(err, new(*dialError)) && !errors.Is(err, api.ErrStopping) {
			return fmt.Errorf("asked to stop, it says: %w", err)
		}
		err := c.gone(ctx)
		yielded = err == nil
		return err
	})
	switch {
	case errors.Is(err, errReplaced):
		return nil
	case err != nil && !yielded:
		return c.unyielding(refusal, err)
	}
	return HomeError(err)
}

var errReplaced = errors.New("another client has replaced it")

// young reports whether the daemon that answers now is as new as ours.
func (c *Client) young(ctx context.Context) bool {
	var v api.VersionReply
	b, err := c.post(ctx, api.OpVersion, []byte("{}"))
	return err == nil && json.Unmarshal(b, &v) == nil && v.Build >= c.opts.Build
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

// restart waits for the end of a daemon that stops under a call, and makes the
// next one ready. A call that was made before a person stopped the daemon does
// not start it again.
func (c *Client) restart(ctx context.Context, err error) error {
	leaving := 0
	if e := new(stoppingError); errors.As(err, &e) {
		leaving = e.pid
	}
	patient, cancel := context.WithTimeout(ctx, handoverPatience)
	defer cancel()
	last, err := c.await(patient, func(info home.Info, running bool) bool {
		return !running || info.PID != leaving && c.serves(patient)
	})
	if err != nil {
		return api.Errorf(api.CodeStopping, "%v", err).WithHint("comity doctor looks at it")
	}
	if last.running {
		return nil
	}
	if err := c.lift(false); err != nil {
		return err
	}
	return c.start(ctx)
}

// serves reports whether a daemon answers.
func (c *Client) serves(ctx context.Context) bool {
	_, err := c.post(ctx, api.OpVersion, []byte("{}"))
	return err == nil
}

// gone waits until the daemon that holds the lock now does so no more.
func (c *Client) gone(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, handoverPatience)
	defer cancel()
	first := 0
	_, err := c.await(ctx, func(info home.Info, running bool) bool {
		if first == 0 {
			first = info.PID
		}
		return !running || info.PID != first && info.PID != 0
	})
	return err
}

// A holder is who holds the lock.
type holder struct {
	home.Info
	running bool
}

// await looks at the lock until done says that it is as it should be.
func (c *Client) await(ctx context.Context, done func(info home.Info, running bool) bool) (holder, error) {
	t := time.NewTicker(lockPoll)
	defer t.Stop()
	for {
		info, running, err := c.home.Running()
		if err != nil || done(info, running) {
			return holder{info, running}, err
		}
		select {
		case <-ctx.Done():
			return holder{}, fmt.Errorf("daemon pid %d has not ended within %v", info.PID, handoverPatience)
		case <-t.C:
		}
	}
}
