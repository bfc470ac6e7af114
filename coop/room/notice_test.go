package room_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/room"
	"github.com/comity-dev/comity/internal/vfs/vfstest"
)

func kindsOf(notices []api.Notice) []string {
	var out []string
	for _, n := range notices {
		out = append(out, n.Kind)
	}
	return out
}

func (f *fixture) ack(a room.Actor, id uint64) {
	f.Helper()
	if _, err := f.Notices(f.Context(), a, api.NoticesRequest{Ack: id}); err != nil {
		f.Fatal(err)
	}
}

func TestNoticesAreKeptUntilAcknowledged(t *testing.T) {
	f := newFixtureOn(t, vfstest.New(), nil)
	ada, bob := f.join("ada"), f.join("bob")
	f.claim(ada, "src/")
	for i := range 3 {
		if _, err := f.Claim(t.Context(), bob, api.ClaimRequest{Scope: []string{fmt.Sprintf("src/f%d.go", i)}, Mode: api.ModeAdvisory}); err != nil {
			t.Fatal(err)
		}
	}
	first := f.notices(ada)
	if !slices.Equal(kindsOf(first), []string{api.NoticeOverlapped, api.NoticeOverlapped, api.NoticeOverlapped}) {
		t.Fatalf("notices %+v; want three overlaps", first)
	}
	if !slices.IsSortedFunc(first, func(a, b api.Notice) int { return int(a.ID) - int(b.ID) }) || first[0].ID == first[1].ID {
		t.Errorf("ids %d %d %d do not rise", first[0].ID, first[1].ID, first[2].ID)
	}
	if diff := cmp.Diff(first, f.notices(ada)); diff != "" {
		t.Errorf("looking changed them:\n%s", diff)
	}
	if n := f.status(ada).Notices; n != 3 {
		t.Errorf("status counts %d", n)
	}
	f.reopen()
	if diff := cmp.Diff(first, f.notices(ada)); diff != "" {
		t.Errorf("a restart changed them:\n%s", diff)
	}
	f.ack(ada, first[1].ID)
	for range 2 {
		if diff := cmp.Diff(first[2:], f.notices(ada)); diff != "" {
			t.Errorf("after the acknowledgement:\n%s", diff)
		}
		f.reopen()
	}
	f.ack(ada, first[0].ID) // an older one takes nothing back
	_, err := f.Notices(t.Context(), ada, api.NoticesRequest{Ack: first[2].ID + 1000})
	wantCode(t, "an id that was never shown", err, api.CodeUsage)
	f.ack(ada, first[2].ID)
	if got, err := f.Claim(t.Context(), bob, api.ClaimRequest{Scope: []string{"src/g.go"}, Mode: api.ModeAdvisory}); err != nil || len(got.Overlaps) != 1 {
		t.Fatal(got, err)
	}
	if n := f.notices(ada); len(n) != 1 || n[0].ID <= first[2].ID {
		t.Errorf("the next one is %+v; want one, with a higher id", n)
	}
	if len(f.notices(bob)) != 0 {
		t.Error("bob is told of what he did himself")
	}
}

func TestTooManyNotices(t *testing.T) {
	f := newFixtureOn(t, vfstest.New(), nil)
	ada, bob := f.join("ada"), f.join("bob")
	f.claim(ada, "src/")
	overlap := func(n int) {
		for i := range n {
			if _, err := f.Claim(t.Context(), bob, api.ClaimRequest{Scope: []string{fmt.Sprintf("src/f%d.go", i)}, Mode: api.ModeAdvisory}); err != nil {
				t.Fatal(err)
			}
			f.release(bob)
		}
	}
	overlap(room.MaxNotices + 5)
	for range 2 {
		got, err := f.Notices(t.Context(), ada, api.NoticesRequest{})
		if err != nil || len(got.Notices) != room.MaxNotices || got.Dropped != 5 {
			t.Errorf("%d notices, %d dropped, %v; want %d and 5", len(got.Notices), got.Dropped, err, room.MaxNotices)
		}
		f.reopen()
	}
	all := f.notices(ada)
	f.ack(ada, all[len(all)-1].ID)
	overlap(room.MaxNotices + 3) // those that were seen do not count as dropped
	for range 2 {
		if got, err := f.Notices(t.Context(), ada, api.NoticesRequest{}); err != nil || len(got.Notices) != room.MaxNotices || got.Dropped != 3 {
			t.Errorf("%d notices, %d dropped, %v; want %d and 3", len(got.Notices), got.Dropped, err, room.MaxNotices)
		}
		f.reopen()
	}
}

func TestEachEndIsToldOnce(t *testing.T) {
	f := newFixtureOn(t, vfstest.New(), nil)
	ada, bob := f.join("ada"), f.join("bob")
	f.claim(ada, "src/")
	docs := f.claim(ada, "docs/")
	if _, err := f.Claim(t.Context(), bob, api.ClaimRequest{Scope: []string{"src/"}, Break: true, Reason: "urgent"}); err != nil {
		t.Fatal(err)
	}
	nameless := bob
	nameless.By = ""
	if _, err := f.Release(t.Context(), nameless, api.ReleaseRequest{Claims: []string{docs.Short}, Person: true}); err != nil {
		t.Fatal(err)
	}
	f.claim(ada, "own.go")
	f.release(ada, "own.go") // her own doing is no news
	for range 2 {
		notes := f.notices(ada)
		if !slices.Equal(kindsOf(notes), []string{api.NoticeFenced, api.NoticeReleasedBy}) {
			t.Fatalf("notices %+v; want the fence and the release by a person, once each", notes)
		}
		if !strings.Contains(notes[0].Text, "bob") || !strings.Contains(notes[0].Text, "urgent") || !strings.Contains(notes[1].Text, "docs/") {
			t.Errorf("texts %q, %q", notes[0].Text, notes[1].Text)
		}
		f.reopen()
	}
}

func TestNoticesEndWithTheSession(t *testing.T) {
	f := newFixtureOn(t, vfstest.New(), nil)
	ada, bob := f.join("ada"), f.join("bob")
	f.claim(ada, "src/")
	f.Claim(t.Context(), bob, api.ClaimRequest{Scope: []string{"src/a.go"}, Mode: api.ModeAdvisory})
	f.SessionClose(t.Context(), ada, api.SessionCloseRequest{})
	ada = f.join("ada")
	for range 2 {
		if n := f.notices(ada); len(n) != 0 {
			t.Errorf("a new session of the name is told %+v", n)
		}
		f.reopen()
	}
}

func TestToWhomAHandoverIsTold(t *testing.T) {
	f := newFixture(t)
	far := f.join("far")
	far.Git.(*git).branch = "other"
	f.openSession(actorOf(far, ""), api.SessionOpenRequest{Name: "far"}, nil)
	ada, bob, carl := f.join("ada"), f.join("bob"), f.join("carl")
	f.openSession(actorOf(carl, ""), api.SessionOpenRequest{Name: "carl", Client: "codex"}, nil)
	publish := func(body, to string) {
		t.Helper()
		if _, err := f.HandoverPublish(t.Context(), ada, api.HandoverPublishRequest{Body: body, To: to}); err != nil {
			t.Fatal(err)
		}
	}
	publish("to the branch", "")
	publish("to bob", "bob")
	publish("to a client", "Codex")
	publish("to a person", "Test Person")
	publish("to nobody here", "zoe")
	want := map[string]int{"ada": 0, "bob": 3, "carl": 3, "far": 1}
	for _, a := range []room.Actor{ada, bob, carl, far} {
		if n := f.notices(a); len(n) != want[a.Session] {
			t.Errorf("%s is told %+v, want %d", a.Session, n, want[a.Session])
		}
	}
	list, err := f.HandoverList(t.Context(), ada, api.HandoverListRequest{})
	if err != nil || len(list.Handovers) != 5 {
		t.Fatalf("%+v, %v", list, err)
	}
	first := list.Handovers[slices.IndexFunc(list.Handovers, func(h api.Handover) bool { return h.Summary == "to bob" })]
	if _, err := f.HandoverTake(t.Context(), bob, api.HandoverRequest{Handover: first.Handover}); err != nil {
		t.Fatal(err)
	}
	if n := f.notices(ada); len(n) != 1 || !strings.Contains(n[0].Text, "bob took your handover") {
		t.Errorf("ada is told %+v", n)
	}
}

func TestToWhomAReviewIsTold(t *testing.T) {
	f := newFixture(t)
	ada, bob, carl := f.join("ada"), f.join("bob"), f.join("carl")
	one, err := f.ReviewRequest(t.Context(), ada, api.ReviewRequestRequest{Subject: "for bob", Reviewer: "bob"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.ReviewRequest(t.Context(), ada, api.ReviewRequestRequest{Subject: "for all"}); err != nil {
		t.Fatal(err)
	}
	for a, n := range map[*room.Actor]int{&ada: 0, &bob: 2, &carl: 1} {
		if got := f.notices(*a); len(got) != n {
			t.Errorf("%s is told %+v, want %d", a.Session, got, n)
		}
	}
	if _, err := f.ReviewAnswer(t.Context(), bob, api.ReviewAnswerRequest{Review: one.Review.Short, Verdict: api.Approved}); err != nil {
		t.Fatal(err)
	}
	if got := f.notices(ada); len(got) != 1 || got[0].Kind != api.NoticeAnswer || !strings.Contains(got[0].Text, "approved") {
		t.Errorf("ada is told %+v; want the answer", got)
	}
}
