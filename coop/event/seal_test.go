package event_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/scope"
)

func wantBound(t *testing.T, body event.Body, field string, limit, got int, unit string) {
	t.Helper()
	k := testKey(t)
	_, err := event.Seal(k, testHeader(t, k), body)
	var b *event.BoundError
	if !errors.As(err, &b) {
		t.Errorf("Seal(%T) = %v, want a BoundError of %s", body, err, field)
		return
	}
	if b.Kind != body.Kind() || b.Field != field || b.Limit != limit || b.Got != got || b.Unit != unit {
		t.Errorf("Seal(%T) = %+v, want field %s, limit %d, got %d %s", body, b, field, limit, got, unit)
	}
	if text := err.Error(); !strings.Contains(text, field) || limit > 0 && !strings.Contains(text, fmt.Sprintf("limit %d: %d too many", limit, got-limit)) {
		t.Errorf("error %q does not name field, limit and by how much", text)
	}
}

// with changes a copy of the fixture's body of type T.
func with[T event.Body](t *testing.T, change func(*T)) event.Body {
	t.Helper()
	var zero T
	b := bodies(t)[zero.Kind()].(T)
	change(&b)
	return b
}

func TestSealRefusesWhatPeersWouldNotRead(t *testing.T) {
	long := func(n int) string { return strings.Repeat("x", n) }
	keys := func(n int) []event.Key {
		l := make([]event.Key, n)
		for i := range l {
			l[i] = event.Key{Stream: streamA, Seq: uint64(i + 1)}
		}
		return l
	}
	type opened = event.SessionOpened
	for _, tt := range []struct {
		body       event.Body
		field      string
		limit, got int
		unit       string
	}{
		{with(t, func(b *opened) { b.Info.Branch = long(300) }), "info.branch", 256, 300, "bytes"},
		{with(t, func(b *opened) { b.Info.Intent = long(513) }), "info.intent", 512, 513, "bytes"},
		{with(t, func(b *opened) { b.Info.Client = "" }), "info.client", 0, 0, ""},
		{with(t, func(b *opened) { b.Info.Checkout = "" }), "info.checkout", 0, 0, ""},
		{with(t, func(b *opened) { b.Info.Head = "HEAD" }), "info.head", 0, 0, ""},
		{with(t, func(b *opened) { b.Info.Host = "a\nb" }), "info.host", 0, 0, ""},
		{with(t, func(b *opened) { b.Info.By = "\xff" }), "info.by", 0, 0, ""},
		{with(t, func(b *event.SessionClosed) { b.Session = long(65) }), "session", 64, 65, "bytes"},
		{with(t, func(b *event.SessionClosed) { b.Reason = "" }), "reason", 0, 0, ""},
		{with(t, func(b *event.ClaimAcquired) { b.Mode = "" }), "mode", 0, 0, ""},
		{with(t, func(b *event.ClaimAcquired) { b.Mode = "shared" }), "mode", 0, 0, ""},
		{with(t, func(b *event.ClaimAcquired) { b.Scope = nil }), "scope", 0, 0, ""},
		{with(t, func(b *event.ClaimAcquired) { b.Fences = keys(129) }), "fences", 128, 129, "entries"},
		{with(t, func(b *event.ClaimAcquired) { b.Breaks = keys(1); b.Fences = keys(0) }), "breaks", 0, 0, ""},
		{with(t, func(b *event.ClaimAcquired) { b.Reason = "" }), "reason", 0, 0, ""},
		{with(t, func(b *event.ClaimReleased) { b.Claim = event.Key{} }), "claim", 0, 0, ""},
		{with(t, func(b *event.ClaimReleased) { b.Fence = &event.Key{} }), "fence", 0, 0, ""},
		{with(t, func(b *event.HandoverPublished) { b.Handover.Body = long(32770) }), "handover.body", 32768, 32770, "bytes"},
		{with(t, func(b *event.HandoverPublished) { b.To = long(65) }), "to", 64, 65, "bytes"},
		{with(t, func(b *event.HandoverPublished) { b.Handover.ID = strings.Repeat("0", 32) }), "handover.id", 0, 0, ""},
		{with(t, func(b *event.HandoverPublished) { b.Handover.Files = []string{"a", "/b"} }), "handover.files", 0, 0, ""},
		{with(t, func(b *event.HandoverPublished) { b.Handover.Files = []string{long(300)} }), "handover.files", 256, 300, "bytes"},
		{with(t, func(b *event.HandoverConsumed) { b.Publications = nil }), "publications", 0, 0, ""},
		{with(t, func(b *event.HandoverDeclined) { b.Publications = keys(66) }), "publications", 64, 66, "entries"},
		{with(t, func(b *event.HandoverWithdrawn) { b.Publication = event.Key{Stream: "x", Seq: 1} }), "publication", 0, 0, ""},
		{with(t, func(b *event.ReviewRequested) { b.Subject = "" }), "subject", 0, 0, ""},
		{with(t, func(b *event.ReviewRequested) { b.Body = long(4097) }), "body", 4096, 4097, "bytes"},
		{with(t, func(b *event.ReviewAnswered) { b.Verdict = "lgtm" }), "verdict", 0, 0, ""},
		{with(t, func(b *event.ReviewAnswered) { b.Note = long(2050) }), "note", 2048, 2050, "bytes"},
		{with(t, func(b *event.ReviewClosed) { b.Request = event.Key{} }), "request", 0, 0, ""},
		{with(t, func(b *event.StreamSucceeded) { b.Run = 0 }), "run", 0, 0, ""},
		{with(t, func(b *event.StreamSucceeded) { b.Run = 1 << 53 }), "run", 0, 0, ""},
		{with(t, func(b *event.StreamSucceeded) { b.Sessions = []string{"a b"} }), "sessions", 0, 0, ""},
		{with(t, func(b *event.StreamCheckpoint) { b.Covers = nil }), "covers", 0, 0, ""},
		{with(t, func(b *event.StreamCheckpoint) { b.Covers = b.Covers[:1] }), "kept", 0, 0, ""},
		{with(t, func(b *event.StreamCheckpoint) {
			b.Kept = map[ident.Stream][]event.Range{b.Covers[0]: make([]event.Range, 2050)}
		}), "kept", 2048, 2050, "ranges"},
		{with(t, func(b *event.StreamCheckpoint) {
			b.Kept = map[ident.Stream][]event.Range{b.Covers[0]: {{First: 2, Last: 1}}}
		}), "kept", 0, 0, ""},
		{event.Opaque{Name: "new", Raw: []byte(`{"kind":"new"}`)}, "body", 0, 0, ""},
		{event.Unreadable{Name: "session_closed", Raw: []byte(`{"kind":"session_closed"}`)}, "body", 0, 0, ""},
		{&event.SessionClosed{Session: "s", Reason: "r"}, "body", 0, 0, ""},
	} {
		wantBound(t, tt.body, tt.field, tt.limit, tt.got, tt.unit)
	}
	k := testKey(t)
	var b *event.BoundError
	if _, err := event.Seal(k, testHeader(t, k), nil); !errors.As(err, &b) {
		t.Errorf("Seal(nil) = %v, want a BoundError", err)
	}
}

func TestSealRefusesAHeaderOutOfBounds(t *testing.T) {
	k := testKey(t)
	body := bodies(t)[event.KindSessionClosed]
	for field, change := range map[string]func(*event.Header){
		"at":      func(h *event.Header) { h.At = 1 << 53 },
		"lamport": func(h *event.Header) { h.Lamport = 0 },
		"seq":     func(h *event.Header) { h.Seq = 0 },
		"prev":    func(h *event.Header) { h.Prev = hash64 },
		"repo":    func(h *event.Header) { h.Repo = "x" },
		"stream":  func(h *event.Header) { h.Stream = streamA }, // not the key's node
	} {
		h := testHeader(t, k)
		change(&h)
		_, err := event.Seal(k, h, body)
		var b *event.BoundError
		if !errors.As(err, &b) || b.Field != field {
			t.Errorf("%s out of bounds: Seal = %v", field, err)
		}
	}
	for _, change := range []func(*event.Header){
		func(h *event.Header) { h.At = -1 << 53 },
		func(h *event.Header) { h.Lamport = 1 << 53 },
		func(h *event.Header) { h.Seq, h.Prev = 1<<53, hash64 },
		func(h *event.Header) { h.Seq = 2 },
		func(h *event.Header) { h.Seq, h.Prev = 2, strings.ToUpper(hash64) },
		func(h *event.Header) { h.Stream = "x" },
	} {
		h := testHeader(t, k)
		change(&h)
		if _, err := event.Seal(k, h, body); err == nil {
			t.Errorf("Seal with header %+v succeeded", h)
		}
	}
}

// A handover within its own bound can still be over that of an event: escapes
// count there.
func TestSealTellsTheEventFromItsField(t *testing.T) {
	k := testKey(t)
	text := strings.Repeat("\n", 32768)
	body := event.HandoverPublished{Session: "s-1", Handover: event.Handover{ID: event.HandoverID(text), Body: text}}
	_, err := event.Seal(k, testHeader(t, k), body)
	var large *event.TooLargeError
	if !errors.As(err, &large) || large.Kind != event.KindHandoverPublished || large.Limit != 49152 || large.Got <= 65536 {
		t.Fatalf("Seal = %v, want a TooLargeError", err)
	}
	if want := fmt.Sprintf("sealed event: %d bytes, limit 49152: %d too many", large.Got, large.Got-49152); !strings.Contains(err.Error(), want) {
		t.Errorf("error %q, want %q in it", err, want)
	}
	// Exactly at the limit it is sealed; one byte more is refused.
	over := large.Got - 49152
	for _, tt := range []struct {
		newlines int
		fits     bool
	}{{32768 - over, true}, {32768 - over + 1, false}} {
		// A newline costs two bytes, a letter one: each swapped saves one.
		text := strings.Repeat("\n", tt.newlines) + strings.Repeat("x", 32768-tt.newlines)
		body.Handover.Body, body.Handover.ID = text, event.HandoverID(text)
		e, err := event.Seal(k, testHeader(t, k), body)
		switch {
		case tt.fits && (err != nil || len(e.Raw) != 49152):
			t.Errorf("at the limit: %v", err)
		case !tt.fits && (!errors.As(err, &large) || large.Got != 49153):
			t.Errorf("one byte over: %v", err)
		}
	}
}

func TestSealBringsListsIntoOrder(t *testing.T) {
	k := testKey(t)
	a, b := event.Key{Stream: streamA, Seq: 9}, event.Key{Stream: streamA, Seq: 10}
	given := []event.Key{b, a, b, a}
	mixed := event.ClaimAcquired{
		Session: "s-1", Mode: event.ModeExclusive, Scope: bodies(t)[event.KindClaimAcquired].(event.ClaimAcquired).Scope,
		Fences: given, Breaks: []event.Key{b, a}, Reason: "gone",
	}
	e, err := event.Seal(k, testHeader(t, k), mixed)
	if err != nil {
		t.Fatal(err)
	}
	if got := e.Body.(event.ClaimAcquired); !slices.Equal(got.Fences, []event.Key{a, b}) || !slices.Equal(got.Breaks, []event.Key{a, b}) {
		t.Errorf("sealed fences %v, breaks %v", got.Fences, got.Breaks)
	}
	if !slices.Equal(given, []event.Key{b, a, b, a}) {
		t.Error("Seal changed the caller's list")
	}
	e, err = event.Seal(k, testHeader(t, k), event.StreamSucceeded{Record: strings.Repeat("0", 32), Run: 1, Sessions: []string{"b", "a", "b"}})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(e.Raw), `"sessions":["a","b"],"streams":[]`) {
		t.Errorf("sealed %s", e.Raw)
	}
}

func TestSealLeavesOutWhatIsUnsaid(t *testing.T) {
	k := testKey(t)
	set, err := scope.ParseSet([]string{"path:a"})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		body event.Body
		want string
	}{
		{event.SessionOpened{Info: event.SessionInfo{Session: "s", Client: "cli", Checkout: "00112233445566aa"}},
			`{"info":{"checkout":"00112233445566aa","client":"cli","session":"s"},"kind":"session_opened"}`},
		{event.ClaimAcquired{Session: "s", Mode: event.ModeAdvisory, Scope: set, Fences: []event.Key{}},
			`{"kind":"claim_acquired","mode":"advisory","scope":["path:a"],"session":"s"}`},
		{event.HandoverPublished{Session: "s", Handover: event.Handover{ID: event.HandoverID("x"), Body: "x", Files: []string{}}},
			`{"handover":{"body":"x","id":"` + event.HandoverID("x") + `"},"kind":"handover_published","session":"s"}`},
		{event.ReviewRequested{Session: "s", Subject: "look"}, `{"kind":"review_requested","session":"s","subject":"look"}`},
		{event.StreamSucceeded{Record: strings.Repeat("0", 32), Run: 1},
			`{"kind":"stream_succeeded","record":"00000000000000000000000000000000","run":1,"sessions":[],"streams":[]}`},
		{event.StreamCheckpoint{Covers: []ident.Stream{streamA}, Digest: hash64},
			`{"covers":["` + streamA + `"],"digest":"` + hash64 + `","kept":{},"kind":"stream_checkpoint"}`},
	} {
		e, err := event.Seal(k, testHeader(t, k), tt.body)
		if err != nil {
			t.Errorf("Seal(%T): %v", tt.body, err)
			continue
		}
		if !strings.Contains(string(e.Raw), `"body":`+tt.want+`,"lamport"`) {
			t.Errorf("sealed %s\nwant the body %s", e.Raw, tt.want)
		}
	}
}

func TestSealedEventSharesNothingWithTheBody(t *testing.T) {
	k := testKey(t)
	dirty, fence := true, event.Key{Stream: streamB, Seq: 1}
	kept := map[ident.Stream][]event.Range{streamA: {{First: 1, Last: 2}}}
	for _, tt := range []struct {
		body   event.Body
		change func()
	}{
		{with(t, func(b *event.SessionOpened) { b.Info.Dirty = &dirty }), func() { dirty = false }},
		{with(t, func(b *event.ClaimReleased) { b.Fence = &fence }), func() { fence.Seq = 2 }},
		{event.StreamCheckpoint{Covers: []ident.Stream{streamA}, Kept: kept, Digest: hash64}, func() { kept[streamA][0].Last = 9; delete(kept, streamA) }},
	} {
		e, err := event.Seal(k, testHeader(t, k), tt.body)
		if err != nil {
			t.Fatal(err)
		}
		tt.change()
		again, err := event.Parse(e.Raw)
		if err != nil {
			t.Fatal(err)
		}
		if d := diff(again.Body, e.Body); d != "" {
			t.Errorf("%T changed with the caller's value:\n%s", tt.body, d)
		}
	}
}

func TestDefaultLimitsAreConsistent(t *testing.T) {
	l := event.DefaultLimits()
	if l.Expiry < 3*l.Heartbeat {
		t.Error("expiry under three heartbeats")
	}
	if l.EventBatch > l.LinkMessage || event.MaxEventBytes > l.EventBatch {
		t.Error("an event does not fit a batch, or a batch a message")
	}
	if l.StreamsTrigger >= l.Streams || l.NodeTrigger >= l.NodeStreams || l.NodeRunsTrigger >= l.NodeRuns ||
		l.NodeSizeTrigger >= l.NodeSize || l.StatesTrigger >= l.NodeStates || l.Pending > l.PendingTotal {
		t.Error("a trigger is not below its limit")
	}
	if l.NodeStreams > l.NodeRuns || l.NodeRuns > l.Streams/4 || l.NodeSize > l.ReloadBytes/4 {
		t.Error("one node may take more than a quarter")
	}
}

func TestSealBringsAScopeIntoOrder(t *testing.T) {
	k := testKey(t)
	entry := func(stored string) scope.Entry {
		e, err := scope.Parse(stored)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	given := scope.Set{entry("path:b"), entry("path:a"), entry("path:b")}
	e, err := event.Seal(k, testHeader(t, k), event.ClaimAcquired{Session: "s", Mode: event.ModeAdvisory, Scope: given})
	if err != nil {
		t.Fatal(err)
	}
	if got := e.Body.(event.ClaimAcquired).Scope.Strings(); !slices.Equal(got, []string{"path:a", "path:b"}) || given[0] != entry("path:b") {
		t.Errorf("sealed scope %v of %v", got, given)
	}
	var bound *event.BoundError
	body := event.ClaimAcquired{Session: "s", Mode: event.ModeAdvisory, Scope: scope.Set{{}}}
	if _, err := event.Seal(k, testHeader(t, k), body); !errors.As(err, &bound) || bound.Field != "scope" {
		t.Errorf("with an entry that covers nothing: %v", err)
	}
}
