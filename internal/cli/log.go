package cli

import (
	"context"
	"encoding/json"

	"github.com/comity-dev/comity/api"
	"github.com/spf13/cobra"
)

// logArgs are the arguments of `comity log`.
type logArgs struct {
	after  string
	from   bool // after was given, even as ""
	limit  int
	follow bool

	commits bool
}

func (a *app) logCommand() *cobra.Command {
	var args logArgs
	c := a.command(&cobra.Command{
		Use:   "log [--after CURSOR] [--limit N] [--follow]",
		Short: "Show the journal's events, each once, in the order they arrived",
		Long: `Show the journal's events, each once, in the order they arrived: the last ones,
or with --after those that follow a cursor ("" begins at the beginning). With
--json each event is one line, with its cursor and its body as stored.

--commits looks instead at the last commits of this branch that say under which
claim they were made (comity install git --trailer), and shows those whose claim
had been lost before. The exit code is 12 when there are any.`,
		Args: cobra.NoArgs,
	}, func(cmd *cobra.Command, _ []string) error {
		args.from = cmd.Flags().Changed("after")
		if args.limit < 1 || args.limit > maxLog {
			return api.Errorf(api.CodeBound, "--limit %d is not between 1 and %d", args.limit, maxLog).
				WithHint("go on from the last page with --after CURSOR")
		}
		if args.commits {
			if args.from || args.follow {
				return usage("--commits goes with neither --after nor --follow")
			}
			return a.logCommits(cmd.Context(), args.limit)
		}
		return a.log(cmd.Context(), args)
	})
	f := c.Flags()
	f.StringVar(&args.after, "after", "", "begin after `CURSOR`")
	f.IntVar(&args.limit, "limit", 100, "show at most `N` events, 1 to 1000")
	f.BoolVar(&args.follow, "follow", false, "go on and show events as they arrive")
	f.BoolVar(&args.commits, "commits", false, "show commits made under a claim that was lost")
	c.AddCommand(a.logDumpCommand())
	return c
}

const maxLog = 1000

// A page is a page of the log with its events as they came.
type page struct {
	Events []json.RawMessage `json:"events"`
	Next   string            `json:"next"`
	More   bool              `json:"more"`
}

func (a *app) log(ctx context.Context, args logArgs) error {
	w, err := a.where()
	if err != nil {
		return err
	}
	req := api.LogRequest{Where: w, After: args.after, Limit: args.limit, Last: !args.from}
	p, err := a.logPage(ctx, req)
	if err != nil {
		return err
	}
	if args.follow {
		return a.followLog(ctx, req, p)
	}
	if p.More && !a.json {
		a.note("there is more: comity log --after %s", clean(p.Next))
	}
	return nil
}

// logPage gets one page and prints it.
func (a *app) logPage(ctx context.Context, req api.LogRequest) (*page, error) {
	p, _, err := fetch[page](ctx, a, api.OpLog, req)
	if err != nil {
		return nil, err
	}
	if a.json {
		for _, raw := range p.Events {
			a.out.printf("%s\n", raw)
		}
		return p, a.out.flush()
	}
	events := make([]api.LogEvent, len(p.Events))
	for i, raw := range p.Events {
		if err := json.Unmarshal(raw, &events[i]); err != nil {
			return nil, api.Errorf(api.CodeInternal, "an event of the log is not understood: %v", err)
		}
	}
	scrub(&events)
	name := widest(len(events), func(i int) string { return short(events[i].Short, events[i].Event) })
	for _, e := range events {
		a.out.event(e, name)
	}
	return p, a.out.flush()
}

func (p *printer) event(e api.LogEvent, name int) {
	again := ""
	if e.Again {
		again = "again"
	}
	p.row(0, key(stamp(e.At)).as(faint), key(short(e.Short, e.Event)).as(bold).pad(name), key(again).as(yellow), flex(e.Text))
}
