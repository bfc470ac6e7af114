package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/comity-dev/comity/session/store"
	"github.com/spf13/cobra"
)

// A listedSession is a session in a list. LastSeq of the entry is the record up to
// which it tells, Seq is where the journal ends.
type listedSession struct {
	store.Entry
	Seq uint64 `json:"seq"`
}

// A sessionList is the reply of `journal list`.
type sessionList struct {
	Store    string          `json:"store"`
	Sessions []listedSession `json:"sessions"`
}

// maxBehind bounds what list reads of a session whose entry is behind: twice what
// a writer lets it be.
const maxBehind = 8192

func (r *journalRun) listCommand() *cobra.Command {
	return r.sub(&cobra.Command{
		Use:   "list",
		Short: "List the sessions, with state and counts",
		Long: `List the sessions: id, state, title, how many turns, steps and events, the last
record, and when it was written. Where the entry of a session is far behind its
journal, the counts are those of an earlier record, which is said.`,
		Args: cobra.NoArgs,
	}, func(ctx context.Context, p storePlace, _ []string) error {
		j, err := p.look(ctx)
		if err != nil {
			return err
		}
		defer j.close()
		list := sessionList{Store: p.String(), Sessions: []listedSession{}}
		for e, err := range j.Catalog(ctx) {
			if err != nil {
				return err
			}
			if e, err = j.CatchUp(ctx, e, maxBehind); err != nil {
				return err
			}
			list.Sessions = append(list.Sessions, listedSession{e, e.Seq})
		}
		if r.json {
			return r.reply(list)
		}
		r.out.heading("sessions", len(list.Sessions))
		for _, s := range list.Sessions {
			r.out.listedSession(s)
		}
		return nil
	})
}

var stateStyles = map[store.State]style{
	store.Running: green, store.Waiting: yellow, store.Failed: red, store.Interrupted: red, store.Idle: plain, store.Stopped: faint,
}

func (p *printer) listedSession(s listedSession) {
	age := ""
	if s.Updated > 0 {
		age = ago(time.Now().UnixMilli() - s.Updated)
	}
	p.row(2, key(shortSession(s.Session)).as(bold), key(string(s.State)).as(stateStyles[s.State]).pad(11), flex(s.Title), key(age).as(faint))
	behind := ""
	if s.LastSeq < s.Seq {
		behind = fmt.Sprintf("as of record %d", s.LastSeq)
	}
	partial := ""
	if s.Partial && behind == "" {
		partial = "counts are not complete"
	}
	p.row(4, key(count(int(s.Turns), "turn")), key(count(int(s.Steps), "step")), key(count(int(s.Events), "event")),
		keyf("last record %d", s.Seq), key(behind+partial).as(yellow))
}
