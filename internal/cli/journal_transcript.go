package cli

import (
	"context"
	"io"
	"slices"
	"time"

	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/session/store"
	"github.com/comity-dev/comity/session/transcript"
	"github.com/spf13/cobra"
)

// A written is the reply of `journal transcript`.
type written struct {
	Session  string `json:"session"`
	File     string `json:"file"`
	Format   string `json:"format"`
	Bytes    int64  `json:"bytes"`
	Records  uint64 `json:"records"`
	Turns    uint64 `json:"turns"`
	Calls    uint64 `json:"calls"` // of tools
	Warnings uint64 `json:"warnings"`
	Stopped  bool   `json:"stopped"` // the session has ended
}

var formats = map[string]transcript.Format{"md": transcript.Markdown, "json": transcript.JSON, "html": transcript.HTML}

func (r *journalRun) transcriptCommand() *cobra.Command {
	var to, format string
	var private bool
	c := r.look(&cobra.Command{
		Use:   "transcript SESSION [--format md|json|html] -o FILE",
		Short: "Write a session for people to read",
		Long: `Write a session for people to read: Markdown, JSON, or one HTML file that needs
nothing else. It works while the session runs. Without --private it has what
public views have: no question in full, no answer to a form, no audit.`,
	}, func(ctx context.Context, j *journals, e store.Entry) error {
		f, ok := formats[format]
		if !ok {
			return usage("--format %s is none of md, json, html", format).WithHint("leave it out for Markdown")
		}
		records, err := j.Records().Open(ctx, journal.ReplayRequest{SessionID: e.Session})
		if err != nil {
			return err
		}
		defer records.Close()
		var sum transcript.Summary
		n, err := r.writeFile(to, func(w io.Writer) (err error) {
			p := r.progress()
			defer p.end()
			o := &transcript.Options{Private: private, Exported: time.Now()}
			sum, err = transcript.Write(ctx, w, counted{records, func(seq uint64) { p.say("record %d of %d", seq, e.Seq) }}, f, o)
			return err
		})
		if err != nil || to == "-" {
			return err
		}
		if r.json {
			return r.reply(written{string(e.Session), to, format, n, sum.Records, sum.Turns, sum.Calls, sum.Warnings, sum.Stopped})
		}
		r.out.row(0, key(shortSession(e.Session)).as(bold), key("written"), key(count(int(sum.Turns), "turn")), key(count(int(sum.Calls), "call")),
			key(count(int(sum.Warnings), "warning")), keyf("%d bytes", n), flex(to))
		return nil
	})
	outFlag(c, &to)
	c.Flags().StringVar(&format, "format", "md", "write `md|json|html`")
	c.Flags().BoolVar(&private, "private", false, "write what no public view has, too")
	_ = c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(sortedKeys(formats), cobra.ShellCompDirectiveNoFileComp)) // fails only for a flag that is not there
	return c
}

func sortedKeys[V any](m map[string]V) (names []string) {
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// A counted cursor tells how far it is.
type counted struct {
	journal.RecordCursor
	told func(seq uint64)
}

func (c counted) Next(ctx context.Context) (journal.JournalRecord, uint64, error) {
	rec, seq, err := c.RecordCursor.Next(ctx)
	c.told(seq)
	return rec, seq, err
}
