package cli

import (
	"github.com/comity-dev/comity/api"
	"github.com/spf13/cobra"
)

func (a *app) checkCommand() *cobra.Command {
	req := api.CheckRequest{}
	c := a.command(&cobra.Command{
		Use:   "check PATH...",
		Short: "May your session write there now?",
		Long: `Tell for each path whether your session may write it now, from the daemon's
memory. The exit code is that of the worst answer: 0 when it is free or yours,
12 when an advisory claim of another covers it or your own claim has lapsed, 10
when another holds it.`,
		Args: atLeastOne("PATH"),
	}, func(cmd *cobra.Command, args []string) error {
		w, err := a.where()
		if err != nil {
			return err
		}
		req.Where, req.Paths = w, args
		rep, err := ask[api.CheckReply](cmd.Context(), a, api.OpCheck, req)
		if err != nil {
			return err
		}
		if !a.json {
			for _, path := range rep.Paths {
				a.out.checked(path)
			}
		}
		return verdict(rep.Verdict)
	})
	c.Flags().StringVar(&req.Claim, "claim", "", "the `CLAIM` that must still stand")
	c.Flags().Uint64Var(&req.Epoch, "epoch", 0, "the epoch `N` that it must have")
	return c
}

// verdict is the exit code of a check. An answer that this build does not know is
// none that allows a write.
func verdict(v string) error {
	switch v {
	case api.CheckFree, api.CheckYours:
		return nil
	case api.CheckAdvisory, api.CheckLapsed:
		return found(exitFound)
	case api.CheckTaken:
		return found(api.CodeConflict.Exit())
	}
	return api.Errorf(api.CodeInternal, "the daemon answers %q, which this build does not know", v).
		WithHint("comity version compares the two builds")
}

func (p *printer) checked(c api.CheckPath) {
	look := green
	switch c.Verdict {
	case api.CheckTaken:
		look = red
	case api.CheckAdvisory, api.CheckLapsed:
		look = yellow
	}
	cells := []cell{key(c.Verdict).as(look).pad(8), flex(c.Path)}
	if c.Claim != "" {
		cells = append(cells, key(shortKey(c.Claim)), keyf("epoch %d", c.Epoch))
	}
	p.row(0, cells...)
	for _, o := range c.Others {
		p.conflict(o)
	}
}
