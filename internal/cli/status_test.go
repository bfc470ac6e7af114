package cli_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/internal/httpapi"
	"github.com/google/go-cmp/cmp"
)

func picture() api.Status {
	return api.Status{
		Session: "s-1",
		Sessions: []api.Session{
			{Session: "s-1", ID: "n-r/s-1", Own: true, Client: "claude", By: "ada", Host: "brook", Branch: "main", Intent: "split the lexer", State: api.SessionOpen, Live: api.LiveOwn, AgeMS: 190_000, IdleMS: 4000, Claims: 1},
			{Session: "s-2", ID: "m-r/s-2", Client: "codex", By: "bob", Host: "fen", Branch: "dev", State: api.SessionOpen, Live: api.LiveUnknown, AgeMS: 7_200_000},
		},
		Claims: []api.Claim{
			{Short: "972572/4", Claim: keyA, Standing: api.StandingHeld, Mode: api.ModeExclusive, Scope: []string{"dir:src"}, Session: "s-1", Client: "claude", Epoch: 4, Own: true, Intent: "split the lexer", AgeMS: 60_000},
			{Short: "0aaf17/17", Claim: keyB, Standing: api.StandingConflicted, By: keyA, Mode: api.ModeExclusive, Scope: []string{"path:src/a.go"}, Session: "s-2", Client: "codex", Epoch: 17, AgeMS: 5000},
		},
		Waits:     []api.Wait{{Session: "s-3", Scope: []string{"dir:src"}, For: []string{"s-1"}, Place: 1, AgeMS: 2000}},
		Handovers: []api.Handover{{Short: "145b99cb", State: "offered", From: "s-2", Client: "codex", To: "ada", Branch: "dev", Summary: "the parser is half done", AgeMS: 90_000}},
		Reviews:   []api.Review{{Short: "0aaf17/19", State: "open", Subject: "look at the fold", Session: "s-2", Reviewer: "ada", Branch: "dev", Scope: []string{"dir:fold"}, AgeMS: 1000}},
		Notices:   2,
		Cursor:    "c1",
	}
}

const pictured = `sessions 2
*  s-1  claude  ada@brook  main  1 claim  opened 3m ago  idle 4s
     split the lexer
   s-2  codex  bob@fen  dev  0 claims  liveness unknown  opened 2h ago
claims 2
*  972572/4   held        src/  s-1 (claude)  epoch 4  1m ago
     split the lexer
   0aaf17/17  conflicted  by 972572/4  src/a.go  s-2 (codex)  epoch 17  5s ago
waiting 1
   1.  s-3  src/  for s-1  2s ago
handovers 1
   145b99cb  offered  from s-2 (codex)  to ada  dev  1m ago
     the parser is half done
reviews 1
   0aaf17/19  open  by s-2  for ada  dev  fold/  1s ago
     look at the fold
2 notices for you: comity notices
`

func TestStatus(t *testing.T) {
	f := newFake(t).serve()
	f.replies[api.OpStatus] = picture()
	for _, args := range [][]string{{"status"}, {}} {
		r := f.run(args...)
		if diff := cmp.Diff(pictured, r.out); diff != "" || r.code != 0 || r.errout != "" {
			t.Errorf("%v: %d %q (-want +got)\n%s", args, r.code, r.errout, diff)
		}
	}
}

// What the log no longer shows is counted: also where nothing else is to be said.
func TestStatusCountsWhatWasDropped(t *testing.T) {
	f := newFake(t).serve()
	f.replies[api.OpStatus] = api.Status{Dropped: 3, Compacted: 1}
	want := "dropped:  3 streams of ended runs, 1 event; see comity doctor\n"
	if r := f.run("status"); !strings.HasSuffix(r.out, want) || r.code != 0 {
		t.Errorf("%+v, want it to end with %q", r, want)
	}
}

func TestStatusAlone(t *testing.T) {
	f := newFake(t).serve()
	if r := f.run(); r.out != "nobody is here: no sessions, claims, handovers or reviews\n" {
		t.Errorf("%+v", r)
	}
}

// What cannot be read or written now is said first, and never as "nothing".
func TestStatusSaysHowFarItCanBeBelieved(t *testing.T) {
	f := newFake(t).serve()
	f.replies[api.OpStatus] = api.Status{ReadOnly: "the disk is full", Damage: 2, Streams: []api.Stream{{Stream: "st-1", Damaged: true}, {Stream: "st-2", Opaque: 1}, {Stream: "st-3"}}}
	want := `read-only:  the disk is full
damaged:  2 places in the journal; comity doctor names them
incomplete:  st-1  events are missing from it
incomplete:  st-2  1 event of a newer comity
`
	if r := f.run(); !strings.HasPrefix(r.out, want) {
		t.Errorf("%s", r.out)
	}
	f.errs[api.OpStatus] = api.Errorf(api.CodePoisoned, "the journal stopped after a disk error")
	if r := f.run(); r.code != 1 || strings.Contains(r.out, "nobody") || r.out != "" {
		t.Errorf("%+v", r)
	}
	f.errs[api.OpSessionList] = f.errs[api.OpStatus]
	if r := f.run("session", "list"); r.code != 1 || strings.Contains(r.errout, "no sessions") {
		t.Errorf("%+v", r)
	}
}

// Followed, a picture is shown again when something in it has changed, which an
// age is not.
func TestFollowedStatusShowsEachChangeOnce(t *testing.T) {
	f := newFake(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var asked atomic.Int32
	f.ops[api.OpStatus] = func(context.Context, httpapi.Caller, []byte) (any, error) {
		n := asked.Add(1)
		st := picture()
		st.Cursor = fmt.Sprintf("c%d", n)
		st.Sessions[0].AgeMS += int64(n) * 60_000
		if n >= 3 { // the second picture differs from the first by its ages alone
			st.Claims = st.Claims[:1]
		}
		return st, nil
	}
	f.watch = func(ctx context.Context, _ httpapi.Caller, req api.WatchRequest, emit func(api.Change) error) error {
		if req.After == "c4" { // nothing comes any more: the person leaves
			cancel()
			<-ctx.Done()
			return ctx.Err()
		}
		return emit(api.Change{Cursor: "x"})
	}
	f.serve()
	r := f.runContext(ctx, "status", "--follow")
	if r.code != 0 || r.errout != "" {
		t.Errorf("%d %q", r.code, r.errout)
	}
	if n := strings.Count(r.out, "sessions 2\n"); n != 2 {
		t.Errorf("%d pictures, want 2:\n%s", n, r.out)
	}
}
