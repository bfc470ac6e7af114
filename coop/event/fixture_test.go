package event_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/scope"
)

var (
	hash64 = strings.Repeat("0f", 32)
	oid40  = strings.Repeat("ab", 20)
)

// testSeed is public: bytes 0 to 31. No node may ever use it.
func testSeed() []byte {
	seed := make([]byte, 32)
	for i := range seed {
		seed[i] = byte(i)
	}
	return seed
}

func testKey(t testing.TB) *ident.Key {
	t.Helper()
	k, err := ident.KeyFromSeed(testSeed())
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// testHeader is that of the first event of a stream of k.
func testHeader(t testing.TB, k *ident.Key) event.Header {
	t.Helper()
	repo, err := ident.RepositoryFromRoot(oid40)
	if err != nil {
		t.Fatal(err)
	}
	return event.Header{
		Repo:    repo,
		Stream:  testStream(t, k, "00000000000000aa"),
		Seq:     1,
		Lamport: 42,
		At:      1_800_000_000,
	}
}

func testStream(t testing.TB, k *ident.Key, instance ident.InstanceID) ident.Stream {
	t.Helper()
	repo, err := ident.RepositoryFromRoot(oid40)
	if err != nil {
		t.Fatal(err)
	}
	return ident.NewStream(k.Node(), k.Runtime(repo), instance)
}

// bodies holds one body of each kind, every optional field set.
func bodies(t testing.TB) map[string]event.Body {
	t.Helper()
	k := testKey(t)
	a, b := testStream(t, k, "00000000000000aa"), testStream(t, k, "00000000000000bb")
	set, err := scope.ParseSet([]string{"dir:coop/event", "path:go.mod"})
	if err != nil {
		t.Fatal(err)
	}
	dirty, fence := true, event.Key{Stream: b, Seq: 9}
	text := "# Where it stands\n\nThe café parser reads \"quotes\",\ttabs and\r\x01.\n"
	all := []event.Body{
		event.SessionOpened{Info: event.SessionInfo{
			Session: "s-0123456789ab", Client: "claude-code", By: "Ada <ada@example.org>", Host: "anvil",
			Checkout: k.Checkout("/src/project/.git"), Branch: "feature/événement", Head: oid40,
			Intent: "parse events\nin one pass", Issue: "#12", Task: "T-1", Worker: "w1", Context: "rev:3", Dirty: &dirty,
		}},
		event.SessionClosed{Session: "s-0123456789ab", Reason: "owner-gone"},
		event.ClaimAcquired{
			Session: "s-0123456789ab", Scope: set, Mode: event.ModeExclusive, Intent: "rewrite it", Issue: "#12",
			Fences: []event.Key{{Stream: a, Seq: 3}, {Stream: b, Seq: 9}, {Stream: b, Seq: 10}},
			Breaks: []event.Key{{Stream: b, Seq: 10}}, Reason: "its terminal is gone",
		},
		event.ClaimReleased{Claim: event.Key{Stream: a, Seq: 3}, Session: "s-0123456789ab", Reason: "fenced", Fence: &fence, By: "Ada"},
		event.HandoverPublished{Session: "s-0123456789ab", To: "codex", Handover: event.Handover{
			ID: event.HandoverID(text), Body: text, Task: "T-1", Issue: "#12", Milestone: "M1", Branch: "main", Head: oid40,
			CreatedAt: "2027-01-15T08:00:00Z", Name: "handover.md", Files: []string{"coop/event/parse.go", "go.mod"},
		}},
		event.HandoverConsumed{Handover: event.HandoverID(text), Publications: []event.Key{{Stream: a, Seq: 4}}, Session: "s-0123456789ab"},
		event.HandoverDeclined{Handover: event.HandoverID(text), Publications: []event.Key{{Stream: a, Seq: 4}}, Session: "s-0123456789ab", Reason: "not mine"},
		event.HandoverWithdrawn{Publication: event.Key{Stream: a, Seq: 4}, Session: "s-0123456789ab"},
		event.ReviewRequested{
			Session: "s-0123456789ab", Subject: "event: one pass", Scope: set, Branch: "main", Commit: oid40, Tree: hash64,
			Reviewer: "gemini", Body: "look at the codec", Issue: "#12",
		},
		event.ReviewAnswered{Request: event.Key{Stream: a, Seq: 5}, Session: "s-0123456789ab", Verdict: event.VerdictChangesRequested, Note: "see parse.go", Commit: oid40, Tree: hash64},
		event.ReviewClosed{Request: event.Key{Stream: a, Seq: 5}, Session: "s-0123456789ab", Reason: "merged"},
		event.StreamSucceeded{Record: strings.Repeat("5a", 16), Run: 2, Sessions: []string{"s-0123456789ab", "s-ba9876543210"}, Streams: []ident.Stream{a}},
		event.StreamCheckpoint{
			Covers: []ident.Stream{a, b},
			Kept:   map[ident.Stream][]event.Range{a: {{First: 1, Last: 1}, {First: 3, Last: 7}}, b: {{First: 2, Last: 2}}},
			Digest: hash64,
		},
	}
	byKind := map[string]event.Body{}
	for _, b := range all {
		byKind[b.Kind()] = b
	}
	return byKind
}

// sameScope compares sets by their stored form.
var sameScope = cmp.Comparer(func(a, b scope.Set) bool { return cmp.Equal(a.Strings(), b.Strings()) })

func diff(a, b any) string { return cmp.Diff(a, b, sameScope) }

func TestSealParsesBackEqual(t *testing.T) {
	k := testKey(t)
	for kind, body := range bodies(t) {
		e, err := event.Seal(k, testHeader(t, k), body)
		if err != nil {
			t.Errorf("Seal(%s): %v", kind, err)
			continue
		}
		got, err := event.Parse(e.Raw)
		if err != nil {
			t.Errorf("Parse(Seal(%s)): %v", kind, err)
			continue
		}
		if d := diff(e, got); d != "" {
			t.Errorf("%s: parsed differs from sealed:\n%s", kind, d)
		}
		if d := diff(body, got.Body); d != "" {
			t.Errorf("%s: body changed:\n%s", kind, d)
		}
		if !got.Verify() {
			t.Errorf("%s: sealed event does not verify", kind)
		}
	}
}
