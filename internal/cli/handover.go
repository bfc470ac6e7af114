package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/comity-dev/comity/api"
	"github.com/spf13/cobra"
)

func (a *app) handoverCommand() *cobra.Command {
	return group("handover", "Pass work on: offer it, list, show, take, decline, withdraw",
		a.handoverPublishCommand(), a.handoverListCommand(),
		a.handoverNamed("show", "Show a handover with its text", api.OpHandoverShow, ""),
		a.handoverNamed("take", "Take a handover", api.OpHandoverTake, "taken"),
		a.handoverDeclineCommand(),
		a.handoverNamed("withdraw", "Withdraw your own offer", api.OpHandoverWithdraw, "withdrawn"))
}

func (a *app) handoverPublishCommand() *cobra.Command {
	req := api.HandoverPublishRequest{}
	c := a.command(&cobra.Command{
		Use:   "publish FILE|-|--derive",
		Short: "Offer a handover",
		Long: `Offer the text of FILE, or of standard input, as a handover. --derive makes the
facts from git and the journal: branch, head, changed files, open claims and the
last intent; a text comes on top of them. Secrets of known shapes are taken out.`,
		Args: cobra.MaximumNArgs(1),
	}, func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 && !req.Derive {
			return usage("name the file with the text, - for standard input, or --derive")
		}
		w, err := a.where()
		if err != nil {
			return err
		}
		if req.Body, err = a.text(optional(args)); err != nil {
			return err
		}
		req.Where = w
		rep, err := ask[api.HandoverReply](cmd.Context(), a, api.OpHandoverPublish, req)
		if err != nil || a.json {
			return err
		}
		a.opened(rep.Written)
		if len(rep.Redacted) > 0 {
			a.note("taken out of it: %s", sentence(rep.Redacted))
		}
		a.handoverDone(rep, "offered")
		return nil
	})
	f := c.Flags()
	f.BoolVar(&req.Derive, "derive", false, "make the facts from git and the journal")
	f.StringVar(&req.To, "to", "", "`WHO` it is for: a session, client or person")
	f.StringVar(&req.Name, "name", "", "a `NAME` for it")
	f.StringVar(&req.Task, "task", "", "the `TASK` that it belongs to")
	f.StringVar(&req.Issue, "issue", "", "the `ISSUE` that it belongs to")
	f.StringVar(&req.Milestone, "milestone", "", "the `MILESTONE` that it belongs to")
	return c
}

// Bounds of a text: what the daemon takes, and what is read to tell by how much
// it is over.
const (
	maxTextBytes = 32 << 10
	maxReadBytes = 8 << 20
)

// text reads a text that is given by name; "" has none.
func (a *app) text(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	r := a.stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return "", usage("read the text: %v", reason(err)).WithHint("the text is a file, or - for standard input")
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return "", usage("read the text: %s is a folder", name).WithHint("the text is a file, or - for standard input")
		}
		r = f
	}
	b, err := io.ReadAll(io.LimitReader(r, maxReadBytes+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("read the text: %s", reason(err))
	case len(b) > maxReadBytes:
		return "", tooLong(name, fmt.Sprintf("over %d", maxReadBytes), fmt.Sprintf("over %d", maxReadBytes-maxTextBytes))
	case !utf8.Valid(b) || bytes.IndexByte(b, 0) >= 0:
		return "", usage("%s is not UTF-8 text", name).WithHint("a handover is text that people read; name other files in it")
	case len(bytes.TrimSpace(b)) > maxTextBytes: // the daemon knows better by some bytes
		return "", tooLong(name, fmt.Sprint(len(b)), fmt.Sprint(len(b)-maxTextBytes))
	}
	return string(b), nil
}

func tooLong(name, size, over string) error {
	return api.Errorf(api.CodeBound, "%s has %s bytes, at most %d fit: %s too many", name, size, maxTextBytes, over).
		WithHint("a handover is a page: shorten it, and name files instead of quoting them")
}

// reason is err without the words "open" and the like, which say nothing here.
func reason(err error) string {
	var p *os.PathError
	if errors.As(err, &p) {
		return filepath.Clean(p.Path) + ": " + p.Err.Error()
	}
	return err.Error()
}

func (a *app) handoverListCommand() *cobra.Command {
	return listCommand(a, "List the handovers on offer, newest first", "also those taken, declined or withdrawn", api.OpHandoverList, func(w api.Where, all bool) any {
		return api.HandoverListRequest{Where: w, All: all}
	}, func(rep api.HandoverListReply) {
		if len(rep.Handovers) == 0 {
			a.note("no handovers")
		}
		for _, h := range rep.Handovers {
			a.out.handover(h, ages{})
		}
	})
}

// handoverNamed is a command on one handover. Done is what it then is; "" shows it.
func (a *app) handoverNamed(verb, summary, op, done string) *cobra.Command {
	return a.command(&cobra.Command{
		Use:               verb + " HANDOVER",
		Short:             summary,
		Args:              exactly("HANDOVER"),
		ValidArgsFunction: a.completeHandovers,
	}, func(cmd *cobra.Command, args []string) error {
		return a.onHandover(cmd.Context(), op, args[0], "", done)
	})
}

func (a *app) handoverDeclineCommand() *cobra.Command {
	var why string
	c := a.command(&cobra.Command{
		Use:               "decline HANDOVER --reason TEXT",
		Short:             "Decline a handover, with a reason",
		Args:              exactly("HANDOVER"),
		ValidArgsFunction: a.completeHandovers,
	}, func(cmd *cobra.Command, args []string) error {
		return a.onHandover(cmd.Context(), api.OpHandoverDecline, args[0], why, "declined")
	})
	c.Flags().StringVar(&why, "reason", "", "why, as `TEXT`")
	return c
}

func (a *app) onHandover(ctx context.Context, op, name, why, done string) error {
	w, err := a.where()
	if err != nil {
		return err
	}
	rep, err := ask[api.HandoverReply](ctx, a, op, api.HandoverRequest{Where: w, Handover: name, Reason: why})
	if err != nil || a.json {
		return err
	}
	a.opened(rep.Written)
	if done == "" {
		a.out.handoverWhole(rep.Handover)
		return nil
	}
	a.handoverDone(rep, done)
	if op == api.OpHandoverTake && rep.Handover.Body != "" {
		a.out.printf("\n")
		a.out.body(rep.Handover.Body)
	}
	return nil
}

func (a *app) handoverDone(rep *api.HandoverReply, done string) {
	h := rep.Handover
	if rep.Already {
		a.note("it was %s already; nothing was written", done)
	}
	a.out.row(0, key(short(h.Short, h.Handover)).as(bold), key(done), flex(to(h)), flex(h.Summary))
}

// to is whom a handover is for, "" for anybody.
func to(h api.Handover) string {
	if h.To == "" {
		return ""
	}
	return "to " + h.To
}

func (p *printer) handover(h api.Handover, g ages) {
	p.row(3, key(short(h.Short, h.Handover)).as(bold), key(h.State), flexf("from %s", person(h.From, h.Client)), flex(to(h)), flex(h.Branch), key(g.ago(h.AgeMS)))
	if h.Summary != "" {
		p.row(5, flex(h.Summary).as(faint))
	}
}

func (p *printer) handoverWhole(h api.Handover) {
	p.handover(h, ages{})
	p.fact("name", h.Name)
	p.fact("task", h.Task)
	p.fact("issue", h.Issue)
	p.fact("milestone", h.Milestone)
	p.fact("head", h.Head)
	for _, f := range h.Files {
		p.fact("file", f)
	}
	for _, t := range h.Takings {
		p.fact("taken by", t.Session)
	}
	for _, d := range h.Declines {
		p.fact("declined by", person(d.Session, d.Reason))
	}
	if h.Body != "" {
		p.printf("\n")
		p.body(h.Body)
	}
}

// fact prints a named value, when there is one.
func (p *printer) fact(name, value string) {
	if value != "" {
		p.row(4, key(name).as(faint).pad(11), flex(value))
	}
}
