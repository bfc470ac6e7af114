package node

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/room"
	"github.com/comity-dev/comity/internal/httpapi"
	"github.com/comity-dev/comity/internal/proc"
)

// hook is an agent's hook. Unlike other callers, a hook is known to be started by
// an agent, so the nearest ancestor that is no shell is that agent. What is above
// its terminal's first process has other terminals too and is not asked: the
// server of a multiplexer, an editor, the desktop. An agent of which only shells
// are seen is that first process.
func (n *node) hook(m *room.Room, ctx context.Context, a room.Actor, req api.HookRequest) (api.HookReply, error) {
	for _, p := range a.Ancestors {
		name, err := proc.Name(p.PID)
		if first := a.Terminal != nil && *a.Terminal == p; first || err == nil && !between[base(name)] {
			a.Agent = &p
			break
		}
	}
	atHome(&req)
	return m.Hook(ctx, a, req)
}

// atHome replaces the ~ of paths in the user's home.
func atHome(req *api.HookRequest) {
	home, err := os.UserHomeDir()
	if err != nil {
		return // such a path is then taken for one in the folder ~
	}
	expand := func(p *string) {
		if *p == "~" || strings.HasPrefix(*p, "~/") {
			*p = home + (*p)[1:]
		}
	}
	for i := range req.Writes {
		expand(&req.Writes[i])
	}
	for i := range req.Into {
		expand(&req.Into[i].Target)
	}
	for i := range req.Under {
		expand(&req.Under[i])
	}
	expand(&req.TreeDir)
}

// between are the programs that stand between an agent and its hook.
var between = map[string]bool{
	"comity": true, "sh": true, "bash": true, "dash": true, "zsh": true, "ksh": true, "fish": true, "busybox": true,
	"env": true, "timeout": true, "nice": true, "setsid": true, "cmd": true, "powershell": true, "pwsh": true,
}

func base(name string) string {
	return strings.TrimSuffix(strings.TrimPrefix(filepath.Base(name), "-"), ".exe")
}

// ancestors are the processes above a caller, nearest first; none where that
// cannot be told.
func ancestors(c httpapi.Caller) []room.Process {
	all, err := proc.Ancestors(c.PID)
	if err != nil {
		return nil
	}
	out := make([]room.Process, 0, len(all))
	for _, p := range all {
		out = append(out, process(p))
	}
	return out
}

// elsewhere tells whether a word lies in another checkout of the repository than
// the one that the caller stands in.
func (n *node) elsewhere(ctx context.Context, at *place, dir string) func(string) (ident.CheckoutID, string, bool) {
	return func(word string) (ident.CheckoutID, string, bool) {
		if !filepath.IsAbs(word) && !strings.Contains(word, "..") {
			return "", "", false
		}
		abs := word
		if !filepath.IsAbs(abs) {
			abs = filepath.Join(dir, word)
		}
		near := existing(abs)
		if inside(near, at.git.Top) {
			return "", "", false
		}
		other, err := n.find(ctx, near)
		if err != nil || other.repo != at.repo || other.checkout == at.checkout {
			return "", "", false
		}
		return other.checkout, other.git.Top, true
	}
}

// inside tells that a folder lies in a checkout, and in no other one below that,
// without asking git: an agent's paths are absolute, and nearly all are here.
func inside(dir, top string) bool {
	at, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	for at != top {
		if _, err := os.Lstat(filepath.Join(at, ".git")); !errors.Is(err, fs.ErrNotExist) {
			return false
		}
		up := filepath.Dir(at)
		if up == at {
			return false
		}
		at = up
	}
	return true
}

// existing is the nearest folder at or above a path: a file may be about to be
// written into folders that do not exist yet.
func existing(dir string) string {
	for {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return dir
		}
		dir = up
	}
}
