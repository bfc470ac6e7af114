package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/client"
	"github.com/comity-dev/comity/internal/git"
	"github.com/comity-dev/comity/internal/install"
	"github.com/comity-dev/comity/internal/vfs"
	"github.com/spf13/cobra"
)

// An installation is what install or uninstall did, or with --print would do.
type installation struct {
	Names   []string `json:"names"`
	Print   bool     `json:"print,omitempty"`
	Plan    string   `json:"plan,omitempty"`
	Changed []string `json:"changed"` // files and folders that were made, edited, renamed or removed
	Notes   []string `json:"notes,omitempty"`
	Undo    string   `json:"undo,omitempty"`  // the command that takes it out
	State   string   `json:"state,omitempty"` // where comity keeps what is its own
}

func (a *app) installCommand() *cobra.Command {
	return group("install", "Put comity's hooks into an agent's settings or into git", a.installClaudeCommand(), a.installGitCommand())
}

func (a *app) installClaudeCommand() *cobra.Command {
	var scope string
	var print bool
	c := a.command(&cobra.Command{
		Use:   "claude [--scope user|project] [--print]",
		Short: "Put the hooks into the settings of Claude Code",
		Long: `Put the hooks into the settings of Claude Code: into your own, for all your work,
or with --scope project into the .claude/settings.json of this worktree, for all
who have the repository. What else is in the file stays as it is, to the byte.
--print shows what would be changed and changes nothing.`,
		Args: cobra.NoArgs,
	}, func(cmd *cobra.Command, _ []string) error {
		if scope != "user" && scope != "project" {
			return usage("--scope %s is neither user nor project", scope)
		}
		o, err := a.installOptions(cmd.Context(), scope == "project")
		if err != nil {
			return err
		}
		plan, err := install.Claude(cmd.Context(), o, scope)
		if err != nil {
			return uninstallable(err)
		}
		return a.putIn(cmd.Context(), "claude-"+scope, plan, print)
	})
	c.Flags().StringVar(&scope, "scope", "user", "whose settings, `user|project`")
	c.Flags().BoolVar(&print, "print", false, "show what would be changed, and change nothing")
	return c
}

func (a *app) installGitCommand() *cobra.Command {
	var trailers, print bool
	c := a.command(&cobra.Command{
		Use:   "git [--trailer] [--print]",
		Short: "Put the guard into the git hooks of this repository",
		Long: `Put the guard into the hooks pre-commit and pre-push of this repository, for all
of its worktrees. Hooks that are there run as before. With --trailer each commit
says in a trailer under which claim it was made, and comity log --commits finds
those whose claim had been lost. --print shows what would be changed and changes
nothing.`,
		Args: cobra.NoArgs,
	}, func(cmd *cobra.Command, _ []string) error {
		o, err := a.installOptions(cmd.Context(), true)
		if err != nil {
			return err
		}
		plan, err := install.Git(cmd.Context(), o, trailers)
		var managed *install.ManagedError
		if errors.As(err, &managed) {
			return a.leave(managed)
		}
		if err != nil {
			return uninstallable(err)
		}
		return a.putIn(cmd.Context(), install.GitHooks, plan, print)
	})
	c.Flags().BoolVar(&trailers, "trailer", false, "add claim and epoch to each commit")
	c.Flags().BoolVar(&print, "print", false, "show what would be changed, and change nothing")
	return c
}

// installOptions says where everything is. Without repository none is needed, but
// one that is there is used.
func (a *app) installOptions(ctx context.Context, repository bool) (install.Options, error) {
	h, err := a.place()
	if err != nil {
		return install.Options{}, err
	}
	o := install.Options{Home: a.userHome(), State: h.Dir, ClaudeDir: a.getenv("CLAUDE_CONFIG_DIR")}
	w, err := a.where()
	if err != nil {
		return o, err
	}
	o.Repo, err = git.Find(ctx, w.Dir)
	switch {
	case err == nil, !repository:
		return o, nil
	case errors.Is(err, git.ErrNoRepository):
		return o, api.Errorf(api.CodeNoRepository, "%s is in no git repository", w.Dir).WithHint("go to one, or name one with --repo")
	}
	return o, api.Errorf(api.CodeNoRepository, "the repository cannot be read: %v", err).WithHint("comity doctor looks for the reason")
}

func (a *app) userHome() string {
	if runtime.GOOS == "windows" {
		return a.getenv("USERPROFILE")
	}
	return a.getenv("HOME")
}

// putIn applies a plan, or prints it.
func (a *app) putIn(ctx context.Context, name string, plan *install.Plan, print bool) error {
	done := installation{Names: []string{name}, Undo: "comity uninstall " + name}
	if print {
		return a.printPlan(done, plan)
	}
	if err := a.apply(ctx, plan, &done); err != nil {
		return err
	}
	if a.json {
		a.printJSON(done)
		return nil
	}
	a.showChanges(done, "installed "+name, name+" is installed already; nothing was changed")
	if _, err := exec.LookPath("comity"); err != nil {
		a.note("comity is not on PATH: until it is, what was installed does nothing")
	}
	a.note("%s takes it out", done.Undo)
	return nil
}

func (a *app) printPlan(done installation, plan *install.Plan) error {
	var text strings.Builder
	plan.Print(&text)
	if a.json {
		done.Print, done.Plan, done.Changed, done.Notes = true, text.String(), []string{}, plan.Notes()
		a.printJSON(done)
		return nil
	}
	a.out.body(clean(text.String()))
	a.note("nothing was changed: this is what would be, without --print")
	return nil
}

// apply makes the changes of a plan. The state folder is there before: it keeps
// the record.
func (a *app) apply(ctx context.Context, plan *install.Plan, done *installation) error {
	h, err := a.place()
	if err != nil {
		return err
	}
	if !plan.Empty() {
		if err := h.Prepare(vfs.OS()); err != nil {
			return client.HomeError(err)
		}
	}
	applied, err := plan.Apply(ctx)
	if err != nil {
		return uninstallable(err)
	}
	done.Changed, done.Notes = append([]string{}, applied.Changed...), applied.Notes
	return nil
}

func (a *app) showChanges(done installation, changed, unchanged string) {
	if len(done.Changed) == 0 {
		a.out.printf("%s\n", unchanged)
	} else {
		a.out.printf("%s\n", changed)
	}
	for _, path := range done.Changed {
		a.out.row(2, flex(path))
	}
	for _, n := range done.Notes {
		a.note("%s", n)
	}
}

// leave shows what the user can add to hooks that are not ours to edit. The lines
// are whole, however wide: they are to be copied.
func (a *app) leave(e *install.ManagedError) error {
	if !a.json {
		for _, line := range e.Lines {
			file, add, _ := strings.Cut(line, ": ")
			a.out.printf("%s\n\t%s\n", clean(file), clean(add))
		}
	}
	out := api.Errorf(api.CodeNotOwn, "hooks folder %s %s, so it is left alone", e.Hooks, e.Why).
		WithHint("to have the guard, add to each file named the line below its name, as its last one")
	out.Detail = map[string]any{"hooks": e.Hooks, "lines": e.Lines}
	return out
}

// uninstallable gives what keeps files from being edited a next step.
func uninstallable(err error) error {
	var syntax *install.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return api.Errorf(api.CodeInternal, "%v", err).WithHint("correct it, then try again")
	case errors.Is(err, install.ErrChanged), errors.Is(err, vfs.ErrLocked):
		return api.Errorf(api.CodeInternal, "%v", err).WithHint("something else writes there now: try again")
	case errors.Is(err, os.ErrPermission):
		return api.Errorf(api.CodeInternal, "%v", err).WithHint("nothing was changed: make it writable for you, then try again")
	}
	return err
}

func (a *app) uninstallCommand() *cobra.Command {
	var all, print bool
	c := a.command(&cobra.Command{
		Use:   "uninstall NAME...|--all [--print]",
		Short: "Take the hooks out again, and leave all else as it was",
		Long: `Take the hooks out again: claude (yours and those of this worktree), claude-user,
claude-project, git (of this repository), or with --all whatever was installed,
wherever it is. What was there before is there again, to the byte; what others
wrote since stays. --print shows what would be changed and changes nothing.`,
		ValidArgs: []string{"claude", install.ClaudeUser, install.ClaudeProject, install.GitHooks},
	}, func(cmd *cobra.Command, args []string) error {
		if all == (len(args) > 0) {
			return usage("name what to take out (claude, git), or --all")
		}
		o, err := a.installOptions(cmd.Context(), false)
		if err != nil {
			return err
		}
		if all {
			return a.takeOutAll(cmd.Context(), o, print)
		}
		return a.takeOut(cmd.Context(), o, args, print)
	})
	c.Flags().BoolVar(&all, "all", false, "all that was installed, in every repository")
	c.Flags().BoolVar(&print, "print", false, "show what would be changed, and change nothing")
	return c
}

func (a *app) takeOut(ctx context.Context, o install.Options, args []string, print bool) error {
	names, missing, err := installed(ctx, o, args)
	if err != nil {
		return err
	}
	for _, name := range missing {
		a.note("%s is not installed here", name)
	}
	done := installation{Names: append([]string{}, names...), Changed: []string{}}
	if len(names) == 0 {
		if a.json {
			a.printJSON(done)
		}
		return found(exitNotFound)
	}
	plan, err := install.Uninstall(ctx, o, names...)
	if err != nil {
		return uninstallable(err)
	}
	return a.taken(ctx, done, plan, print)
}

// exitNotFound is the exit code for what is not there.
const exitNotFound = 11

// installed are the names that args mean and that are installed. "claude" means
// each of its scopes.
func installed(ctx context.Context, o install.Options, args []string) (names, missing []string, err error) {
	for _, arg := range args {
		mean := []string{arg}
		switch arg {
		case "claude":
			mean = []string{install.ClaudeUser}
			if o.Repo.Top != "" {
				mean = append(mean, install.ClaudeProject)
			}
		case install.ClaudeUser, install.ClaudeProject, install.GitHooks:
		default:
			return nil, nil, usage("uninstall %s: comity installs nothing of that name", arg).
				WithHint("it is one of claude, claude-user, claude-project, git")
		}
		before := len(names)
		for _, name := range mean {
			if name != install.ClaudeUser && o.Repo.CommonDir == "" {
				continue
			}
			switch _, err := install.Uninstall(ctx, o, name); {
			case err == nil:
				names = append(names, name)
			case !errors.Is(err, install.ErrNotInstalled):
				return nil, nil, uninstallable(err)
			}
		}
		if len(names) == before {
			missing = append(missing, arg)
		}
	}
	return names, missing, nil
}

// takeOutAll takes out what it can, and then says what it could not.
func (a *app) takeOutAll(ctx context.Context, o install.Options, print bool) error {
	records, _ := install.Installed(ctx, o) // what cannot be read is said below
	done := installation{Names: []string{}, State: o.State}
	for _, r := range records {
		done.Names = append(done.Names, r.Name)
	}
	slices.Sort(done.Names)
	done.Names = slices.Compact(done.Names) // git is there once for each repository
	plan, left := install.UninstallAll(ctx, o)
	if plan == nil {
		return uninstallable(left)
	}
	if err := a.taken(ctx, done, plan, print); err != nil {
		return errors.Join(err, left)
	}
	if left != nil {
		return uninstallable(left)
	}
	return nil
}

func (a *app) taken(ctx context.Context, done installation, plan *install.Plan, print bool) error {
	if print {
		return a.printPlan(done, plan)
	}
	if err := a.apply(ctx, plan, &done); err != nil {
		return err
	}
	if a.json {
		a.printJSON(done)
		return nil
	}
	a.showChanges(done, fmt.Sprintf("took out %s", sentence(done.Names)), "there was nothing to take out")
	if done.State != "" {
		a.note("what comity itself keeps, its journals and its key, is in %s", done.State)
	}
	return nil
}
