package cli

import (
	"bufio"
	"context"
	"os"
	"strings"

	"github.com/comity-dev/comity/session/store"
	"github.com/spf13/cobra"
)

// A deleted is the reply of `journal delete`.
type deleted struct {
	Session string `json:"session"`
	Records uint64 `json:"records"`
	Store   string `json:"store"`
}

func (r *journalRun) deleteCommand() *cobra.Command {
	var yes bool
	c := r.sub(&cobra.Command{
		Use:   "delete SESSION [--yes]",
		Short: "Delete a session and all that belongs to it",
		Long: `Delete a session and all that belongs to it, for good. It asks first; --yes
answers. A session that somebody is writing is refused.`,
		Args: oneSession,
	}, func(ctx context.Context, p storePlace, args []string) error {
		j, err := p.look(ctx)
		if err != nil {
			return err
		}
		e, err := j.find(ctx, args[0])
		if err := closed(j, err); err != nil {
			return err
		}
		if !yes {
			if err := r.sure(e); err != nil {
				return err
			}
		}
		if j, err = p.own(ctx, false); err != nil {
			return err
		}
		if err := closed(j, j.Delete(ctx, e.Session)); err != nil {
			return err
		}
		if r.json {
			return r.reply(deleted{string(e.Session), e.Seq, p.String()})
		}
		r.out.row(0, key(shortSession(e.Session)).as(bold), key("deleted"), key(count(int(e.Seq), "record")))
		return nil
	})
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return c
}

// sure asks the person at the terminal, and is an error unless the answer is yes.
func (r *journalRun) sure(e store.Entry) error {
	in, ok := r.stdin.(*os.File)
	if !ok || !terminal(in.Fd()) || r.json {
		return usage("delete session %s, with %s, for good?", e.Session, count(int(e.Seq), "record")).
			WithHint("--yes deletes it; comity journal export keeps a copy")
	}
	r.errs.printf("comity: ")
	r.errs.wrapped(8, 2, oneLine("delete session "+string(e.Session)+", "+count(int(e.Seq), "record")+", for good? "+e.Title))
	r.errs.printf("comity: yes or no: ")
	if err := r.errs.flush(); err != nil {
		return err
	}
	answer, _ := bufio.NewReader(in).ReadString('\n')
	if strings.TrimSpace(strings.ToLower(answer)) == "yes" {
		return nil
	}
	return usage("not deleted").WithHint("answer yes, in full, to delete it")
}
