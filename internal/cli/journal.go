package cli

import (
	"context"
	"strings"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/session/store"
	"github.com/spf13/cobra"
)

// A journalRun is one run of a command on session journals: it works on a store
// itself, and asks no daemon.
type journalRun struct {
	*app
	store string // as it was given
}

func (a *app) journalCommand() *cobra.Command {
	r := &journalRun{app: a}
	c := group("journal", "Session journals: look at them, check them, carry them elsewhere",
		r.listCommand(), r.showCommand(), r.followCommand(), r.verifyCommand(), r.repairCommand(),
		r.exportCommand(), r.importCommand(), r.transcriptCommand(), r.deleteCommand())
	c.Long = `Session journals: look at them, check them, carry them elsewhere.

A SESSION is named by its id or by the beginning of it. The journals are in a
store: a folder, as DIR or file:///DIR, or a NATS server, as nats://HOST/BUCKET.
Looking at a folder needs no leave of the process that writes there, and changes
nothing; import and delete need the folder to themselves.`
	c.PersistentFlags().StringVar(&r.store, "store", "", "the journals in `DIR|URL` (default: those of this user)")
	return c
}

// sub is a command on the store that is named.
func (r *journalRun) sub(c *cobra.Command, run func(ctx context.Context, p storePlace, args []string) error) *cobra.Command {
	return r.command(c, func(cmd *cobra.Command, args []string) error {
		if f := cmd.Flags().Lookup("store"); f.Changed && r.store == "" {
			return usage("--store is empty").WithHint("name one, or leave --store out")
		}
		p, err := r.storeAt(r.store)
		if err != nil {
			return err
		}
		return journalError(run(cmd.Context(), p, args))
	})
}

// look is a command that looks at one session.
func (r *journalRun) look(c *cobra.Command, run func(ctx context.Context, j *journals, e store.Entry) error) *cobra.Command {
	c.Args = oneSession
	return r.sub(c, func(ctx context.Context, p storePlace, args []string) error {
		j, err := p.look(ctx)
		if err != nil {
			return err
		}
		defer j.close() // it wrote nothing
		e, err := j.find(ctx, args[0])
		if err != nil {
			return err
		}
		return run(ctx, j, e)
	})
}

func oneSession(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0 || args[0] == "":
		return usage("%s needs a session", called(cmd)).WithHint("comity journal list shows them")
	case len(args) > 1:
		return usage("%s takes one session, not %d", called(cmd), len(args))
	}
	return nil
}

// find is the entry of the session whose id begins with name.
func (j *journals) find(ctx context.Context, name string) (store.Entry, error) {
	name = strings.ToLower(name)
	var like []store.Entry
	for id, err := range j.Sessions(ctx) {
		if err != nil {
			return store.Entry{}, err
		}
		if strings.HasPrefix(string(id), name) {
			e, err := j.Entry(ctx, id)
			if err != nil {
				return store.Entry{}, err
			}
			like = append(like, e)
		}
	}
	switch len(like) {
	case 1:
		return like[0], nil
	case 0:
		return store.Entry{}, api.Errorf(api.CodeUnknownSession, "there is no session %s in %s", name, j.place).
			WithHint("comity journal list%s shows those that are there", j.place.flag())
	}
	var ids []string
	for _, e := range like[:min(len(like), 5)] {
		ids = append(ids, string(e.Session))
	}
	return store.Entry{}, api.Errorf(api.CodeAmbiguous, "%s is the beginning of %d sessions", name, len(like)).
		WithHint("name more of it: %s", sentence(ids))
}

// shortSession is an id as people see it: enough of it to name it by.
func shortSession[ID ~string](id ID) string { return string(id)[:min(len(id), 8)] }
