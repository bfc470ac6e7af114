package cli

import (
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/spf13/cobra"
)

func (a *app) sessionCommand() *cobra.Command {
	return group("session", "Open, renew, close and list sessions",
		a.sessionOpenCommand(), a.sessionRenewCommand(), a.sessionCloseCommand(), a.sessionListCommand())
}

func (a *app) sessionOpenCommand() *cobra.Command {
	req := api.SessionOpenRequest{}
	var ttl time.Duration
	c := a.command(&cobra.Command{
		Use:   "open [--session NAME] [--pid P | --ttl D]",
		Short: "Open a session and print its id",
		Long: `Open a session and print its id, or update the open one of that name.

It lives until it is closed, until process P ends, or until D (12 hours) after
its last command. In a shell or a script:

  export COMITY_SESSION=$(comity session open --pid $$)`,
		Args: cobra.NoArgs,
	}, func(cmd *cobra.Command, _ []string) error {
		if err := lifetime(cmd, req.PID, ttl); err != nil {
			return err
		}
		w, err := a.where()
		if err != nil {
			return err
		}
		w.Session = ""
		req.Where, req.Name, req.TTLMS = w, a.session, ttl.Milliseconds()
		rep, err := ask[api.SessionOpenReply](cmd.Context(), a, api.OpSessionOpen, req)
		if err != nil || a.json {
			return err
		}
		a.out.printf("%s\n", oneLine(rep.Session.Session))
		return nil
	})
	f := c.Flags()
	f.IntVar(&req.PID, "pid", 0, "live as long as process `P`")
	f.DurationVar(&ttl, "ttl", 0, "live `D` after the last command (default 12h)")
	f.StringVar(&req.Client, "client", "", "the `PROGRAM` that works in it (default cli)")
	f.StringVar(&req.Task, "task", "", "the `TASK`")
	f.StringVar(&req.Worker, "worker", "", "the `WORKER`")
	f.StringVar(&req.Context, "context", "", "the client's own `NAME` of the conversation")
	about(c, &req.Intent, &req.Issue)
	return c
}

func lifetime(cmd *cobra.Command, pid int, ttl time.Duration) error {
	switch f := cmd.Flags(); {
	case f.Changed("pid") && f.Changed("ttl"):
		return usage("a session lives by --pid or by --ttl, not by both")
	case f.Changed("pid") && pid <= 0:
		return usage("--pid %d is no process", pid)
	case f.Changed("ttl") && ttl < time.Millisecond:
		return usage("--ttl %v is no time to live", ttl)
	}
	return nil
}

// about adds the flags that say what one is about.
func about(c *cobra.Command, intent, issue *string) {
	c.Flags().StringVar(intent, "intent", "", "what this is for, as `TEXT` of a sentence")
	c.Flags().StringVar(issue, "issue", "", "the `ISSUE` that it belongs to")
}

func (a *app) sessionRenewCommand() *cobra.Command {
	req := api.SessionRenewRequest{}
	var ttl time.Duration
	c := a.command(&cobra.Command{
		Use:               "renew [SESSION]",
		Short:             "Renew a session's time to live, or change what it is about",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeSessions,
	}, func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed("ttl") && ttl < time.Millisecond {
			return usage("--ttl %v is no time to live", ttl)
		}
		w, err := a.where()
		if err != nil {
			return err
		}
		req.Where, req.Name, req.TTLMS = w, optional(args), ttl.Milliseconds()
		rep, err := ask[api.SessionOpenReply](cmd.Context(), a, api.OpSessionRenew, req)
		if err != nil || a.json {
			return err
		}
		a.opened(rep.Written)
		a.out.row(0, key(rep.Session.Session).as(bold), key("renewed"), flex(rep.Session.Owner), flex(rep.Session.Intent))
		return nil
	})
	c.Flags().DurationVar(&ttl, "ttl", 0, "live `D` after the last command")
	about(c, &req.Intent, &req.Issue)
	return c
}

func optional(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

func (a *app) sessionCloseCommand() *cobra.Command {
	req := api.SessionCloseRequest{}
	c := a.command(&cobra.Command{
		Use:               "close [SESSION]",
		Short:             "Close a session and end its claims",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeSessions,
	}, func(cmd *cobra.Command, args []string) error {
		w, err := a.where()
		if err != nil {
			return err
		}
		req.Where, req.Name = w, optional(args)
		rep, err := ask[api.SessionCloseReply](cmd.Context(), a, api.OpSessionClose, req)
		if err != nil || a.json {
			return err
		}
		a.opened(rep.Written)
		word := "closed"
		if rep.Already {
			word = "was closed already"
		}
		a.out.row(0, key(rep.Session.Session).as(bold), key(word), key(count(len(rep.Released), "claim")+" released"))
		for _, c := range rep.Released {
			a.out.released(c)
		}
		return nil
	})
	c.Flags().StringVar(&req.Reason, "reason", "", "why, as one `WORD` (default done)")
	return c
}

func (a *app) sessionListCommand() *cobra.Command {
	return listCommand(a, "List sessions, oldest first", "also those that have ended", api.OpSessionList, func(w api.Where, all bool) any {
		return api.SessionListRequest{Where: w, All: all}
	}, func(rep api.SessionListReply) {
		if len(rep.Sessions) == 0 {
			a.note("no sessions")
		}
		show := a.out.sessions(rep.Sessions, a.actor(), ages{})
		for i := range rep.Sessions {
			show(i)
		}
	})
}
