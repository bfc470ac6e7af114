package cli

import (
	"github.com/comity-dev/comity/api"
	"github.com/spf13/cobra"
)

func (a *app) noticesCommand() *cobra.Command {
	var ack bool
	c := a.command(&cobra.Command{
		Use:   "notices [--ack]",
		Short: "Show what changed for your session",
		Long: `Show what changed for your session and was not acknowledged, oldest first.
Showing consumes nothing; --ack acknowledges what it shows.`,
		Args: cobra.NoArgs,
	}, func(cmd *cobra.Command, _ []string) error {
		w, err := a.where()
		if err != nil {
			return err
		}
		rep, err := ask[api.Notices](cmd.Context(), a, api.OpNotices, api.NoticesRequest{Where: w})
		if err != nil {
			return err
		}
		if !a.json {
			a.showNotices(rep)
		}
		if !ack || len(rep.Notices) == 0 {
			return nil
		}
		if err := a.out.flush(); err != nil { // what was not seen is not acknowledged
			return err
		}
		last := rep.Notices[len(rep.Notices)-1].ID
		_, _, err = fetch[api.Notices](cmd.Context(), a, api.OpNotices, api.NoticesRequest{Where: w, Ack: last})
		return err
	})
	c.Flags().BoolVar(&ack, "ack", false, "acknowledge what is shown")
	return c
}

func (a *app) showNotices(rep *api.Notices) {
	if len(rep.Notices) == 0 {
		a.note("nothing new for session %s", rep.Session)
	}
	for _, n := range rep.Notices {
		a.out.row(0, keyf("#%d", n.ID).as(bold), key(n.Kind), key(ago(n.AgeMS)), key(shortKey(n.Claim)))
		a.out.printf("    ")
		a.out.wrapped(4, 4, oneLine(n.Text))
	}
}
