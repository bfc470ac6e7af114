package room

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/journal"
	"github.com/comity-dev/comity/coop/scope"
)

// States of a review as shown.
const (
	reviewOpen     = "open"
	reviewAnswered = "answered"
	reviewClosed   = "closed"
)

// ReviewRequest asks for a review. It is bound to what there is now: the commit
// and tree of the branch, or of the commit named.
func (r *Room) ReviewRequest(ctx context.Context, a Actor, req api.ReviewRequestRequest) (api.ReviewReply, error) {
	var reply api.ReviewReply
	if strings.TrimSpace(req.Subject) == "" {
		return reply, api.Errorf(api.CodeUsage, "a review needs a subject").WithHint("say in a line what to look at")
	}
	body := event.ReviewRequested{Subject: clean(req.Subject), Reviewer: clean(req.Reviewer), Body: clean(req.Body), Issue: clean(req.Issue)}
	var err error
	if len(req.Scope) > 0 {
		if body.Scope, err = scopeOf(a, req.Scope, false); err != nil {
			return reply, err
		}
	}
	if err := r.bind(ctx, a, req, &body); err != nil {
		return reply, err
	}
	sid, opened, err := r.sessionOf(ctx, a, "", "")
	if err != nil {
		return reply, err
	}
	body.Session = sid
	var key event.Key
	done, err := r.decide(ctx, func(tx *journal.Tx) error {
		if err := r.mustBeOpen(tx, sid); err != nil {
			return err
		}
		e, err := tx.Append(body)
		if err == nil {
			key = e.Key()
		}
		return err
	})
	if err != nil {
		return reply, err
	}
	return r.reviewReply(ctx, a, reply, key, done, opened), nil
}

// bind fills in branch, commit and tree. Without a branch or a commit the
// caller's own branch is meant.
func (r *Room) bind(ctx context.Context, a Actor, req api.ReviewRequestRequest, body *event.ReviewRequested) error {
	branch := req.Branch
	if branch == "" && req.Commit == "" {
		var err error
		if branch, _, err = a.Git.Head(ctx); err != nil {
			return err
		}
	}
	commit, tree, err := a.Git.Commit(ctx, cmp.Or(req.Commit, branch, "HEAD"))
	if err != nil {
		return err
	}
	body.Branch, body.Commit, body.Tree = fact(branch, 256), commit, tree
	return nil
}

// ReviewAnswer gives a verdict on what the answering session saw: the commit
// named, else the present one of the review's branch. The session that asked
// cannot answer.
func (r *Room) ReviewAnswer(ctx context.Context, a Actor, req api.ReviewAnswerRequest) (api.ReviewReply, error) {
	var reply api.ReviewReply
	switch req.Verdict {
	case api.Approved, api.ChangesRequested, api.Commented:
	default:
		return reply, api.Errorf(api.CodeUsage, "verdict %q: want %s, %s or %s", req.Verdict, api.Approved, api.ChangesRequested, api.Commented)
	}
	sid, opened, err := r.sessionOf(ctx, a, "", "")
	if err != nil {
		return reply, err
	}
	q, err := r.lookUpReview(req.Review)
	if err != nil {
		return reply, err
	}
	commit, tree, err := a.Git.Commit(ctx, cmp.Or(req.Commit, q.Request.Branch, q.Request.Commit))
	if err != nil {
		return reply, err
	}
	done, err := r.decide(ctx, func(tx *journal.Tx) error {
		if err := r.mustBeOpen(tx, sid); err != nil {
			return err
		}
		now, _ := tx.State().Review(q.Key)
		switch {
		case q.Session == r.id(sid):
			return api.Errorf(api.CodeNotOwn, "%s asked for this review and cannot answer it", sid).WithHint("another session has to look")
		case !now.Open:
			return api.Errorf(api.CodeSessionClosed, "review %s is closed: %s", r.names.short(q.Key), words(now.EndReason)).
				WithHint("ask %s to request a new one", q.Session.SID)
		}
		note := clean(req.Note)
		if answeredSo(now, r.id(sid).String(), req.Verdict, note, tree) {
			reply.Already = true
			return errUnchanged
		}
		_, err := tx.Append(event.ReviewAnswered{Request: q.Key, Session: sid, Verdict: event.Verdict(req.Verdict), Note: note, Commit: commit, Tree: tree})
		return err
	})
	if err != nil {
		return api.ReviewReply{}, err
	}
	return r.reviewReply(ctx, a, reply, q.Key, done, opened), nil
}

// answeredSo tells that the session's newest answer says just that.
func answeredSo(q fold.Review, session, verdict, note, tree string) bool {
	for _, x := range slices.Backward(q.Answers) {
		if x.Session.String() == session {
			return string(x.Verdict) == verdict && x.Note == note && x.Tree == tree
		}
	}
	return false
}

// ReviewClose ends a review that the acting session asked for.
func (r *Room) ReviewClose(ctx context.Context, a Actor, req api.ReviewCloseRequest) (api.ReviewReply, error) {
	var reply api.ReviewReply
	reason, err := reasonWord(req.Reason)
	if err != nil {
		return reply, err
	}
	sid, err := r.named(a, "")
	if err != nil {
		return reply, err
	}
	q, err := r.lookUpReview(req.Review)
	if err != nil {
		return reply, err
	}
	done, err := r.decide(ctx, func(tx *journal.Tx) error {
		now, _ := tx.State().Review(q.Key)
		switch {
		case q.Session != r.id(sid):
			return api.Errorf(api.CodeNotOwn, "review %s was asked for by %s", r.names.short(q.Key), q.Session.SID).
				WithHint("only who asked closes it; answer it instead: comity review answer %s", r.names.short(q.Key))
		case !now.Open:
			reply.Already = true
			return errUnchanged
		}
		tx.Reserve()
		_, err := tx.Append(event.ReviewClosed{Request: q.Key, Session: sid, Reason: reason})
		return err
	})
	if err != nil {
		return api.ReviewReply{}, err
	}
	return r.reviewReply(ctx, a, reply, q.Key, done, ""), nil
}

// ReviewList lists the reviews that are not closed, or all, newest first.
func (r *Room) ReviewList(ctx context.Context, a Actor, req api.ReviewListRequest) (api.ReviewListReply, error) {
	var out api.ReviewListReply
	r.view(func(v look) {
		r.heard(v, a)
		out.Reviews = r.reviewViews(v, req.All)
	})
	markStale(ctx, a, out.Reviews)
	return out, nil
}

func (r *Room) reviewReply(ctx context.Context, a Actor, reply api.ReviewReply, key event.Key, done []journal.Appended, opened string) api.ReviewReply {
	reply.Written = written(done)
	reply.OpenedSession = opened
	r.view(func(v look) {
		if q, ok := v.State().Review(key); ok {
			reply.Review = r.reviewView(v, q)
		}
	})
	one := []api.Review{reply.Review}
	markStale(ctx, a, one)
	reply.Review = one[0]
	return reply
}

func (r *Room) lookUpReview(word string) (q fold.Review, err error) {
	r.view(func(v look) {
		var key event.Key
		if key, err = r.names.expand(word, unknownReview); err != nil {
			return
		}
		var ok bool
		if q, ok = v.State().Review(key); !ok {
			err = unknownReview(word)
		}
	})
	return q, err
}

func unknownReview(word string) error {
	return api.Errorf(api.CodeUnknownReview, "review %s is not known", word).WithHint("comity review list --all lists them")
}

func (r *Room) reviewViews(v look, all bool) []api.Review {
	out := []api.Review{}
	reviews := v.State().OpenReviews()
	if all {
		reviews = v.State().Reviews()
	}
	for q := range reviews {
		out = append(out, r.reviewView(v, q))
	}
	slices.SortStableFunc(out, func(a, b api.Review) int {
		return cmp.Or(cmp.Compare(b.At, a.At), cmp.Compare(a.Review, b.Review))
	})
	return out
}

func (r *Room) reviewView(v look, q fold.Review) api.Review {
	b := q.Request
	s, _ := v.State().Session(q.Session)
	out := api.Review{
		Review: q.Key.String(), Short: r.names.short(q.Key), State: reviewOpen, Subject: b.Subject, Session: q.Session.SID, Client: s.Info.Client,
		Reviewer: b.Reviewer, Branch: b.Branch, Commit: b.Commit, Tree: b.Tree, Scope: shown(b.Scope), Body: b.Body, Issue: b.Issue,
		Reason: q.EndReason, At: q.At, AgeMS: r.ages.wallMS(q.At),
	}
	for _, x := range q.Answers {
		who, _ := v.State().Session(x.Session)
		out.State = reviewAnswered
		out.Answers = append(out.Answers, api.Answer{
			Session: x.Session.SID, Client: who.Info.Client, Verdict: string(x.Verdict), Note: x.Note, Commit: x.Commit, Tree: x.Tree, At: x.At,
		})
	}
	if !q.Open {
		out.State = reviewClosed
	}
	return out
}

func shown(s scope.Set) []string {
	if len(s) == 0 {
		return nil
	}
	return s.Strings()
}

// markStale compares each answer with what its branch holds now. It is computed
// where it is shown and never stored: a branch of another machine may not be
// here, and then nothing is said to be stale. Each branch is asked for once.
func markStale(ctx context.Context, a Actor, reviews []api.Review) {
	trees := map[string]string{} // "" when the branch is not here
	for i := range reviews {
		q := &reviews[i]
		tree := q.Tree
		if q.Branch != "" && len(q.Answers) > 0 {
			now, asked := trees[q.Branch]
			if !asked {
				_, now, _ = a.Git.Commit(ctx, q.Branch)
				trees[q.Branch] = now
			}
			tree = now
		}
		for i := range q.Answers {
			x := &q.Answers[i]
			x.Stale = x.Tree != "" && tree != "" && x.Tree != tree
			if !x.Stale {
				q.Verdict = x.Verdict
			}
		}
	}
}
