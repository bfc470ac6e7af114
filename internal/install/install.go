// Package install edits the settings and hooks of other programs, so that they
// call comity, and takes those edits out again.
//
// It knows files and no hook logic. Every change goes plan, record, apply:
//
//   - a [Plan] is made by looking only, prints exactly what it would do, and is
//     refused when a file changed since;
//   - a [Record] in the state folder is durable before the first file changes. It
//     holds hashes and our own words, never what others wrote;
//   - files are replaced whole (a new file beside it, synced, renamed), all of
//     them or none.
//
// Taking out gives back the bytes of before when nobody else wrote the file
// since. When somebody did, only our own entries go: those whose command is,
// character for character, one that we install.
//
// # What is installed
//
// In settings of Claude Code, per event, a group of its own with one handler:
//
//	command -v comity >/dev/null 2>&1 || exit 0; exec comity hook claude EVENT
//
// In git 2.54 and newer, per hook, a configured hook hook.comity-HOOK with the
// same words. In an older git, a script in the hooks folder of the repository,
// which runs the hook that was there before first; that one is renamed to
// HOOK.comity-chained, so that it keeps its bytes, mode, and being a link.
//
// The words hold no version and no path, so that they stay the same over
// upgrades, and they end silently with 0 where there is no comity. They are for
// a POSIX shell: on Windows that is Git Bash, which Claude Code takes unless
// told otherwise and which git brings for its hooks.
package install

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/comity-dev/comity/internal/git"
	"github.com/comity-dev/comity/internal/vfs"
)

// Options says where everything is. Folders are absolute.
type Options struct {
	FS    vfs.FS       // nil: the operating system's
	Home  string       // the user's home
	State string       // records lie in <State>/install
	Repo  git.Checkout // zero for what is the user's alone

	// ClaudeDir is $CLAUDE_CONFIG_DIR; empty: <Home>/.claude.
	ClaudeDir string

	// Command is what the installed commands call; nil: comity. It is to stay the
	// same over upgrades. Each word is of letters, digits, and ._/-
	Command []string

	// GitVersion is what git version prints; empty: git is asked.
	GitVersion string
}

// Names of what can be installed.
const (
	ClaudeUser    = "claude-user"
	ClaudeProject = "claude-project"
	GitHooks      = "git"
)

var (
	// ErrChanged reports a file that is not as it was when the plan was made:
	// plan again.
	ErrChanged = errors.New("changed since the plan was made; plan again")

	// ErrReadOnly reports a file that its owner made read-only.
	ErrReadOnly = errors.New("is read-only; make it writable first (chmod u+w), or edit what it is made from")

	// ErrNotInstalled reports a name of which there is neither a record nor an
	// entry.
	ErrNotInstalled = errors.New("is not installed")
)

// A ManagedError reports hooks that another program or the repository itself
// looks after. They are left alone.
type ManagedError struct {
	Hooks string   // the folder
	Why   string   // whose it is
	Lines []string // what the user can add: "FILE: LINE"
}

func (e *ManagedError) Error() string {
	return fmt.Sprintf("hooks folder %s %s, so it is left alone; to have the guard, add as a last line yourself:\n  %s",
		e.Hooks, e.Why, strings.Join(e.Lines, "\n  "))
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9._/-]+$`)

// filled returns o with its defaults, or says what is wrong with it.
func (o Options) filled() (Options, error) {
	if o.FS == nil {
		o.FS = vfs.OS()
	}
	if !filepath.IsAbs(o.State) {
		return o, fmt.Errorf("install: state folder %q is not absolute", o.State)
	}
	if o.ClaudeDir == "" && o.Home != "" {
		o.ClaudeDir = filepath.Join(o.Home, ".claude")
	}
	if len(o.Command) == 0 {
		o.Command = []string{"comity"}
	}
	for _, w := range o.Command {
		if !plainWord.MatchString(w) {
			return o, fmt.Errorf("install: command word %q is not plain", w)
		}
	}
	return o, nil
}

// system says that o speaks of the real file system, where there are links.
func (o Options) system() bool { return o.FS == vfs.OS() }
