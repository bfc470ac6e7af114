package event_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/comity-dev/comity/coop/event"
)

// What follows are the rows of refused.json by what they are about. They are only ever
// added to, behind the ones that there are.

// env is an event of closed with changes of its envelope.
func env(t *testing.T, change map[string]any) string {
	return string(sealJSON(t, closed, func(e map[string]any) {
		for field, v := range change {
			set(e, field, v)
		}
	}))
}

func spellings(t *testing.T) []refusal {
	// By UTF-16 the surrogates of U+1F600 come before U+E000, by UTF-8 behind it.
	first, second := `"`+"\U0001f600"+`":1`, `"`+"\ue000"+`":2`
	sorted := env(t, map[string]any{"\U0001f600": 1, "\ue000": 2})
	if !strings.Contains(sorted, first+","+second) {
		t.Fatal("the names are not side by side")
	}
	deep := string(sealJSON(t, nested(62)))
	good := string(sealJSON(t, closed))
	return []refusal{
		{About: "names sorted by UTF-16", Want: "read", Bytes: sorted},
		{About: "names sorted by UTF-8", Want: "malformed", Bytes: strings.Replace(sorted, first+","+second, second+","+first, 1)},
		{About: "64 levels: the event, its body and 62 lists", Want: "read", Bytes: deep},
		{About: "65 levels", Want: "malformed", Bytes: strings.Replace(deep, "[]", "[[]]", 1)},
		{About: "minus zero", Want: "malformed", Bytes: strings.Replace(good, `"at":1800000000`, `"at":-0`, 1)},
		{About: "an exponent", Want: "malformed", Bytes: strings.Replace(good, `"lamport":42`, `"lamport":42e0`, 1)},
		{About: "a character that is raw where it is escaped", Want: "malformed", Bytes: strings.Replace(good, `"done"`, "\"a\x01\"", 1)},
		{About: "an escape in uppercase", Want: "malformed", Bytes: strings.Replace(good, `"done"`, `"a\u001F"`, 1)},
		{About: "an escape for which there is a shorter one", Want: "malformed", Bytes: strings.Replace(good, `"done"`, `"a\u000a"`, 1)},
		{About: "half of a pair of surrogates", Want: "malformed", Bytes: strings.Replace(good, `"done"`, `"a\ud800"`, 1)},
		{About: "a noncharacter is a character", Want: "read", Bytes: string(sealJSON(t, map[string]any{"kind": "session_closed", "reason": "done", "session": "s-1", "x": "\uffff"}))},
		{About: "a value that is no object", Want: "malformed", Bytes: "[]"},
		{About: "nothing", Want: "malformed", Fill: &fill{}},
	}
}

func nested(lists int) map[string]any {
	var deep any = []any{}
	for range lists - 1 {
		deep = []any{deep}
	}
	body := maps.Clone(closed)
	body["x"] = deep
	return body
}

func envelopes(t *testing.T) []refusal {
	var all []refusal
	row := func(want, about, field string, v any) {
		all = append(all, refusal{About: about, Want: want, Bytes: env(t, map[string]any{field: v})})
	}
	row("read", "an unknown member, signed", "zz", map[string]any{"a": []any{nil, true}})
	row("read", "at below 0", "at", -1)
	row("malformed", "no v", "v", missing{})
	row("malformed", "v is null", "v", nil)
	row("malformed", "v is a string", "v", "1")
	row("version", "v is 0", "v", 0)
	row("malformed", "at is missing", "at", missing{})
	row("malformed", "lamport 0", "lamport", 0)
	row("malformed", "seq is a string", "seq", "1")
	row("identity", "seq below 0", "seq", -1)
	row("malformed", "a hash at seq 1", "prev", hash64)
	row("malformed", "prev is null", "prev", nil)
	for _, prev := range []string{"", hash64[1:], strings.ToUpper(hash64)} {
		all = append(all, refusal{About: "prev at seq 2 that is no hash", Want: "malformed", Bytes: env(t, map[string]any{"seq": 2, "prev": prev})})
	}
	all = append(all, refusal{About: "a hash at seq 2", Want: "read", Bytes: env(t, map[string]any{"seq": 2, "prev": hash64})})
	row("malformed", "repo of 31 digits", "repo", strings.Repeat("f", 31))
	row("malformed", "a stream in uppercase", "stream", strings.ToUpper(streamA))
	row("malformed", "no pk", "pk", missing{})
	row("malformed", "sig of 126 digits", "sig", strings.Repeat("0f", 63))
	row("malformed", "no body", "body", missing{})
	row("malformed", "a body that is no object", "body", []any{})
	row("malformed", "a kind that is no string", "body", map[string]any{"kind": 1})
	row("malformed", "a kind that is empty", "body", map[string]any{"kind": ""})
	row("malformed", "a kind with a space", "body", map[string]any{"kind": "a b"})
	row("opaque", "a kind of 64 bytes", "body", map[string]any{"kind": strings.Repeat("k", 64)})
	row("malformed", "a kind of 65 bytes", "body", map[string]any{"kind": strings.Repeat("k", 65)})
	row("opaque", "a known kind in another case", "body", map[string]any{"kind": "Session_closed"})
	return all
}

// twoFaults fix the order in which a reader looks.
func twoFaults(t *testing.T) []refusal {
	const anothers = streamA // of another node
	var all []refusal
	row := func(want, about string, change map[string]any) {
		all = append(all, refusal{About: about, Want: want, Bytes: env(t, change)})
	}
	all = append(all, refusal{About: "whitespace, of another version", Want: "malformed", Bytes: env(t, map[string]any{"v": 2}) + "\n"})
	row("version", "another version, seq 0, no pk", map[string]any{"v": 2, "seq": 0, "pk": missing{}})
	row("malformed", "no v, seq 0", map[string]any{"v": missing{}, "seq": 0})
	row("malformed", "at is a string, seq 0", map[string]any{"at": "1", "seq": 0})
	row("malformed", "lamport 0, seq 0", map[string]any{"lamport": 0, "seq": 0})
	row("identity", "seq 0, a bad repo", map[string]any{"seq": 0, "repo": "x"})
	row("identity", "seq 0, a bad stream", map[string]any{"seq": 0, "stream": "x"})
	row("identity", "seq 0, a bad prev", map[string]any{"seq": 0, "prev": nil})
	row("identity", "seq 0, no body", map[string]any{"seq": 0, "body": missing{}})
	row("malformed", "a stream of another node, a bad repo", map[string]any{"stream": anothers, "repo": "x"})
	row("malformed", "a stream of another node, a hash at seq 1", map[string]any{"stream": anothers, "prev": hash64})
	row("malformed", "a stream of another node, a bad sig", map[string]any{"stream": anothers, "sig": "x"})
	row("identity", "a stream of another node, no kind", map[string]any{"stream": anothers, "body": map[string]any{}})
	row("identity", "a stream of another node, no body", map[string]any{"stream": anothers, "body": missing{}})
	row("identity", "a stream of another node, an unreadable body", map[string]any{"stream": anothers, "body": map[string]any{"kind": "session_closed"}})
	return all
}

func sizes(t *testing.T) []refusal {
	// filled is the event of a body in which one string is n times x.
	filled := func(about, want string, n int, body map[string]any) refusal {
		raw := string(sealJSON(t, body))
		before, after, found := strings.Cut(raw, strings.Repeat("x", n))
		if !found || strings.Contains(before+after, "xx") {
			t.Fatalf("%s: not one run of %d", about, n)
		}
		return refusal{About: about, Want: want, Fill: &fill{before, "x", n, after}}
	}
	pad := func(n int) map[string]any { return map[string]any{"kind": "pad", "pad": strings.Repeat("x", n)} }
	room := event.MaxEventBytes - len(sealJSON(t, pad(0)))
	handover := func(n int) map[string]any {
		body := strings.Repeat("x", n)
		return map[string]any{"kind": "handover_published", "session": "s-1", "handover": map[string]any{"body": body, "id": event.HandoverID(body)}}
	}
	review := func(n int) map[string]any {
		b := whole(t, event.KindReviewRequested)
		b["body"] = strings.Repeat("x", n)
		return b
	}
	answer := func(n int) map[string]any {
		b := whole(t, event.KindReviewAnswered)
		b["note"] = strings.Repeat("x", n)
		return b
	}
	return []refusal{
		filled("49,152 bytes", "opaque", room, pad(room)),
		filled("49,153 bytes", "oversized", room+1, pad(room+1)),
		{About: "49,153 bytes of anything", Want: "oversized", Fill: &fill{"", "x", event.MaxEventBytes + 1, ""}},
		filled("a handover of 32,768 bytes", "read", event.MaxHandoverBytes, handover(event.MaxHandoverBytes)),
		filled("a handover of 32,769 bytes", "unreadable", event.MaxHandoverBytes+1, handover(event.MaxHandoverBytes+1)),
		filled("the body of a review, 4,096 bytes", "read", event.MaxReviewBody, review(event.MaxReviewBody)),
		filled("the body of a review, 4,097 bytes", "unreadable", event.MaxReviewBody+1, review(event.MaxReviewBody+1)),
		filled("a note of 2,048 bytes", "read", event.MaxNote, answer(event.MaxNote)),
		filled("a note of 2,049 bytes", "unreadable", event.MaxNote+1, answer(event.MaxNote+1)),
	}
}

// bodyVectors are bodies with one member changed.
func bodyVectors(t *testing.T) []refusal {
	var all []refusal
	row := func(want, kind, about, field string, v any) {
		body := whole(t, kind)
		set(body, field, v)
		all = append(all, refusal{About: kind + ": " + about, Want: want, Bytes: string(sealJSON(t, body))})
	}
	const read, bad = "read", "unreadable"
	list := func(n int, format string) []any {
		l := make([]any, n)
		for i := range l {
			l[i] = fmt.Sprintf(format, i)
		}
		return l
	}
	keys := func(seqs ...int) []any {
		var l []any
		for _, seq := range seqs {
			l = append(l, fmt.Sprintf("%s/%d", streamA, seq))
		}
		return l
	}
	from1 := func(n int) (seqs []int) {
		for i := range n {
			seqs = append(seqs, i+1)
		}
		return seqs
	}

	opened := event.KindSessionOpened
	row(bad, opened, "no info", "info", missing{})
	row(bad, opened, "info is a list", "info", []any{})
	row(bad, opened, "no session", "info.session", missing{})
	row(bad, opened, "a session of 65 bytes", "info.session", strings.Repeat("s", 65))
	row(bad, opened, "a client that is empty", "info.client", "")
	row(bad, opened, "a checkout in uppercase", "info.checkout", strings.Repeat("0F", 8))
	row(bad, opened, "a head of 41 digits", "info.head", strings.Repeat("a", 41))
	row(bad, opened, "dirty is a number", "info.dirty", 1)
	row(read, opened, "dirty is false", "info.dirty", false)
	row(bad, opened, "a tab in a line", "info.host", "a\tb")
	row(bad, opened, "U+0085 in a line", "info.host", "a\u0085")
	row(read, opened, "other characters in a line", "info.host", " \u00a0\u2028\ufffd")
	row(read, opened, "a tab and a newline in a text", "info.intent", "a\tb\n")
	row(bad, opened, "a carriage return in a text", "info.intent", "a\r\n")
	row(bad, opened, "64 bytes of which one is cut by the bound", "info.task", strings.Repeat("x", 63)+"é")
	row(read, opened, "a member of info that is unknown", "info.zz", map[string]any{"kind": "session_closed"})
	row(read, opened, "a member of info called kind", "info.kind", "session_closed")

	row(bad, event.KindSessionClosed, "no reason", "reason", missing{})
	row(bad, event.KindSessionClosed, "a reason with a space", "reason", "so long")
	row(read, event.KindSessionClosed, "a reason of another build", "reason", "a-new.one")
	row(bad, event.KindSessionClosed, "a session that is a number", "session", 1)
	row(read, event.KindSessionClosed, "a member that is unknown", "note", nil)

	claim := event.KindClaimAcquired
	row(bad, claim, "breaks without reason", "reason", missing{})
	all[len(all)-1].Bytes = string(sealJSON(t, func() any {
		b := whole(t, claim)
		b["fences"], b["breaks"] = keys(3, 4), keys(3)
		delete(b, "reason")
		return b
	}()))
	row(bad, claim, "breaks that are not in fences", "breaks", keys(7))
	row(bad, claim, "breaks without fences", "breaks", keys(7))
	all[len(all)-1].Bytes = string(sealJSON(t, func() any {
		b := whole(t, claim)
		b["breaks"] = keys(3)
		delete(b, "fences")
		return b
	}()))
	row(read, claim, "a reason without breaks", "reason", "because")
	row(read, claim, "keys by number", "fences", keys(9, 10))
	row(bad, claim, "keys by bytes", "fences", keys(10, 9))
	row(bad, claim, "a key twice", "fences", keys(9, 9))
	row(bad, claim, "129 fences", "fences", keys(from1(129)...))
	row(bad, claim, "a list that is empty", "fences", []any{})
	row(bad, claim, "a scope of no entry", "scope", []any{})
	row(bad, claim, "an entry that is not in its stored form", "scope", []any{"path:a/"})
	row(bad, claim, "entries that are not sorted", "scope", []any{"path:b", "path:a"})
	row(read, claim, "64 entries", "scope", list(64, "path:%02d"))
	row(bad, claim, "65 entries", "scope", list(65, "path:%02d"))
	row(read, claim, "an intent of 512 bytes", "intent", strings.Repeat("é", 256))

	row(bad, event.KindClaimReleased, "a key with seq 0", "claim", streamA+"/0")
	row(bad, event.KindClaimReleased, "a key over 2^53-1", "claim", streamA+"/9007199254740992")
	row(read, event.KindClaimReleased, "a key of 2^53-1", "claim", streamA+"/9007199254740991")
	row(bad, event.KindClaimReleased, "a fence that is empty", "fence", "")
	row(bad, event.KindClaimReleased, "by, of 129 bytes", "by", strings.Repeat("b", 129))

	published := event.KindHandoverPublished
	row(bad, published, "an id that is not the digest of the body", "handover.id", strings.Repeat("0f", 16))
	row(bad, published, "a body that is empty", "handover.body", "")
	row(bad, published, "no handover", "handover", missing{})
	for _, file := range []string{"", ".", "..", "/a", "../a", "a/", "a//b", "./a", "a/../b", "a\nb", strings.Repeat("f", 257)} {
		row(bad, published, "a file that is no clean path", "handover.files", []any{file})
	}
	row(read, published, "files with other characters", "handover.files", []any{"...", `a\b`, "c:/d", "cafe\u0301", strings.Repeat("f", 256)})
	row(read, published, "64 files", "handover.files", list(64, "%02d"))
	row(bad, published, "65 files", "handover.files", list(65, "%02d"))
	row(bad, published, "to, with a control character", "to", "a\x1b")

	row(bad, event.KindHandoverConsumed, "no publications", "publications", missing{})
	row(bad, event.KindHandoverConsumed, "65 publications", "publications", keys(from1(65)...))
	row(bad, event.KindHandoverConsumed, "an id in uppercase", "handover", strings.Repeat("0F", 16))
	row(bad, event.KindHandoverDeclined, "keys by bytes", "publications", keys(10, 9))
	row(bad, event.KindHandoverDeclined, "a reason that is empty", "reason", "")
	row(read, event.KindHandoverDeclined, "no reason", "reason", missing{})
	row(bad, event.KindHandoverWithdrawn, "a key with a leading zero", "publication", streamA+"/01")

	row(bad, event.KindReviewRequested, "a scope that is empty", "scope", []any{})
	row(read, event.KindReviewRequested, "no scope", "scope", missing{})
	row(bad, event.KindReviewRequested, "no subject", "subject", missing{})
	row(bad, event.KindReviewRequested, "a subject of two lines", "subject", "a\nb")
	row(bad, event.KindReviewAnswered, "an unknown verdict", "verdict", "rejected")
	row(bad, event.KindReviewAnswered, "a tree of 63 digits", "tree", hash64[1:])
	row(bad, event.KindReviewClosed, "no request", "request", missing{})
	row(bad, event.KindReviewClosed, "a request that is a list", "request", keys(1))

	succeeded := event.KindStreamSucceeded
	row(bad, succeeded, "run 0", "run", 0)
	row(bad, succeeded, "run is a string", "run", "1")
	row(bad, succeeded, "no sessions", "sessions", missing{})
	row(bad, succeeded, "streams is null", "streams", nil)
	row(read, succeeded, "empty lists", "sessions", []any{})
	row(read, succeeded, "256 sessions", "sessions", list(256, "%03d"))
	row(bad, succeeded, "257 sessions", "sessions", list(257, "%03d"))
	row(bad, succeeded, "257 streams", "streams", list(257, streamA[:50]+"%016x"))
	row(bad, succeeded, "a stream of another form", "streams", []any{streamA[:49]})

	checkpoint := event.KindStreamCheckpoint
	covered := whole(t, checkpoint)["covers"].([]any)[0].(string)
	kept := func(want, about string, v any) { row(want, checkpoint, about, "kept", v) }
	of := func(ranges ...any) map[string]any { return map[string]any{covered: ranges} }
	pair := func(a, b any) []any { return []any{a, b} }
	row(bad, checkpoint, "covers nothing", "covers", []any{})
	row(bad, checkpoint, "no digest", "digest", missing{})
	kept(bad, "no kept", missing{})
	kept(read, "nothing kept", map[string]any{})
	kept(bad, "a stream without ranges", of())
	kept(bad, "a stream that is not covered", map[string]any{streamB: []any{pair(1, 1)}})
	kept(bad, "a name that is no stream", map[string]any{"x": []any{pair(1, 1)}})
	kept(bad, "ranges that are one", of(pair(1, 2), pair(3, 4)))
	kept(read, "ranges with a number between them", of(pair(1, 2), pair(4, 4)))
	kept(bad, "ranges that overlap", of(pair(1, 3), pair(2, 4)))
	kept(bad, "ranges that fall", of(pair(4, 4), pair(1, 2)))
	kept(bad, "a range that falls", of(pair(2, 1)))
	kept(bad, "a range from 0", of(pair(0, 1)))
	kept(bad, "a range of one number", of([]any{1}))
	kept(bad, "a range of three numbers", of([]any{1, 2, 3}))
	kept(bad, "a range of strings", of(pair("1", "2")))
	var many []any
	for i := range event.MaxRanges + 1 {
		many = append(many, pair(2*i+1, 2*i+1))
	}
	kept(bad, "2,049 ranges", of(many...))
	return all
}

// Each kind is in the rows of unreadable bodies.
func TestEachKindHasAnUnreadableVector(t *testing.T) {
	have := map[string]bool{}
	for _, r := range bodyVectors(t) {
		kind, _, _ := strings.Cut(r.About, ": ")
		have[kind] = have[kind] || r.Want == "unreadable"
	}
	for _, kind := range slices.Sorted(maps.Keys(bodies(t))) {
		if !have[kind] {
			t.Errorf("%s has none", kind)
		}
	}
}
