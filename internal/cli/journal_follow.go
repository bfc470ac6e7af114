package cli

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/session/store"
	"github.com/spf13/cobra"
)

func (r *journalRun) followCommand() *cobra.Command {
	var from uint64
	var private bool
	c := r.look(&cobra.Command{
		Use:   "follow SESSION [--from SEQ] [--private]",
		Short: "Show the records of a session as they are written",
		Long: `Show the records of a session as they are written, each once and in order, until
it is interrupted: those that are written from now on, or with --from also those
that are there. With --json each record is one line. In a folder, a record is seen
within about a second: as soon as its writer has noted there that it is synced.`,
	}, func(ctx context.Context, j *journals, e store.Entry) error {
		if from == 0 {
			from = e.Seq + 1
		}
		f := &follower{r, e, from, private}
		if j.file != nil {
			return unlessInterrupted(ctx, f.inFolder(ctx, j))
		}
		return unlessInterrupted(ctx, f.run(ctx, j, true))
	})
	c.Flags().Uint64Var(&from, "from", 0, "begin with record `SEQ`; 1 is the first (default: the next one)")
	c.Flags().BoolVar(&private, "private", false, "show what no public view has")
	return c
}

// A follower shows the records of a session, each once.
type follower struct {
	*journalRun
	entry   store.Entry
	next    uint64
	private bool
}

// run shows what is there and, if it is to wait, what comes.
func (f *follower) run(ctx context.Context, j *journals, wait bool) error {
	c, err := j.Records().Open(ctx, journal.ReplayRequest{SessionID: f.entry.Session, From: journal.FromSeq(f.next), Follow: wait})
	if err != nil {
		return err
	}
	defer c.Close()
	for {
		rec, seq, err := c.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		s, err := f.shown(f.entry, seq, rec, f.private)
		if err != nil {
			return err
		}
		if f.next = seq + 1; f.json {
			err = f.reply(s)
		} else {
			f.out.record(s)
		}
		if err = errors.Join(err, f.out.flush()); err != nil {
			return err
		}
	}
}

// reopenEvery bounds how often a folder that is written to is looked at.
const reopenEvery = 100 * time.Millisecond

// inFolder follows a store that another process writes: it looks again when the
// system says that the files have changed. The watch begins before the first look,
// so that nothing falls in between.
func (f *follower) inFolder(ctx context.Context, j *journals) error {
	w, err := watchFolder(filepath.Join(j.place.dir, "log"))
	if err != nil {
		return err
	}
	defer w.close()
	for {
		if j, err = j.place.look(ctx); err != nil {
			return err
		}
		e, err := j.Entry(ctx, f.entry.Session)
		if err == nil && e.Seq < min(f.next-1, f.entry.Seq) {
			err = api.Errorf(api.CodeUnknownSession, "session %s was deleted", f.entry.Session).WithHint("comity journal list%s", j.place.flag())
		}
		if err == nil {
			err = f.run(ctx, j, false)
		}
		if err = errors.Join(err, j.close()); err != nil {
			return err
		}
		pause := time.NewTimer(reopenEvery)
		if err := w.wait(ctx); err != nil {
			return err
		}
		select {
		case <-pause.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
