package cli

import (
	"strings"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/spf13/cobra"
)

func (a *app) claimCommand() *cobra.Command {
	req := api.ClaimRequest{}
	var advisory, checkout bool
	var wait, confirm time.Duration
	c := a.command(&cobra.Command{
		Use:   "claim SCOPE...",
		Short: "Claim files, folders, globs or named resources, all or none",
		Long: `Claim scopes for your session, all or none, and print the claim's key, its epoch
and its standing.

A scope is a file, a folder (dir/), a glob ('src/**/*.go', quoted) or a named
resource (@port/3000). A claim that meets another's is refused with exit code 10
and says who holds what, where they meet, and since when.`,
		Example: `  comity claim src/parser/ --intent "split the lexer from the parser"
  comity claim @port/3000 --wait 10m
  comity claim docs/ --advisory`,
		Args: atLeastOne("SCOPE"),
	}, func(cmd *cobra.Command, args []string) error {
		var err error
		if req.Mode, err = mode(advisory, checkout); err != nil {
			return err
		}
		if req.WaitMS, err = waitMS("--wait", wait); err != nil {
			return err
		}
		if req.ConfirmMS, err = waitMS("--confirm", confirm); err != nil {
			return err
		}
		if req.Break && strings.TrimSpace(req.Reason) == "" {
			return usage("--break needs --reason: it takes the scope from whoever holds it, and they will read why").
				WithHint("add --reason \"why\"")
		}
		if req.Where, err = a.where(); err != nil {
			return err
		}
		req.Scope = args
		rep, err := ask[api.ClaimReply](cmd.Context(), a, api.OpClaim, req)
		if err != nil || a.json {
			return err
		}
		a.claimed(rep)
		return nil
	})
	f := c.Flags()
	f.BoolVar(&advisory, "advisory", false, "exclude nobody; tell whoever meets it")
	f.BoolVar(&checkout, "checkout", false, "exclude only sessions in this same checkout")
	f.BoolVar(&req.Literal, "literal", false, "take every SCOPE as a path, whatever characters it has")
	f.DurationVar(&wait, "wait", 0, "queue for up to `D` when it is held")
	f.DurationVar(&confirm, "confirm", 0, "wait up to `D` until every known runtime has it")
	f.BoolVar(&req.Break, "break", false, "take it from whoever holds it; needs --reason")
	f.StringVar(&req.Reason, "reason", "", "why it is broken, as `TEXT`")
	about(c, &req.Intent, &req.Issue)
	return c
}

// called is how cmd is called below the program, whose name stands before every
// refusal already.
func called(cmd *cobra.Command) string {
	return strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
}

func atLeastOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usage("%s needs at least one %s", called(cmd), what)
		}
		return nil
	}
}

func exactly(what ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != len(what) {
			return usage("%s takes %s", called(cmd), sentence(what))
		}
		return nil
	}
}

func mode(advisory, checkout bool) (string, error) {
	switch {
	case advisory && checkout:
		return "", usage("a claim is --advisory or --checkout, not both")
	case advisory:
		return api.ModeAdvisory, nil
	case checkout:
		return api.ModeCheckout, nil
	}
	return "", nil
}

// maxWait is the longest that a claim may queue.
const maxWait = 24 * time.Hour

func waitMS(flag string, d time.Duration) (int64, error) {
	if d < 0 || d > maxWait {
		return 0, api.Errorf(api.CodeBound, "%s %v is not between 0 and 24h", flag, d).WithHint("a wait is a time as 90s, 10m or 2h")
	}
	if d > 0 && d < time.Millisecond {
		d = time.Millisecond
	}
	return d.Milliseconds(), nil
}

// claimed prints a claim that the acting session now has.
func (a *app) claimed(rep *api.ClaimReply) {
	a.opened(rep.Written)
	if rep.Already {
		a.note("held already; nothing was written")
	}
	if rep.WaitedMS > 0 {
		a.note("waited %s for it", span(rep.WaitedMS))
	}
	a.meetings("overlaps", rep.Overlaps)
	a.meetings("fenced", rep.Fenced)
	c := rep.Claim
	a.out.row(0, key(short(c.Short, c.Claim)).as(bold), keyf("epoch %d", c.Epoch), key(c.Standing).as(standingStyle(c.Standing)), key(by(c)),
		key(confirmed(c)), key(exclusive(c.Mode)), flex(scopes(c.Scope)))
}

func confirmed(c api.Claim) string {
	switch {
	case c.Standing != api.StandingHeld || c.Mode == api.ModeAdvisory:
		return ""
	case c.Confirmed:
		return "confirmed"
	}
	return "provisional"
}

// meetings tells of other claims that a new one meets.
func (a *app) meetings(word string, met []api.Conflict) {
	if len(met) == 0 {
		return
	}
	a.note("%s %s:", word, count(len(met), "claim"))
	for _, c := range met {
		a.errs.conflict(c)
	}
}

func (a *app) releaseCommand() *cobra.Command {
	req := api.ReleaseRequest{}
	c := a.command(&cobra.Command{
		Use:               "release [CLAIM|SCOPE...|--all]",
		Short:             "Release claims of your session",
		ValidArgsFunction: a.completeClaims,
	}, func(cmd *cobra.Command, args []string) error {
		if req.All == (len(args) > 0) {
			return usage("name the claims to release, or --all of your session's").
				WithHint("comity status shows them")
		}
		w, err := a.where()
		if err != nil {
			return err
		}
		req.Where, req.Claims = w, args
		rep, err := ask[api.ReleaseReply](cmd.Context(), a, api.OpRelease, req)
		if err != nil || a.json {
			return err
		}
		if len(rep.Released)+len(rep.Already) == 0 {
			a.note("there was nothing to release")
		}
		for _, c := range rep.Released {
			a.out.released(c)
		}
		for _, c := range rep.Already {
			a.note("%s had ended already: %s", short(c.Short, c.Claim), c.Standing)
		}
		return nil
	})
	f := c.Flags()
	f.BoolVar(&req.All, "all", false, "all claims of your session")
	f.BoolVar(&req.Person, "person", false, "as a person: a claim of another session of yours")
	f.StringVar(&req.Reason, "reason", "", "why, as one `WORD` (default done)")
	return c
}

func (p *printer) released(c api.Claim) {
	p.row(0, key(short(c.Short, c.Claim)).as(bold), key("released"), flex(scopes(c.Scope)), flex(c.Session), keyf("held %s", span(c.AgeMS)))
}
