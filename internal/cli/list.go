package cli

import (
	"github.com/comity-dev/comity/api"
	"github.com/spf13/cobra"
)

// listCommand is a command that lists things of one kind: those that matter now,
// or with --all those too that all tells of.
func listCommand[Rep any](a *app, short, all, op string, request func(api.Where, bool) any, show func(Rep)) *cobra.Command {
	var everything bool
	c := a.command(&cobra.Command{Use: "list", Short: short, Args: cobra.NoArgs}, func(cmd *cobra.Command, _ []string) error {
		w, err := a.where()
		if err != nil {
			return err
		}
		rep, err := ask[Rep](cmd.Context(), a, op, request(w, everything))
		if err == nil && !a.json {
			show(*rep)
		}
		return err
	})
	c.Flags().BoolVar(&everything, "all", false, all)
	return c
}
