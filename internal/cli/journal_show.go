package cli

import (
	"context"
	"errors"
	"io"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/session/store"
	"github.com/spf13/cobra"
)

// A recordPage is the reply of `journal show`.
type recordPage struct {
	Session string        `json:"session"`
	Records []shownRecord `json:"records"`
	Tip     uint64        `json:"tip"`            // where the journal ends
	Next    uint64        `json:"next,omitempty"` // the first record behind the page, if there is one
}

func (r *journalRun) showCommand() *cobra.Command {
	var from uint64
	var limit int
	var private bool
	c := &cobra.Command{
		Use:   "show SESSION [--from SEQ] [--limit N] [--private]",
		Short: "Show the records of a session",
		Long: `Show the records of a session: the last ones, or those from a sequence on.
Private ones (questions before they open, commands from outside) are named, and
shown with --private, as are the private parts of events.`,
	}
	c = r.look(c, func(ctx context.Context, j *journals, e store.Entry) error {
		if limit < 1 || limit > maxLog {
			return api.Errorf(api.CodeBound, "--limit %d is not between 1 and %d", limit, maxLog).
				WithHint("go on behind the last page with --from SEQ")
		}
		latest := from == 0
		if latest {
			from = max(1, e.Seq-min(e.Seq, uint64(limit))+1)
		}
		page, err := r.page(ctx, j, e, from, limit, private)
		if r.json {
			if err != nil {
				return err
			}
			return r.reply(page)
		}
		if latest && from > 1 {
			r.note("the last %d of %d records; from the first on: comity journal show %s --from 1%s", limit, e.Seq, shortSession(e.Session), j.place.flag())
		}
		for _, s := range page.Records { // those in front of one that cannot be read too
			r.out.record(s)
		}
		if err == nil && page.Next > 0 {
			r.note("there is more: comity journal show %s --from %d%s", shortSession(e.Session), page.Next, j.place.flag())
		}
		return err
	})
	c.Flags().Uint64Var(&from, "from", 0, "begin with record `SEQ`; 1 is the first (default: the last N)")
	c.Flags().IntVar(&limit, "limit", 100, "show at most `N` records, 1 to 1000")
	c.Flags().BoolVar(&private, "private", false, "show what no public view has")
	return c
}

func (r *journalRun) page(ctx context.Context, j *journals, e store.Entry, from uint64, limit int, private bool) (recordPage, error) {
	page := recordPage{Session: string(e.Session), Records: []shownRecord{}, Tip: e.Seq}
	c, err := j.Records().Open(ctx, journal.ReplayRequest{SessionID: e.Session, From: journal.FromSeq(from)})
	if err != nil {
		return page, err
	}
	defer c.Close()
	for {
		rec, seq, err := c.Next(ctx)
		switch {
		case errors.Is(err, io.EOF):
			return page, nil
		case err != nil:
			return page, err
		case len(page.Records) == limit:
			page.Next = seq
			return page, nil
		}
		s, err := r.shown(e, seq, rec, private)
		if err != nil {
			return page, err
		}
		page.Records = append(page.Records, s)
	}
}
