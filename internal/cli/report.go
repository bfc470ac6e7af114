package cli

import (
	"github.com/comity-dev/comity/api"
	"github.com/spf13/cobra"
)

func (a *app) verifyCommand() *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "verify",
		Short: "Verify every signature and chain of the local journal",
		Args:  cobra.NoArgs,
	}, func(cmd *cobra.Command, _ []string) error {
		w, err := a.where()
		if err != nil {
			return err
		}
		rep, err := ask[api.Report](cmd.Context(), a, api.OpVerify, api.DoctorRequest{Where: w})
		if err != nil {
			return err
		}
		if !a.json {
			a.out.report(rep)
		}
		return outcome(rep)
	})
}

// outcome is exit code 12 when a check failed.
func outcome(rep *api.Report) error {
	if rep.OK {
		return nil
	}
	return found(exitFound)
}

// report prints every check, and for those that are not well what it means and
// what to do.
func (p *printer) report(rep *api.Report) {
	failed, warned := 0, 0
	for _, c := range rep.Checks {
		look := green
		switch c.State {
		case api.CheckWarn:
			look, warned = yellow, warned+1
		case api.CheckFail:
			look, failed = red, failed+1
		}
		p.printf("%s  %s  ", p.paint(look, padded(c.State, 4)), p.paint(bold, padded(c.Name, 12)))
		p.wrapped(8+max(12, width(c.Name)), 20, c.Detail)
		p.line("impact", c.Impact)
		p.line("remedy", c.Remedy)
	}
	p.printf("%s, %d failed, %s\n", count(len(rep.Checks), "check"), failed, count(warned, "warning"))
}

func (p *printer) line(name, text string) {
	if text != "" {
		p.printf("      %s  ", p.paint(faint, padded(name, 12)))
		p.wrapped(20, 20, text)
	}
}

// padded is s with spaces up to n columns.
func padded(s string, n int) string {
	for width(s) < n {
		s += " "
	}
	return s
}

// exitFound is the exit code of a check that found something.
const exitFound = 12
