package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"runtime"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/client"
	"github.com/comity-dev/comity/internal/home"
	"github.com/comity-dev/comity/internal/node"
	"github.com/comity-dev/comity/internal/vfs"
	"github.com/spf13/cobra"
)

func (a *app) serveCommand() *cobra.Command {
	var idle time.Duration
	var background bool
	c := a.command(&cobra.Command{
		Use:   "serve",
		Short: "Run the daemon in the foreground",
		Long: `Run the daemon of this user in the foreground until it is interrupted. There is
no need to: the first command that needs the daemon starts it.`,
		Args: cobra.NoArgs,
	}, func(cmd *cobra.Command, _ []string) error {
		h, err := a.place()
		if err != nil {
			return err
		}
		o := node.Options{Home: h, Build: build(), Idle: idle}
		if background {
			return a.background(cmd.Context(), o)
		}
		if err := h.SetHeld(false); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return client.HomeError(err)
		}
		if idle == 0 {
			o.Idle = -1 // for ever
		}
		o.Log = slog.New(slog.NewTextHandler(a.errs, nil))
		o.Ready = func() { o.Log.Info("the daemon serves", "socket", h.Socket, "build", o.Build) }
		return client.HomeError(a.serve(cmd.Context(), o))
	})
	c.Flags().DurationVar(&idle, "idle", 0, "stop after `D` without sessions (default: never)")
	c.Flags().BoolVar(&background, "background", false, "run for whoever started it")
	_ = c.Flags().MarkHidden("background") // fails only for a flag that is not there
	return c
}

// background is the daemon that a client started. When it does not serve, that
// client gets the reason with its code.
func (a *app) background(ctx context.Context, o node.Options) error {
	err := a.serveBackground(ctx, o)
	if e := api.AsError(err); e != nil {
		if b, err := json.Marshal(api.Failure{Error: e}); err == nil {
			home.Unready(string(b))
		}
	}
	return err
}

// serveBackground serves with a log that has a bound.
func (a *app) serveBackground(ctx context.Context, o node.Options) error {
	if err := o.Home.Prepare(vfs.OS()); err != nil {
		return client.HomeError(err)
	}
	log, err := o.Home.OpenLog()
	if err != nil && !vfs.IsNoSpace(err) {
		return client.HomeError(err)
	}
	if err == nil {
		defer log.Close()
		o.Log = slog.New(slog.NewTextHandler(log, nil))
	}
	o.Ready = home.Ready
	return client.HomeError(a.serve(ctx, o))
}

// place is the state folder of this environment.
func (a *app) place() (home.Home, error) {
	c, err := a.connect(true)
	if err != nil {
		return home.Home{}, err
	}
	return c.Home(), nil
}

// Write lets the daemon log to standard error, each line at once.
func (p *printer) Write(b []byte) (int, error) {
	n, err := p.w.Write(b)
	if err == nil {
		err = p.w.Flush()
	}
	return n, err
}

func (a *app) stopCommand() *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "stop",
		Short: "Stop the daemon, until your next command",
		Long: `Stop the daemon once its open requests are answered. Hooks do not start it again
until your next command does. Claims and sessions are on disk and go on with it.`,
		Args: cobra.NoArgs,
	}, func(cmd *cobra.Command, _ []string) error {
		c, err := a.connect(true)
		if err != nil {
			return err
		}
		return a.stop(cmd.Context(), c)
	})
}

// stopPatience is how long a daemon has to end after it was asked to.
const stopPatience = 15 * time.Second

func (a *app) stop(ctx context.Context, c *client.Client) error {
	h := c.Home()
	info, running, err := h.Running()
	if err != nil {
		return err
	}
	if running {
		if _, err := c.Stop(ctx, api.StopRequest{Hold: true}); err != nil && !errors.Is(err, api.ErrStopping) {
			return err
		}
		if err := a.ended(ctx, h, info.PID); err != nil {
			return err
		}
	}
	if err := hold(h); err != nil {
		return err
	}
	switch {
	case a.json:
		a.printJSON(map[string]any{"stopped": running, "pid": info.PID, "hold": true})
	case running:
		a.out.printf("stopped the daemon, pid %d; hooks will not start it until your next command\n", info.PID)
	default:
		a.out.printf("no daemon ran; hooks will not start one until your next command\n")
	}
	return nil
}

// hold makes the stop last. Where comity was never used there is nothing to hold.
func hold(h home.Home) error {
	if err := h.SetHeld(true); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return client.HomeError(err)
	}
	return nil
}

func (a *app) ended(ctx context.Context, h home.Home, pid int) error {
	ctx, cancel := context.WithTimeout(ctx, stopPatience)
	defer cancel()
	t := time.NewTicker(10 * time.Millisecond)
	defer t.Stop()
	for {
		info, running, err := h.Running()
		if err != nil {
			return err
		}
		if !running || info.PID != 0 && info.PID != pid { // 0: about to give up the lock
			return nil
		}
		select {
		case <-ctx.Done():
			return api.Errorf(api.CodeUnreachable, "daemon pid %d was asked to stop and has not ended within %v", pid, stopPatience).
				WithHint("it may be waiting for the disk; comity doctor looks at it")
		case <-t.C:
		}
	}
}

// A release is what `comity version` tells.
type release struct {
	Version string      `json:"version"`
	Build   string      `json:"build"`
	API     int         `json:"api"`
	Go      string      `json:"go"`
	Daemon  *api.Daemon `json:"daemon,omitempty"`
}

func (a *app) versionCommand() *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "version",
		Short: "Show the version of this program, and of the daemon if one runs",
		Args:  cobra.NoArgs,
	}, func(cmd *cobra.Command, _ []string) error {
		r := release{Version: version(), Build: build(), API: api.Version, Go: runtime.Version()}
		if c, err := a.connect(true); err == nil {
			if v, err := c.Version(cmd.Context(), api.Empty{}); err == nil {
				r.Daemon = &v.Daemon
			}
		}
		if a.json {
			a.printJSON(r)
			return nil
		}
		scrub(&r)
		a.out.printf("comity %s\n", r.Version)
		a.out.fact("build", r.Build)
		a.out.fact("api", fmt.Sprint(r.API))
		a.out.fact("go", r.Go)
		if d := r.Daemon; d != nil {
			a.out.fact("daemon", fmt.Sprintf("pid %d, build %s, up %s", d.PID, d.Build, span(d.UpMS)))
		}
		return nil
	})
}
