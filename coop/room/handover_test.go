package room_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/room"
	"github.com/comity-dev/comity/internal/vfs/vfstest"
)

func (f *fixture) publish(a room.Actor, req api.HandoverPublishRequest) api.HandoverReply {
	f.Helper()
	reply, err := f.HandoverPublish(f.Context(), a, req)
	if err != nil {
		f.Fatalf("%s publishes: %v", a.Session, err)
	}
	return reply
}

func (f *fixture) offered() []string {
	f.Helper()
	list, err := f.HandoverList(f.Context(), room.Actor{}, api.HandoverListRequest{})
	if err != nil {
		f.Fatal(err)
	}
	var out []string
	for _, h := range list.Handovers {
		out = append(out, h.Summary)
	}
	return out
}

func TestHandoverLife(t *testing.T) {
	f := newFixtureOn(t, vfstest.New(), nil)
	ada, bob, carl := f.join("ada"), f.join("bob"), f.join("carl")
	h := f.publish(ada, api.HandoverPublishRequest{Body: "# What is left\n\nall of it\n", Name: "n", Issue: "#7"})
	if h.Handover.State != "offered" || h.Handover.From != "ada" || h.Handover.Summary != "What is left" || h.Handover.Branch != "main" || h.Durability != api.Synced {
		t.Errorf("published %+v", h)
	}
	if again := f.publish(ada, api.HandoverPublishRequest{Body: "# What is left\r\n\r\nall of it"}); !again.Already || again.Handover.Handover != h.Handover.Handover {
		t.Errorf("the same text again = %+v; want the same handover, already offered", again)
	}
	byBob := f.publish(bob, api.HandoverPublishRequest{Body: "# What is left\n\nall of it\n"})
	if byBob.Already || len(byBob.Handover.Publications) != 2 {
		t.Errorf("the same text by another = %+v; want a second offer", byBob)
	}
	req := api.HandoverRequest{Handover: h.Handover.Short}
	taken, err := f.HandoverTake(t.Context(), carl, req)
	if err != nil || taken.Handover.State != "taken" || taken.Handover.Body == "" {
		t.Fatalf("take = %+v, %v; want both offers taken, with the text", taken, err)
	}
	if again, err := f.HandoverTake(t.Context(), carl, req); err != nil || !again.Already {
		t.Errorf("take again = %+v, %v; want already", again, err)
	}
	_, err = f.HandoverTake(t.Context(), bob, req)
	if e := wantCode(t, "take of a taken one", err, api.CodeConflict); !strings.Contains(e.Message, "carl") {
		t.Errorf("message %q does not name carl", e.Message)
	}
	f.reopen()
	req.Again = true
	if both, err := f.HandoverTake(t.Context(), bob, req); err != nil || len(both.Handover.Takings) != 2 {
		t.Errorf("take with again = %+v, %v; want two takings", both, err)
	}
	if n := f.offered(); len(n) != 0 {
		t.Errorf("still offered: %v", n)
	}
	anew := f.publish(ada, api.HandoverPublishRequest{Body: "# What is left\n\nall of it\n"})
	if anew.Already || anew.Handover.State != "offered" {
		t.Errorf("offered anew = %+v", anew)
	}
	req.Again = false
	if got, err := f.HandoverTake(t.Context(), carl, req); err != nil || got.Already || got.Handover.State != "taken" {
		t.Errorf("take of the new offer = %+v, %v", got, err)
	}
}

func TestHandoverDeclinedAndWithdrawn(t *testing.T) {
	f := newFixture(t)
	ada, bob, carl := f.join("ada"), f.join("bob"), f.join("carl")
	toBob := api.HandoverRequest{Handover: f.publish(ada, api.HandoverPublishRequest{Body: "for bob", To: "bob"}).Handover.Handover, Reason: "no time"}
	toAll := api.HandoverRequest{Handover: f.publish(ada, api.HandoverPublishRequest{Body: "for all"}).Handover.Handover}
	for _, req := range []api.HandoverRequest{toBob, toAll} {
		for i := range 2 {
			got, err := f.HandoverDecline(t.Context(), bob, req)
			if err != nil || got.Already != (i == 1) || len(got.Handover.Declines) != 1 || got.Handover.Declines[0].Reason != req.Reason {
				t.Errorf("decline = %+v, %v", got, err)
			}
		}
	}
	if got := f.offered(); !slices.Equal(got, []string{"for all"}) {
		t.Errorf("offered %v; want the one that was not for bob alone", got)
	}
	if n := f.notices(ada); len(n) != 2 || !strings.Contains(n[0].Text, "no time") {
		t.Errorf("ada is told %+v", n)
	}
	_, err := f.HandoverWithdraw(t.Context(), carl, toAll)
	wantCode(t, "withdraw by another", err, api.CodeNotOwn)
	for i := range 2 {
		if got, err := f.HandoverWithdraw(t.Context(), ada, toAll); err != nil || got.Already != (i == 1) || got.Handover.State != "withdrawn" {
			t.Errorf("withdraw = %+v, %v", got, err)
		}
	}
	_, err = f.HandoverTake(t.Context(), carl, toAll)
	wantCode(t, "take of a withdrawn one", err, api.CodeConflict)
	_, err = f.HandoverDecline(t.Context(), carl, toAll)
	wantCode(t, "decline of a withdrawn one", err, api.CodeConflict)
	if n := len(f.offered()); n != 0 {
		t.Errorf("%d are offered", n)
	}
}

func TestHandoverNames(t *testing.T) {
	f := newFixture(t)
	ada := f.join("ada")
	byPrefix := map[string][]string{}
	for i := 0; i < 400 && len(byPrefix["two"]) == 0; i++ { // two texts whose digests begin alike
		id := event.HandoverID(fmt.Sprintf("text %d\n", i))
		if byPrefix[id[:4]] = append(byPrefix[id[:4]], fmt.Sprintf("text %d", i)); len(byPrefix[id[:4]]) == 2 {
			byPrefix["two"] = append(byPrefix[id[:4]], id[:4])
		}
	}
	if two := byPrefix["two"]; len(two) == 3 {
		f.publish(ada, api.HandoverPublishRequest{Body: two[0]})
		f.publish(ada, api.HandoverPublishRequest{Body: two[1]})
		_, err := f.HandoverShow(t.Context(), ada, api.HandoverRequest{Handover: two[2]})
		wantCode(t, "a beginning that two have", err, api.CodeAmbiguous)
	} else {
		t.Error("no two texts with digests that begin alike: choose more")
	}
	for _, word := range []string{"", "0", "zzzz", "ffffffff", strings.Repeat("0", 32)} {
		_, err := f.HandoverTake(t.Context(), ada, api.HandoverRequest{Handover: word})
		wantCode(t, fmt.Sprintf("take of %q", word), err, api.CodeUnknownHandover)
	}
}

func TestOneTakerWins(t *testing.T) {
	f := newFixtureOn(t, vfstest.New(), nil)
	ada := f.join("ada")
	h := f.publish(ada, api.HandoverPublishRequest{Body: "take me"})
	var wg sync.WaitGroup
	errs := make([]error, 16)
	for i := range errs {
		a := f.join(fmt.Sprint("s", i))
		wg.Go(func() {
			_, errs[i] = f.HandoverTake(t.Context(), a, api.HandoverRequest{Handover: h.Handover.Handover})
		})
	}
	wg.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
		} else {
			wantCode(t, "a loser", err, api.CodeConflict)
		}
	}
	if got, err := f.HandoverShow(t.Context(), ada, api.HandoverRequest{Handover: h.Handover.Handover}); won != 1 || err != nil || len(got.Handover.Takings) != 1 {
		t.Errorf("%d have it, %+v; want one", won, got)
	}
}

func TestHandoverText(t *testing.T) {
	f := newFixture(t)
	ada := f.join("ada")
	events := len(f.kinds())
	for name, tt := range map[string]struct {
		body string
		code api.Code
		says string
	}{
		"nothing":        {" \n", api.CodeUsage, "empty"},
		"too long":       {strings.Repeat("x", event.MaxHandoverBytes+6), api.CodeBound, ": 7 too many"}, // with the newline at its end
		"a control code": {"a\x1b[31m", api.CodeUsage, "control character"},
		"not UTF-8":      {"a\xff", api.CodeUsage, "UTF-8"},
		// Each tab is two bytes in the event.
		"too long if quoted": {strings.Repeat("\t", event.MaxHandoverBytes-2) + "x", api.CodeBound, "too many"},
	} {
		_, err := f.HandoverPublish(t.Context(), ada, api.HandoverPublishRequest{Body: tt.body})
		e := wantCode(t, name, err, tt.code)
		if !strings.Contains(e.Message, tt.says) || e.Hint == "" {
			t.Errorf("%s: %q (%q); want it to say %q and what to do", name, e.Message, e.Hint, tt.says)
		}
	}
	if n := len(f.kinds()); n != events {
		t.Errorf("%d events written", n-events)
	}
	if h := f.publish(ada, api.HandoverPublishRequest{Body: strings.Repeat("x", event.MaxHandoverBytes-1)}); h.Handover.Bytes != event.MaxHandoverBytes {
		t.Errorf("%d bytes; want the most", h.Handover.Bytes)
	}
}

func TestHandoverDerivedAndRedacted(t *testing.T) {
	f := newFixture(t)
	ada := f.join("ada")
	f.claim(ada, "src/")
	secret := "ghp_" + strings.Repeat("A1b2", 9)
	h := f.publish(ada, api.HandoverPublishRequest{Body: "use " + secret, Derive: true, To: "bob " + secret})
	body := h.Handover.Body
	for _, want := range []string{"use [redacted:github-token]", "intent: ada's work", "branch: main", "claims: src/", "changed files: 2", "  - src/a.go"} {
		if !strings.Contains(body, want) {
			t.Errorf("the text lacks %q:\n%s", want, body)
		}
	}
	if !slices.Equal(h.Redacted, []string{"github-token"}) || !slices.Equal(h.Handover.Files, []string{"src/a.go", "src/b.go"}) || h.Handover.Handover != event.HandoverID(body) {
		t.Errorf("handover %+v; want the secret named, the files, and the digest of the clean text", h)
	}
	if _, err := f.ReviewRequest(t.Context(), ada, api.ReviewRequestRequest{Subject: "s " + secret, Body: secret}); err != nil {
		t.Fatal(err)
	}
	f.openSession(ada, api.SessionOpenRequest{Name: "ada", Intent: "i " + secret, Task: secret}, nil)
	if _, err := f.Claim(t.Context(), ada, api.ClaimRequest{Scope: []string{"docs/"}, Intent: secret, Issue: "x " + secret}); err != nil {
		t.Fatal(err)
	}
	page, err := f.Log(t.Context(), ada, api.LogRequest{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range page.Events {
		if strings.Contains(fmt.Sprintf("%s %s", e.Text, e.Body), secret) {
			t.Errorf("event %s has the secret", e.Kind)
		}
	}
}
