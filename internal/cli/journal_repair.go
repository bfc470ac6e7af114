package cli

import (
	"context"
	"path/filepath"

	"github.com/comity-dev/comity/session/store"
	"github.com/spf13/cobra"
)

// A repaired is the reply of `journal repair`.
type repaired struct {
	From    string      `json:"from"`
	To      string      `json:"to"`
	Store   string      `json:"store"` // that has the copy
	Records uint64      `json:"records"`
	Fences  uint64      `json:"fences,omitempty"` // of them, lost and written anew
	Dropped []badRecord `json:"dropped,omitempty"`
}

// A renewed is the reply of `journal repair` without --to.
type renewed struct {
	Session string   `json:"session"`
	Store   string   `json:"store"`
	Records uint64   `json:"records"`
	Renewed []string `json:"renewed,omitempty"` // what was wrong beside the journal, and is not any more
}

func (r *journalRun) repairCommand() *cobra.Command {
	var to string
	var as store.Entry
	c := r.sub(&cobra.Command{
		Use:   "repair SESSION [--to DIR|URL [--as ID]]",
		Short: "Make a session's index anew, or copy what can be read of it",
		Long: `Make anew what is kept beside the journal of a session, its index and its entry
in the list, whether something is wrong with them or not, and name what was. Records
are not touched by it.

With --to, copy what can be read of a damaged session into another store, and name
each record that the copy has not. The session itself is not touched. Records keep
their content and order, and get new sequences behind one that was dropped.`,
		Args: oneSession,
	}, func(ctx context.Context, p storePlace, args []string) error {
		if to == "" && as.Session != "" {
			return usage("--as names the copy, and there is none without --to").WithHint("--to DIR makes a new store for it")
		}
		if to == "" {
			return r.renew(ctx, p, args[0])
		}
		target, err := r.storeAt(to)
		if err != nil {
			return err
		}
		if p.dir != "" && sameFolder(p.dir, target.dir) || p.dir == "" && p.String() == target.String() {
			return usage("--to is the store with the damage").WithHint("--to DIR with another folder makes a new store")
		}
		if as.Session != "" && !as.Session.Valid() {
			return &store.InvalidSessionError{ID: as.Session}
		}
		j, err := p.look(ctx)
		if err != nil {
			return err
		}
		defer j.close()
		e, err := j.find(ctx, args[0])
		if err != nil {
			return err
		}
		if as.Session == "" {
			as.Session = e.Session
		}
		dst, err := target.own(ctx, true)
		if err != nil {
			return err
		}
		pr := r.progress()
		pr.say("copying %d records", e.Seq)
		rep, err := j.Repair(ctx, e.Session, dst.Store, as.Session)
		pr.end()
		if err == nil {
			_, err = dst.RepairCatalog(ctx, rep.To) // else a list knows nothing of it
		}
		if err := dst.written(ctx, as.Session, err); err != nil {
			return err
		}
		return r.repaired(rep, target)
	})
	c.Flags().StringVar(&to, "to", "", "write the copy to `DIR|URL`")
	c.Flags().StringVar((*string)(&as.Session), "as", "", "give the copy the `ID` (default: the same)")
	return c
}

// renew makes anew what is kept beside the journal.
func (r *journalRun) renew(ctx context.Context, p storePlace, name string) error {
	j, err := p.look(ctx) // a name that is not there makes nobody wait
	if err != nil {
		return err
	}
	e, err := j.find(ctx, name)
	if err := closed(j, err); err != nil {
		return err
	}
	if j, err = p.own(ctx, false); err != nil {
		return err
	}
	pr := r.progress()
	pr.say("reading %d records", e.Seq)
	report, err := j.RepairBooks(ctx, e.Session)
	pr.end()
	if err := closed(j, err); err != nil {
		return err
	}
	out := renewed{Session: string(e.Session), Store: p.String(), Records: report.Records}
	for _, b := range report.Books {
		out.Renewed = append(out.Renewed, b.Error())
	}
	if r.json {
		return r.reply(out)
	}
	r.out.row(0, key(shortSession(out.Session)).as(bold), key("good"), key(count(int(out.Records), "record")), keyf("%d made anew", len(out.Renewed)))
	for _, b := range out.Renewed {
		r.out.printf("  made anew:\n    ")
		r.out.wrapped(4, 4, oneLine(b))
	}
	return nil
}

func (r *journalRun) repaired(rep store.RepairReport, target storePlace) error {
	out := repaired{string(rep.From), string(rep.To), target.String(), rep.Records, rep.Fences, nil}
	for _, b := range rep.Dropped {
		out.Dropped = append(out.Dropped, badRecord{b.Ledger, b.Seq, b.Err.Error()})
	}
	if r.json {
		return r.reply(out)
	}
	r.out.row(0, key(shortSession(out.To)).as(bold), key("copied"), key(count(int(out.Records), "record")), keyf("%d dropped", len(out.Dropped)))
	for _, b := range out.Dropped {
		r.out.printf("  record %d dropped:\n    ", b.Seq)
		r.out.wrapped(4, 4, oneLine(b.Error))
	}
	r.note("the copy is in %s: comity journal verify %s --store %s", clean(target.String()), shortSession(out.To), clean(target.given))
	return nil
}

func sameFolder(a, b string) bool {
	return b != "" && realPath(a) == realPath(b)
}

func realPath(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return dir
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		return real
	}
	return abs
}

// closed closes j, and is err or else why that failed.
func closed(j *journals, err error) error {
	if e := j.close(); err == nil {
		return e
	}
	return err
}
