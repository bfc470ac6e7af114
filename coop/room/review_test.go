package room_test

import (
	"context"
	"strings"
	"testing"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/room"
)

func (f *fixture) answer(a room.Actor, review, verdict string) api.ReviewReply {
	f.Helper()
	reply, err := f.ReviewAnswer(f.Context(), a, api.ReviewAnswerRequest{Review: review, Verdict: verdict})
	if err != nil {
		f.Fatalf("%s answers: %v", a.Session, err)
	}
	return reply
}

func TestReviewLife(t *testing.T) {
	f := newFixture(t)
	repo := newGit()
	at := func(name string) room.Actor {
		a := f.join(name)
		a.Git = repo
		return a
	}
	ada, bob, carl := at("ada"), at("bob"), at("carl")
	q, err := f.ReviewRequest(t.Context(), ada, api.ReviewRequestRequest{Subject: "look", Scope: []string{"src/"}, Reviewer: "bob", Body: "all of it"})
	if err != nil || q.Review.State != "open" || q.Review.Tree != strings.Repeat("1", 40) || q.Review.Branch != "main" || q.Review.Verdict != "" {
		t.Fatalf("request = %+v, %v; want open, bound to the tree", q, err)
	}
	_, err = f.ReviewAnswer(t.Context(), ada, api.ReviewAnswerRequest{Review: q.Review.Short, Verdict: api.Approved})
	wantCode(t, "own answer", err, api.CodeNotOwn)
	_, err = f.ReviewAnswer(t.Context(), bob, api.ReviewAnswerRequest{Review: q.Review.Short, Verdict: "fine"})
	wantCode(t, "no verdict", err, api.CodeUsage)
	got := f.answer(bob, q.Review.Short, api.Approved)
	if got.Review.State != "answered" || got.Review.Verdict != api.Approved || len(got.Review.Answers) != 1 || got.Review.Answers[0].Stale {
		t.Errorf("answer = %+v", got)
	}
	if again := f.answer(bob, q.Review.Short, api.Approved); !again.Already || len(again.Review.Answers) != 1 {
		t.Errorf("the same answer = %+v; want already", again)
	}
	repo.move("2")
	list, err := f.ReviewList(t.Context(), ada, api.ReviewListRequest{})
	if err != nil || len(list.Reviews) != 1 || !list.Reviews[0].Answers[0].Stale || list.Reviews[0].Verdict != "" {
		t.Errorf("after the branch moved %+v, %v; want a stale answer and no verdict", list, err)
	}
	if after := f.answer(carl, q.Review.Short, api.ChangesRequested); len(after.Review.Answers) != 2 || after.Review.Verdict != api.ChangesRequested {
		t.Errorf("second answer = %+v; want both side by side", after)
	}
	if again := f.answer(bob, q.Review.Short, api.Approved); again.Already || again.Review.Verdict != api.Approved || len(again.Review.Answers) != 3 {
		t.Errorf("bob looks again = %+v; want an answer to the new tree", again)
	}
	_, err = f.ReviewClose(t.Context(), bob, api.ReviewCloseRequest{Review: q.Review.Review})
	wantCode(t, "close by another", err, api.CodeNotOwn)
	for i := range 2 {
		closed, err := f.ReviewClose(t.Context(), ada, api.ReviewCloseRequest{Review: q.Review.Short, Reason: "merged"})
		if err != nil || closed.Already != (i == 1) || closed.Review.State != "closed" || closed.Review.Reason != "merged" {
			t.Errorf("close = %+v, %v", closed, err)
		}
	}
	_, err = f.ReviewAnswer(t.Context(), bob, api.ReviewAnswerRequest{Review: q.Review.Short, Verdict: api.Commented})
	if err == nil {
		t.Error("a closed review takes answers")
	}
	if list, _ := f.ReviewList(t.Context(), ada, api.ReviewListRequest{}); len(list.Reviews) != 0 {
		t.Errorf("still listed: %+v", list)
	}
}

func TestReviewOfABranchThatIsNotHere(t *testing.T) {
	f := newFixture(t)
	ada, bob := f.join("ada"), f.join("bob")
	_, err := f.ReviewRequest(t.Context(), ada, api.ReviewRequestRequest{Subject: "s", Branch: "missing"})
	wantCode(t, "request", err, api.CodeUsage)
	q, err := f.ReviewRequest(t.Context(), ada, api.ReviewRequestRequest{Subject: "s", Branch: "topic"})
	if err != nil {
		t.Fatal(err)
	}
	f.answer(bob, q.Review.Short, api.Approved)
	without := ada
	without.Git = lacking{newGit()}
	list, err := f.ReviewList(t.Context(), without, api.ReviewListRequest{})
	if err != nil || list.Reviews[0].Answers[0].Stale || list.Reviews[0].Verdict != api.Approved {
		t.Errorf("where the branch is not here %+v, %v; want nothing said to be stale", list, err)
	}
}

// lacking is a clone that has none of the branches.
type lacking struct{ *git }

func (lacking) Commit(_ context.Context, rev string) (string, string, error) {
	return "", "", api.Errorf(api.CodeUsage, "no such revision: %s", rev)
}

func TestReviewsAskGitOncePerBranch(t *testing.T) {
	f := newFixture(t)
	repo := newGit()
	ada, bob := f.join("ada"), f.join("bob")
	for range 20 {
		q, err := f.ReviewRequest(t.Context(), ada, api.ReviewRequestRequest{Subject: "s"})
		if err != nil {
			t.Fatal(err)
		}
		f.answer(bob, q.Review.Short, api.Commented)
	}
	ada.Git = repo
	if s := f.status(ada); len(s.Reviews) != 20 || repo.asked != 1 {
		t.Errorf("%d reviews cost %d questions to git, want 20 and 1", len(s.Reviews), repo.asked)
	}
}

func TestUnknownReviews(t *testing.T) {
	f := newFixture(t)
	ada := f.join("ada")
	c := f.claim(ada, "src/")
	for word, code := range map[string]api.Code{
		"nonsense": api.CodeUsage, "abcdef/1": api.CodeUnknownReview, c.Short: api.CodeUnknownReview, c.Claim.Claim: api.CodeUnknownReview, "abcdef/0": api.CodeUsage,
	} {
		_, err := f.ReviewAnswer(t.Context(), ada, api.ReviewAnswerRequest{Review: word, Verdict: api.Approved})
		wantCode(t, word, err, code)
	}
	_, err := f.ReviewRequest(t.Context(), ada, api.ReviewRequestRequest{Subject: " "})
	wantCode(t, "no subject", err, api.CodeUsage)
	_, err = f.Release(t.Context(), ada, api.ReleaseRequest{Claims: []string{"abcdef/1"}})
	wantCode(t, "release of nothing", err, api.CodeUnknownClaim)
}
