package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/client"
	"github.com/comity-dev/comity/internal/node"
	"github.com/spf13/cobra"
)

// Run runs one command line, without the program's name, and returns its exit
// code. Cancelling ctx interrupts it. With COMITY=off in the environment it does
// nothing, says nothing and succeeds.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) int {
	if getenv("COMITY") == "off" {
		return 0
	}
	a := newApp(stdin, stdout, stderr, getenv)
	if isHook(args) { // it has no time for the others
		return a.finish(ctx, args, a.hookCode(ctx, args[1:]))
	}
	root := a.root()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(a.out.w)
	root.SetErr(stderr)
	cmd, err := root, speakable(args)
	if err == nil {
		cmd, err = root.ExecuteContextC(ctx)
	}
	a.path = cmd.CommandPath()
	return a.finish(ctx, args, err)
}

// An app is one run of the program.
type app struct {
	getenv func(string) string
	stdin  io.Reader
	out    *printer
	errs   *printer

	json    bool
	noStart bool
	repo    string
	session string

	ran   bool   // the arguments were those of a command, which was run
	doing string // that command as typed
	path  string // its name, or that of the last one that was understood
	redo  bool   // stdout is a terminal that can be redrawn
	serve func(context.Context, node.Options) error
}

func newApp(stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) *app {
	colour := func(w io.Writer) bool {
		return isTerminal(w) && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
	}
	return &app{
		getenv: getenv,
		stdin:  stdin,
		out:    &printer{w: bufio.NewWriter(stdout), colour: colour(stdout)},
		errs:   &printer{w: bufio.NewWriter(stderr), colour: colour(stderr)},
		redo:   isTerminal(stdout) && getenv("TERM") != "dumb",
		serve:  node.Serve,
	}
}

// root is the tree of commands.
func (a *app) root() *cobra.Command {
	root := a.command(&cobra.Command{
		Use:   "comity",
		Short: "Let the agents and people in one git repository know of each other's work",
		Args:  unknownCommand,
	}, a.status)
	root.SuggestionsMinimumDistance = 2
	root.CompletionOptions.HiddenDefaultCmd = false
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetFlagErrorFunc(badFlag)
	f := root.PersistentFlags()
	f.BoolVar(&a.json, "json", false, "print replies and failures as JSON")
	f.StringVar(&a.repo, "repo", "", "act in `DIR` (default: where you stand)")
	f.StringVar(&a.session, "session", "", "act as session `ID` (default: $COMITY_SESSION)")
	f.BoolVar(&a.noStart, "no-start", false, "do not start the daemon when none runs")
	_ = root.RegisterFlagCompletionFunc("session", a.completeSessions) // fails only for a flag that is not there
	root.AddCommand(
		a.statusCommand(), a.sessionCommand(), a.claimCommand(), a.releaseCommand(), a.checkCommand(),
		a.logCommand(), a.noticesCommand(), a.handoverCommand(), a.reviewCommand(),
		a.verifyCommand(), a.doctorCommand(), a.serveCommand(), a.stopCommand(), a.versionCommand(), a.demoCommand(),
		a.hookCommand(), a.installCommand(), a.uninstallCommand(), a.journalCommand(),
	)
	return root
}

// command gives c what every command has. What cobra itself refuses never
// reaches run, and is a usage error.
func (a *app) command(c *cobra.Command, run func(*cobra.Command, []string) error) *cobra.Command {
	c.DisableFlagsInUseLine = true
	c.RunE = func(cmd *cobra.Command, args []string) error {
		words := append(strings.Fields(cmd.CommandPath())[1:], args...)
		a.ran, a.doing = true, oneLine(strings.Join(words, " "))
		if err := wanted(cmd); err != nil {
			return err
		}
		return run(cmd, args)
	}
	return c
}

// unknownCommand refuses what is no command, and says which one may be meant.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return meant(usage("comity has no command %q", args[0]), "comity", cmd.SuggestionsFor(args[0]))
}

// group is a command that only has commands below it.
func group(use, short string, below ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use:   use + " COMMAND",
		Short: short,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("%s needs one of: %s", called(cmd), sentence(names(below)))
			}
			e := usage("%s has no command %q, but: %s", called(cmd), args[0], sentence(names(below)))
			return meant(e, cmd.CommandPath(), similar(args[0], names(below)))
		},
		RunE: func(*cobra.Command, []string) error { return nil }, // unreachable unless Args lets something through
	}
	c.DisableFlagsInUseLine = true
	c.AddCommand(below...)
	return c
}

func names(cmds []*cobra.Command) []string {
	var all []string
	for _, c := range cmds {
		all = append(all, c.Name())
	}
	return all
}

// usage is a mistake in the arguments.
func usage(format string, args ...any) *api.Error {
	return api.Errorf(api.CodeUsage, format, args...)
}

// client is the client of this run. A command typed into a shell is a person's.
func (a *app) client() (*client.Client, error) { return a.connect(a.noStart) }

func (a *app) connect(noStart bool) (*client.Client, error) {
	return client.New(&client.Options{Getenv: a.getenv, NoStart: noStart, Person: true, Build: build()})
}

// where is the place of this run: the folder and the session named.
func (a *app) where() (api.Where, error) {
	dir, err := filepath.Abs(a.repo) // of "": the working directory
	if err != nil {
		return api.Where{}, api.Errorf(api.CodeNoRepository, "where this is cannot be told: %v", err).
			WithHint("the folder may have been deleted: go to one that is there")
	}
	if !utf8.ValidString(dir) {
		return api.Where{}, api.Errorf(api.CodeNoRepository, "the name of folder %q is not UTF-8", dir).
			WithHint("rename it: comity cannot write it down")
	}
	if a.repo != "" {
		switch info, err := os.Stat(dir); {
		case err != nil:
			return api.Where{}, usage("--repo %s: %s", a.repo, reason(err)).WithHint("name a folder in a git repository")
		case !info.IsDir():
			return api.Where{}, usage("--repo %s: is a file", a.repo).WithHint("name a folder in a git repository")
		}
	}
	return api.Where{Dir: dir, Session: a.actor()}, nil
}

// actor is the session named, "" when the daemon is to find it.
func (a *app) actor() string {
	if a.session != "" {
		return a.session
	}
	return a.getenv("COMITY_SESSION")
}

// A found is the outcome of a command that did what it was asked and found
// something: an exit code without a failure.
type found int

func (found) Error() string { return "found something" } // never printed

// finish prints a failure and what is still unprinted, and tells the exit code.
func (a *app) finish(ctx context.Context, args []string, err error) int {
	code := 0
	var f found
	switch {
	case err == nil:
	case errors.As(err, &f):
		code = int(f)
	default:
		code = a.fail(ctx, args, err)
	}
	if err := a.out.flush(); err != nil && (code == 0 || a.asJSON(args)) { // as JSON, a failure is lost with it
		a.errs.printf("comity: write the result: %v\n", err)
		code = max(code, 1)
	}
	_ = a.errs.flush() // there is nowhere left to say it
	return code
}

// asJSON reports whether the run speaks JSON, also when the arguments were too
// wrong to be parsed.
func (a *app) asJSON(args []string) bool {
	return a.json || !a.ran && slices.Contains(args, "--json")
}
