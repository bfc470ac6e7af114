package cli

import (
	"strings"

	"github.com/comity-dev/comity/api"
	"github.com/spf13/cobra"
)

func (a *app) reviewCommand() *cobra.Command {
	return group("review", "Ask for a review, answer one, close and list them",
		a.reviewRequestCommand(), a.reviewAnswerCommand(), a.reviewCloseCommand(), a.reviewListCommand())
}

func (a *app) reviewRequestCommand() *cobra.Command {
	req := api.ReviewRequestRequest{}
	c := a.command(&cobra.Command{
		Use:   "request SUBJECT",
		Short: "Ask for a review of a branch, a commit or a scope",
		Args:  exactly("SUBJECT"),
	}, func(cmd *cobra.Command, args []string) error {
		w, err := a.where()
		if err != nil {
			return err
		}
		req.Where, req.Subject = w, args[0]
		return a.reviewed(cmd, api.OpReviewRequest, req, "asked for")
	})
	f := c.Flags()
	f.StringVar(&req.Branch, "branch", "", "the `BRANCH` (default: the one checked out)")
	f.StringVar(&req.Commit, "commit", "", "the commit, as any `REVISION`")
	f.StringArrayVar(&req.Scope, "scope", nil, "a `SCOPE` to look at; may be repeated")
	f.StringVar(&req.Reviewer, "reviewer", "", "`WHO` should look: a session, client or person")
	f.StringVar(&req.Body, "body", "", "what to look for, as `TEXT`")
	f.StringVar(&req.Issue, "issue", "", "the `ISSUE` that it belongs to")
	return c
}

func (a *app) reviewAnswerCommand() *cobra.Command {
	req := api.ReviewAnswerRequest{}
	var approve, changes, comment bool
	c := a.command(&cobra.Command{
		Use:               "answer REVIEW --approve|--changes|--comment",
		Short:             "Answer a review; the verdict is bound to the tree that you saw",
		Args:              exactly("REVIEW"),
		ValidArgsFunction: a.completeReviews,
	}, func(cmd *cobra.Command, args []string) error {
		w, err := a.where()
		if err != nil {
			return err
		}
		if req.Verdict, err = answer(approve, changes, comment); err != nil {
			return err
		}
		req.Where, req.Review = w, args[0]
		return a.reviewed(cmd, api.OpReviewAnswer, req, "answered")
	})
	f := c.Flags()
	f.BoolVar(&approve, "approve", false, "it is good")
	f.BoolVar(&changes, "changes", false, "it needs changes")
	f.BoolVar(&comment, "comment", false, "neither, only a note")
	f.StringVar(&req.Note, "note", "", "what you found, as `TEXT`")
	f.StringVar(&req.Commit, "commit", "", "the `REVISION` that you saw (default: the branch's)")
	return c
}

func answer(approve, changes, comment bool) (string, error) {
	switch {
	case approve && !changes && !comment:
		return api.Approved, nil
	case changes && !approve && !comment:
		return api.ChangesRequested, nil
	case comment && !approve && !changes:
		return api.Commented, nil
	}
	return "", usage("an answer is one of --approve, --changes and --comment")
}

func (a *app) reviewCloseCommand() *cobra.Command {
	req := api.ReviewCloseRequest{}
	c := a.command(&cobra.Command{
		Use:               "close REVIEW",
		Short:             "Close a review that you asked for",
		Args:              exactly("REVIEW"),
		ValidArgsFunction: a.completeReviews,
	}, func(cmd *cobra.Command, args []string) error {
		w, err := a.where()
		if err != nil {
			return err
		}
		req.Where, req.Review = w, args[0]
		return a.reviewed(cmd, api.OpReviewClose, req, "closed")
	})
	c.Flags().StringVar(&req.Reason, "reason", "", "why, as one `WORD` (default done)")
	return c
}

func (a *app) reviewed(cmd *cobra.Command, op string, req any, done string) error {
	rep, err := ask[api.ReviewReply](cmd.Context(), a, op, req)
	if err != nil || a.json {
		return err
	}
	a.opened(rep.Written)
	if rep.Already {
		a.note("it was %s already; nothing was written", done)
	}
	r := rep.Review
	a.out.row(0, key(short(r.Short, r.Review)).as(bold), key(done), flex(r.Subject), key(spoken(r.Verdict)))
	return nil
}

func (a *app) reviewListCommand() *cobra.Command {
	return listCommand(a, "List the open reviews, newest first", "also those closed", api.OpReviewList, func(w api.Where, all bool) any {
		return api.ReviewListRequest{Where: w, All: all}
	}, func(rep api.ReviewListReply) {
		if len(rep.Reviews) == 0 {
			a.note("no reviews")
		}
		show := a.out.reviews(rep.Reviews, ages{})
		for i, r := range rep.Reviews {
			show(i)
			for _, ans := range r.Answers {
				a.out.answer(ans)
			}
		}
	})
}

// reviews prints one of several reviews, its columns under those of the others.
func (p *printer) reviews(all []api.Review, g ages) func(i int) {
	name := widest(len(all), func(i int) string { return short(all[i].Short, all[i].Review) })
	state := widest(len(all), func(i int) string { return all[i].State })
	return func(i int) { p.review(all[i], name, state, g) }
}

func (p *printer) review(r api.Review, name, state int, g ages) {
	for_ := ""
	if r.Reviewer != "" {
		for_ = "for " + r.Reviewer
	}
	p.row(3, key(short(r.Short, r.Review)).as(bold).pad(name), key(r.State).pad(state), key(spoken(r.Verdict)), flexf("by %s", person(r.Session, r.Client)),
		flex(for_), flex(r.Branch), flex(scopes(r.Scope)), key(g.ago(r.AgeMS)))
	p.row(5, flex(r.Subject).as(faint))
}

// spoken is a verdict as people say it.
func spoken(verdict string) string { return strings.ReplaceAll(verdict, "_", " ") }

func (p *printer) answer(a api.Answer) {
	stale := ""
	if a.Stale {
		stale = "stale: the branch has changed since"
	}
	p.row(5, key(spoken(a.Verdict)), flexf("by %s", person(a.Session, a.Client)), key(stale).as(yellow))
	if a.Note != "" {
		p.printf("       ")
		p.wrapped(7, 7, a.Note)
	}
}
