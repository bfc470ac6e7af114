package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/client"
	"github.com/comity-dev/comity/internal/home"
	"github.com/comity-dev/comity/internal/hooks"
	"github.com/comity-dev/comity/internal/node"
	"github.com/comity-dev/comity/internal/vfs"
	"github.com/spf13/cobra"
)

func (a *app) doctorCommand() *cobra.Command {
	var probe string
	c := a.command(&cobra.Command{
		Use:   "doctor [--probe CLIENT]",
		Short: "Look for what is wrong: state folder, daemon, git, journals",
		Long: `Look for what is wrong with the state folder, the daemon, git, this repository
and its journal, and say for each what it means and what to do. Doctor only
reads: it changes nothing and starts no daemon. Where none runs it reads the
journals from disk itself. The exit code is 12 when a check fails.

--probe claude tells instead how far the hooks of Claude Code protect here: what
is installed, what was seen of it, what is stopped and what is not.`,
		Args: cobra.NoArgs,
	}, func(cmd *cobra.Command, _ []string) error {
		w, err := a.where()
		if err != nil {
			return err
		}
		checks, err := a.checks(cmd.Context(), w, probe)
		if err != nil {
			return err
		}
		rep := api.NewReport(checks)
		if a.json {
			a.printJSON(rep)
		} else {
			scrub(&rep)
			a.out.report(&rep)
		}
		return outcome(&rep)
	})
	c.Flags().StringVar(&probe, "probe", "", "tell how far the hooks of `CLIENT` protect")
	return c
}

func (a *app) checks(ctx context.Context, w api.Where, probe string) ([]api.Check, error) {
	switch probe {
	case "":
		return a.examine(ctx, w), nil
	case hooks.Claude:
		return a.probeClaude(ctx, w), nil
	}
	return nil, usage("--probe %s: there are no hooks for that client", probe).WithHint("there are for claude")
}

// examine makes all checks: first those that need no daemon, then the daemon's,
// or in its absence those of the disk.
func (a *app) examine(ctx context.Context, w api.Where) []api.Check {
	c, err := a.connect(true)
	if err != nil {
		return []api.Check{fails("home", err.Error(), "no command of comity works", hintOf(err))}
	}
	h := c.Home()
	checks := []api.Check{checkHome(h), checkFileSystem(h, a.getenv), checkKey(h), checkHold(h)}
	checks = append(checks, checkGit(ctx, w.Dir)...)
	daemon, answers := checkDaemon(ctx, c)
	checks = append(checks, daemon...)
	if !answers {
		return append(checks, checkDisk(h)...)
	}
	rep, err := askDoctor(ctx, c, w)
	if err != nil {
		return append(checks, fails("daemon", "its own checks could not be had: "+err.Error(), "what only it can see is not known", hintOf(err)))
	}
	return append(checks, rep.Checks...)
}

func askDoctor(ctx context.Context, c *client.Client, w api.Where) (rep api.Report, err error) {
	var raw json.RawMessage
	if err = c.Do(ctx, api.OpDoctor, api.DoctorRequest{Where: w}, &raw); err == nil {
		err = json.Unmarshal(raw, &rep)
	}
	return rep, err
}

func well(name, format string, args ...any) api.Check {
	return api.Check{Name: name, State: api.CheckOK, Detail: fmt.Sprintf(format, args...)}
}

func warns(name, detail, impact, remedy string) api.Check {
	return api.Check{Name: name, State: api.CheckWarn, Detail: detail, Impact: impact, Remedy: remedy}
}

func fails(name, detail, impact, remedy string) api.Check {
	return api.Check{Name: name, State: api.CheckFail, Detail: detail, Impact: impact, Remedy: remedy}
}

// hintOf is the next step that an error names.
func hintOf(err error) string {
	var e *api.Error
	if errors.As(err, &e) {
		return e.Hint
	}
	return ""
}

func checkHome(h home.Home) api.Check {
	const name = "home"
	info, err := os.Stat(h.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return well(name, "%s is not there yet; the first command makes it", h.Dir)
	case err != nil:
		return fails(name, "could not be read: "+err.Error(), "no daemon can start", "make "+h.Dir+" accessible to you, or set COMITY_HOME")
	case !info.IsDir():
		return fails(name, h.Dir+" is not a folder", "no daemon can start", "set COMITY_HOME to another folder")
	case exposed(info.Mode()):
		return fails(name, fmt.Sprintf("%s is open to others: %v", h.Dir, info.Mode().Perm()), "others on this machine could read or use the node key", "chmod 700 "+h.Dir)
	case !writable(h.Dir):
		return fails(name, h.Dir+" cannot be written", "nothing can be claimed or recorded", "make it writable for you, or set COMITY_HOME")
	}
	return well(name, "%s, only yours", h.Dir)
}

func checkFileSystem(h home.Home, getenv func(string) string) api.Check {
	const name = "file system"
	kind, remote, err := vfs.Network(h.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return well(name, "not known until the state folder is there")
	case err != nil:
		return warns(name, "could not be told: "+err.Error(), "on a network file system locks and syncs may not hold", "keep the state folder on a local disk")
	case remote && getenv("COMITY_ALLOW_NETWORK_HOME") == "1":
		return warns(name, "the state folder is on "+kind+", which was allowed", "locks and syncs may not hold there", "set COMITY_HOME to a folder on a local disk")
	case remote:
		return fails(name, "the state folder is on "+kind, "the daemon does not start: locks and syncs may not hold there", "set COMITY_HOME to a folder on a local disk")
	}
	return well(name, "local")
}

func checkKey(h home.Home) api.Check {
	const name = "key"
	path := h.NodeKey()
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return well(name, "none yet; the first daemon makes it")
	case err != nil:
		return fails(name, "could not be read: "+err.Error(), "the daemon cannot sign", "make "+path+" readable for you")
	case !info.Mode().IsRegular() || info.Size() == 0:
		return fails(name, path+" is not a key", "the daemon does not start, and never replaces a key by itself", "put the key back from a copy of this folder")
	case exposed(info.Mode()):
		return fails(name, fmt.Sprintf("%s is open to others: %v", path, info.Mode().Perm()), "others on this machine could sign as you", "chmod 600 "+path)
	}
	if err := node.CheckKey(h); err != nil {
		return fails(name, err.Error(), "the daemon does not start, and never replaces a key by itself", hintOf(err))
	}
	return well(name, "%s, only yours", path)
}

func checkHold(h home.Home) api.Check {
	const name = "hold"
	held, err := h.Held()
	switch {
	case err != nil:
		return warns(name, "could not be read: "+err.Error(), "whether hooks may start the daemon is not known", "")
	case held:
		return warns(name, "comity stop holds: hooks do not start the daemon", "agents work unguarded", "any other command of yours starts it again, such as comity status")
	}
	return well(name, "none")
}
