package event_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/internal/canon"
)

// A form is what a field of the format may hold: values that are at its bounds
// and values that are just outside.
type form struct {
	good, bad []any
	over      string // part of what the last of bad is refused with
}

func sized(n int, more ...any) form {
	return form{
		good: []any{"x", strings.Repeat("x", n), strings.Repeat("é", n/2), "\ufffd"},
		bad:  append(append([]any{"a\x00", "a\x1b", "a\x7f", "a\u0085", "a\r"}, more...), strings.Repeat("x", n+1)),
		over: fmt.Sprintf("%d bytes, limit %d: 1 too many", n+1, n),
	}
}

func lineForm(n int) form {
	return sized(n, "a\n", "a\tb", strings.Repeat("é", n/2)+"x"+strings.Repeat("x", n%2))
}

func textForm(n int) form {
	f := sized(n)
	f.good = append(f.good, "a\n\tb")
	return f
}

func hexForm(digits ...int) form {
	f := form{over: "lowercase hex"}
	for _, n := range digits {
		f.good = append(f.good, strings.Repeat("0f", n/2))
		f.bad = append(f.bad, strings.Repeat("0F", n/2), strings.Repeat("f", n-1), strings.Repeat("f", n+1), strings.Repeat("g", n), strings.Repeat("f", n-1)+"\n")
	}
	return f
}

func identForm() form {
	return form{
		good: []any{"a", "A-b.c_d:e#9", strings.Repeat("x", 64)},
		bad:  []any{"a b", "a/b", "é", "a\n", "@a", strings.Repeat("x", 65)},
		over: "65 bytes, limit 64: 1 too many",
	}
}

const streamA, streamB = "0123456789abcdef0123456789abcdef-0011223344556677-00000000000000aa", "0123456789abcdef0123456789abcdef-0011223344556677-00000000000000bb"

func keyForm() form {
	return form{
		good: []any{streamA + "/1", streamA + "/9007199254740991"},
		bad: []any{"x", streamA, streamA + "/", streamA + "/0", streamA + "/01", streamA + "/+1", streamA + "/-1", streamA + "/1 ", streamA + "/1/1",
			strings.ToUpper(streamA) + "/1", streamA + "/1e3", streamA + "/9007199254740992"},
		over: "want <stream>/<seq>",
	}
}

// listForm is a list of min to max entries of one form, sorted, without repeats.
func listForm(min, max int, entry func(int) string, bad ...string) form {
	entries := func(n int) []any {
		l := make([]any, n)
		for i := range l {
			l[i] = entry(i)
		}
		return l
	}
	f := form{good: []any{entries(1), entries(max)}, over: fmt.Sprintf("%d entries, limit %d: 1 too many", max+1, max)}
	for _, b := range bad {
		f.bad = append(f.bad, []any{b})
	}
	if min < 0 { // always written
		f.good = append(f.good, entries(0))
	} else {
		f.bad = append(f.bad, entries(0))
	}
	two := entries(2)
	f.bad = append(f.bad, []any{two[1], two[0]}, []any{two[0], two[0]}, []any{1}, []any{nil}, []any{two}, "x", map[string]any{}, entries(max+1))
	return f
}

func keysForm(max int) form {
	return listForm(1, max, func(i int) string { return fmt.Sprintf("%s/%d", streamA, i+2) }, "x", "", streamA+"/0")
}

func scopeForm() form {
	return listForm(1, 64, func(i int) string { return fmt.Sprintf("path:a/%02d", i) },
		"", "x", "path:", "path:/a", "path:../a", "path:a/../b", "path:./a", "dir:a/", "what:a", "path:"+strings.Repeat("x", 252))
}

func filesForm() form {
	return listForm(1, 64, func(i int) string { return fmt.Sprintf("a/%02d.go", i) },
		"", "/a", "../a", "..", ".", "a/../b", "./a", "a/", "a//b", "a\nb", strings.Repeat("x", 257))
}

func sidsForm() form {
	return listForm(-1, 256, func(i int) string { return fmt.Sprintf("s-%03d", i) }, "", "a b", strings.Repeat("x", 65))
}

func streamsForm(min, max int) form {
	return listForm(min, max, func(i int) string { return streamA[:50] + fmt.Sprintf("%016x", i) }, "", "x", strings.ToUpper(streamA), streamA+"/1")
}

var (
	optionalFlag = form{good: []any{true, false}, bad: []any{"true", 1, 0, []any{}}, over: "true or false"}
	count        = form{good: []any{1, canon.MaxInt}, bad: []any{0, -1, "1", true, []any{}}, over: "integer"}
	mode         = form{good: []any{"exclusive", "checkout", "advisory"}, bad: []any{"Exclusive", "shared", "exclusive "}, over: "unknown mode"}
	verdict      = form{good: []any{"approved", "changes_requested", "commented"}, bad: []any{"rejected", "Approved"}, over: "unknown verdict"}
)

// fields is the table of bodies of the format: name, "?" when it may be left
// out, and what it holds. Fields that depend on others have tests of their own.
var fields = map[string]map[string]form{
	"session_opened": {
		"info.session": identForm(), "info.client": lineForm(64), "info.by?": lineForm(128), "info.host?": lineForm(64), "info.checkout": hexForm(16),
		"info.branch?": lineForm(256), "info.head?": hexForm(40, 64), "info.intent?": textForm(512), "info.issue?": lineForm(64), "info.task?": lineForm(64),
		"info.worker?": lineForm(128), "info.context?": lineForm(128), "info.dirty?": optionalFlag,
	},
	"session_closed": {"session": identForm(), "reason": identForm()},
	"claim_acquired": {
		"session": identForm(), "scope": scopeForm(), "mode": mode, "intent?": textForm(512), "issue?": lineForm(64), "fences?": keysForm(128), "reason?": textForm(512),
	},
	"claim_released":     {"claim": keyForm(), "session": identForm(), "reason": identForm(), "fence?": keyForm(), "by?": lineForm(128)},
	"handover_published": {"session": identForm(), "to?": lineForm(64), "handover.task?": lineForm(64), "handover.issue?": lineForm(64), "handover.milestone?": lineForm(64), "handover.branch?": lineForm(256), "handover.head?": hexForm(40, 64), "handover.created_at?": lineForm(64), "handover.name?": lineForm(256), "handover.files?": filesForm()},
	"handover_consumed":  {"handover": hexForm(32), "publications": keysForm(64), "session": identForm()},
	"handover_declined":  {"handover": hexForm(32), "publications": keysForm(64), "session": identForm(), "reason?": textForm(512)},
	"handover_withdrawn": {"publication": keyForm(), "session": identForm()},
	"review_requested":   {"session": identForm(), "subject": lineForm(256), "scope?": scopeForm(), "branch?": lineForm(256), "commit?": hexForm(40, 64), "tree?": hexForm(40, 64), "reviewer?": lineForm(64), "body?": textForm(4096), "issue?": lineForm(64)},
	"review_answered":    {"request": keyForm(), "session": identForm(), "verdict": verdict, "note?": textForm(2048), "commit?": hexForm(40, 64), "tree?": hexForm(40, 64)},
	"review_closed":      {"request": keyForm(), "session": identForm(), "reason": identForm()},
	"stream_succeeded":   {"record": hexForm(32), "run": count, "sessions": sidsForm(), "streams": streamsForm(-1, 256)},
	"stream_checkpoint":  {"digest": hexForm(64)},
}

// whole returns a body of kind with every field there, as generic JSON, in
// which any one field may be changed alone.
func whole(t testing.TB, kind string) map[string]any {
	t.Helper()
	k := testKey(t)
	e, err := event.Seal(k, testHeader(t, k), bodies(t)[kind])
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		Body map[string]any `json:"body"`
	}
	if err := json.Unmarshal(e.Raw, &all); err != nil {
		t.Fatal(err)
	}
	if kind == "claim_acquired" {
		delete(all.Body, "breaks") // depends on fences and reason
	}
	return all.Body
}

func set(body map[string]any, field string, v any) (was any, undo func()) {
	for outer, inner, nested := strings.Cut(field, "."); nested; outer, inner, nested = strings.Cut(field, ".") {
		body, field = body[outer].(map[string]any), inner
	}
	was, had := body[field]
	if body[field] = v; v == (missing{}) {
		delete(body, field)
	}
	return was, func() {
		if body[field] = was; !had {
			delete(body, field)
		}
	}
}

type missing struct{}

// sealJSON signs an event whose body is any JSON, as a peer could.
func sealJSON(t testing.TB, body any, change ...func(env map[string]any)) []byte {
	t.Helper()
	k := testKey(t)
	h := testHeader(t, k)
	env := map[string]any{
		"at": h.At, "body": body, "lamport": h.Lamport, "pk": k.PublicHex(), "prev": h.Prev, "repo": string(h.Repo),
		"seq": h.Seq, "stream": string(h.Stream), "v": 1,
	}
	for _, c := range change {
		c(env)
	}
	msg, err := canon.Marshal(env)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := env["sig"]; !ok {
		env["sig"] = hex.EncodeToString(k.Sign(ident.DomainEvent, msg))
	}
	raw, err := canon.Marshal(env)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// parseBody parses an authentic event of that body.
func parseBody(t testing.TB, body any) event.Body {
	t.Helper()
	raw := sealJSON(t, body)
	e, err := event.Parse(raw)
	if err != nil {
		t.Fatalf("Parse(%.300s) = %v", raw, err)
	}
	if !e.Verify() {
		t.Fatalf("%.300s does not verify", raw)
	}
	if string(e.Raw) != string(raw) {
		t.Fatal("Raw is not what was parsed")
	}
	return e.Body
}

func wantUnreadable(t *testing.T, b event.Body, field, detail string) {
	t.Helper()
	u, ok := b.(event.Unreadable)
	if !ok {
		t.Errorf("%s: read as %T, want Unreadable (%s)", field, b, detail)
		return
	}
	if !strings.Contains(u.Reason, field) || !strings.Contains(u.Reason, detail) {
		t.Errorf("unreadable because %q, want %q and %q in it", u.Reason, field, detail)
	}
}

func TestEveryFieldHasItsBounds(t *testing.T) {
	for kind, table := range fields {
		t.Run(kind, func(t *testing.T) {
			body := whole(t, kind)
			if b := parseBody(t, body); fmt.Sprintf("%T", b) == "event.Unreadable" {
				t.Fatalf("the whole body is %+v", b)
			}
			for field, form := range table {
				name, optional := strings.CutSuffix(field, "?")
				try := func(v any) event.Body {
					_, undo := set(body, name, v)
					defer undo()
					return parseBody(t, body)
				}
				for _, v := range form.good {
					if u, bad := try(v).(event.Unreadable); bad {
						t.Errorf("%s = %.100v is unreadable: %s", name, v, u.Reason)
					}
				}
				for _, v := range form.bad {
					wantUnreadable(t, try(v), name, "")
				}
				wantUnreadable(t, try(form.bad[len(form.bad)-1]), name, form.over)
				wantUnreadable(t, try(nil), name, "want")
				wantUnreadable(t, try(map[string]any{"a": 1}), name, "want")
				if _, isString := form.good[0].(string); isString {
					wantUnreadable(t, try(""), name, "empty")
					wantUnreadable(t, try(7), name, "want a string")
				}
				if optional {
					if u, bad := try(missing{}).(event.Unreadable); bad {
						t.Errorf("without %s it is unreadable: %s", name, u.Reason)
					}
				} else {
					wantUnreadable(t, try(missing{}), name, "missing")
				}
			}
		})
	}
}

// The table above and the bodies of the fixture name the same fields, so that
// no field stays without a bound.
func TestEveryFieldIsInTheTable(t *testing.T) {
	special := map[string][]string{
		"claim_acquired":     {"breaks"},
		"handover_published": {"handover.id", "handover.body"},
		"stream_checkpoint":  {"covers", "kept"},
	}
	for kind := range bodies(t) {
		want := special[kind]
		for f := range fields[kind] {
			want = append(want, strings.TrimSuffix(f, "?"))
		}
		got := []string{}
		for name, v := range whole(t, kind) {
			inner, nested := v.(map[string]any)
			switch {
			case name == "kind":
			case nested && name != "kept":
				for n := range inner {
					got = append(got, name+"."+n)
				}
			default:
				got = append(got, name)
			}
		}
		if kind == "claim_acquired" {
			got = append(got, "breaks")
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: fields %v, the table has %v", kind, got, want)
		}
	}
	if len(fields) != len(bodies(t)) || len(fields) != 13 {
		t.Errorf("%d kinds in the table, %d in the fixture, want 13", len(fields), len(bodies(t)))
	}
}

func TestUnknownMembersAreIgnoredAndKept(t *testing.T) {
	for kind := range bodies(t) {
		body := whole(t, kind)
		want := parseBody(t, body)
		objects := []map[string]any{body}
		for name, v := range body {
			if inner, ok := v.(map[string]any); ok && name != "kept" {
				objects = append(objects, inner)
			}
		}
		for _, o := range objects {
			for _, name := range []string{"", "a", "Kind", "kind2", "m\n", "zz", "😀", "session_"} {
				o[name] = map[string]any{"deep": []any{1, nil, "x"}, "kind": "other"}
			}
		}
		raw := sealJSON(t, body, func(env map[string]any) { env["later"], env["aa"], env["zz"] = 1, "x", map[string]any{"sig": "y"} })
		e, err := event.Parse(raw)
		if err != nil {
			t.Errorf("%s with unknown members: %v", kind, err)
			continue
		}
		if !equalBodies(e.Body, want) {
			t.Errorf("%s with unknown members = %+v, want %+v", kind, e.Body, want)
		}
		if !e.Verify() || !strings.Contains(string(e.Raw), `"later":1`) {
			t.Errorf("%s with unknown members is not kept or does not verify", kind)
		}
	}
}

func TestReasonsAreOpen(t *testing.T) {
	for _, kind := range []string{"session_closed", "claim_released", "review_closed"} {
		body := whole(t, kind)
		body["reason"] = "a-reason-of-tomorrow"
		if u, bad := parseBody(t, body).(event.Unreadable); bad {
			t.Errorf("%s with an unknown reason is unreadable: %s", kind, u.Reason)
		}
	}
}

func TestUnknownKindIsOpaque(t *testing.T) {
	for _, name := range []string{"vote_cast", "x", "Session_Closed", strings.Repeat("k", 64)} {
		body := map[string]any{"kind": name, "any": []any{map[string]any{"n": 1}, nil}}
		o, ok := parseBody(t, body).(event.Opaque)
		if !ok || o.Name != name || o.Kind() != name {
			t.Errorf("kind %s is %+v, want it opaque", name, o)
			continue
		}
		if want, _ := canon.Marshal(body); string(o.Raw) != string(want) {
			t.Errorf("opaque body %s, want %s", o.Raw, want)
		}
	}
}

func TestUnreadableKeepsItsBody(t *testing.T) {
	body := map[string]any{"kind": "session_closed", "later": 1}
	u, ok := parseBody(t, body).(event.Unreadable)
	want, _ := canon.Marshal(body)
	if !ok || u.Name != "session_closed" || u.Kind() != "session_closed" || string(u.Raw) != string(want) {
		t.Errorf("got %+v", u)
	}
}

func TestBreaksAreFencesWithAReason(t *testing.T) {
	a, b := streamA+"/1", streamB+"/1"
	for name, tt := range map[string]struct {
		fences, breaks, reason any
		bad                    string
	}{
		"none":              {missing{}, missing{}, missing{}, ""},
		"a reason alone":    {missing{}, missing{}, "why", ""},
		"one of two":        {[]any{a, b}, []any{b}, "why", ""},
		"all":               {[]any{a, b}, []any{a, b}, "why", ""},
		"no reason":         {[]any{a}, []any{a}, missing{}, "reason"},
		"no fences":         {missing{}, []any{a}, "why", "breaks"},
		"not in fences":     {[]any{a}, []any{b}, "why", "breaks"},
		"one not in fences": {[]any{b}, []any{a, b}, "why", "breaks"},
		"empty":             {[]any{a}, []any{}, "why", "breaks"},
		"null":              {[]any{a}, nil, "why", "breaks"},
		"unsorted":          {[]any{a, b}, []any{b, a}, "why", "breaks"},
		"repeated":          {[]any{a, b}, []any{a, a}, "why", "breaks"},
	} {
		body := whole(t, "claim_acquired")
		set(body, "fences", tt.fences)
		set(body, "breaks", tt.breaks)
		set(body, "reason", tt.reason)
		got := parseBody(t, body)
		if tt.bad != "" {
			wantUnreadable(t, got, tt.bad, "")
		} else if u, bad := got.(event.Unreadable); bad {
			t.Errorf("%s: unreadable: %s", name, u.Reason)
		}
	}
}

// Keys are in the order of their numbers, not of their digits.
func TestKeysAreSortedByNumber(t *testing.T) {
	body := whole(t, "handover_consumed")
	body["publications"] = []any{streamA + "/9", streamA + "/10", streamB + "/1"}
	if u, bad := parseBody(t, body).(event.Unreadable); bad {
		t.Errorf("9 before 10 is unreadable: %s", u.Reason)
	}
	body["publications"] = []any{streamA + "/10", streamA + "/9"}
	wantUnreadable(t, parseBody(t, body), "publications", "sorted")
}

func TestHandoverIsNamedByItsBody(t *testing.T) {
	handover := func(text string) map[string]any {
		body := whole(t, "handover_published")
		set(body, "handover.body", text)
		set(body, "handover.id", event.HandoverID(text))
		return body
	}
	for _, text := range []string{"x", strings.Repeat("x", 32768), "\x00\x1b any \u0085 text\r\n", strings.Repeat("é", 16384)} {
		if u, bad := parseBody(t, handover(text)).(event.Unreadable); bad {
			t.Errorf("a body of %d bytes is unreadable: %s", len(text), u.Reason)
		}
	}
	wantUnreadable(t, parseBody(t, handover(strings.Repeat("x", 32769))), "handover.body", "32769 bytes, limit 32768: 1 too many")
	wantUnreadable(t, parseBody(t, handover("")), "handover.body", "empty")
	body := handover("x")
	set(body, "handover.id", event.HandoverID("y"))
	wantUnreadable(t, parseBody(t, body), "handover.id", "digest")
	for _, field := range []string{"handover", "handover.id", "handover.body"} {
		for _, v := range []any{missing{}, nil, 1, []any{}} {
			body := handover("x")
			set(body, field, v)
			wantUnreadable(t, parseBody(t, body), field, "")
		}
	}
}

func TestCheckpointKeepsRangesOfWhatItCovers(t *testing.T) {
	many := func(n int) []any {
		l := make([]any, n)
		for i := range l {
			l[i] = []any{2*i + 1, 2*i + 1}
		}
		return l
	}
	both := []any{streamA, streamB}
	for _, tt := range []struct {
		covers, kept any
		bad          string
	}{
		{both, map[string]any{}, ""},
		{both, map[string]any{streamA: []any{[]any{1, 1}, []any{3, 9007199254740991}}}, ""},
		{both, map[string]any{streamA: many(1024), streamB: many(1024)}, ""},
		{both, map[string]any{streamA: many(1024), streamB: many(1025)}, "2049 ranges, limit 2048: 1 too many"},
		{[]any{streamA}, map[string]any{streamB: many(1)}, "not covered"},
		{[]any{}, map[string]any{}, "covers"},
		{missing{}, map[string]any{}, "covers"},
		{[]any{streamB, streamA}, map[string]any{}, "sorted"},
		{both, missing{}, "kept: missing"},
		{both, nil, "kept"},
		{both, []any{}, "kept"},
		{both, map[string]any{"x": many(1)}, "kept"},
		{both, map[string]any{streamA: []any{}}, "without ranges"},
		{both, map[string]any{streamA: nil}, "kept"},
		{both, map[string]any{streamA: []any{1, 2}}, "kept"},
		{both, map[string]any{streamA: []any{[]any{1}}}, "kept"},
		{both, map[string]any{streamA: []any{[]any{}}}, "kept"},
		{both, map[string]any{streamA: []any{[]any{1, 2, 3}}}, "kept"},
		{both, map[string]any{streamA: []any{[]any{"1", 2}}}, "kept"},
		{both, map[string]any{streamA: []any{[]any{0, 2}}}, "kept"},
		{both, map[string]any{streamA: []any{[]any{-1, 2}}}, "kept"},
		{both, map[string]any{streamA: []any{[]any{2, 1}}}, "first <= last"},
		{both, map[string]any{streamA: []any{[]any{1, -1}}}, "first <= last"},
		{both, map[string]any{streamA: []any{[]any{5, 6}, []any{1, 2}}}, "not sorted"},
		{both, map[string]any{streamA: []any{[]any{1, 3}, []any{3, 4}}}, "not merged"},
		{both, map[string]any{streamA: []any{[]any{1, 3}, []any{4, 4}}}, "not merged"},
	} {
		body := whole(t, "stream_checkpoint")
		set(body, "covers", tt.covers)
		set(body, "kept", tt.kept)
		got := parseBody(t, body)
		if tt.bad != "" {
			wantUnreadable(t, got, tt.bad, "")
		} else if u, bad := got.(event.Unreadable); bad {
			t.Errorf("covers %.80v kept %.80v is unreadable: %s", tt.covers, tt.kept, u.Reason)
		}
	}
}

// What a claim may hold at most still fits an event.
func TestLargestClaimFits(t *testing.T) {
	body := whole(t, "claim_acquired")
	var entries, keys []any
	for i := range 64 {
		entries = append(entries, fmt.Sprintf("path:%02d%s", i, strings.Repeat("x", 249)))
	}
	for i := range 128 {
		keys = append(keys, fmt.Sprintf("%s/%d", streamA, 9007199254740000+i))
	}
	for field, v := range map[string]any{
		"scope": entries, "fences": keys, "breaks": keys, "intent": strings.Repeat("\n", 512), "reason": strings.Repeat("\"", 512),
		"issue": strings.Repeat("\\", 64), "session": strings.Repeat("x", 64),
	} {
		set(body, field, v)
	}
	if u, bad := parseBody(t, body).(event.Unreadable); bad {
		t.Errorf("the largest claim is unreadable: %s", u.Reason)
	}
}

func equalBodies(a, b event.Body) bool { return diff(a, b) == "" }

func TestBodyIsAnObjectWithAKind(t *testing.T) {
	for _, body := range []any{nil, 1, "x", []any{}, map[string]any{}, map[string]any{"kind": ""}, map[string]any{"kind": nil}, map[string]any{"kind": 1},
		map[string]any{"kind": map[string]any{"kind": "session_closed"}}, map[string]any{"Kind": "session_closed"}, map[string]any{"kind": "a b"},
		map[string]any{"kind": strings.Repeat("k", 65)}, map[string]any{"kind": "é"}} {
		_, err := event.Parse(sealJSON(t, body))
		wantForm(t, fmt.Sprintf("body %.80v", body), err, event.Malformed, "body")
	}
}

func wantForm(t *testing.T, what string, err error, reason event.Reason, detail string) {
	t.Helper()
	var f *event.FormError
	if !errors.As(err, &f) || f.Reason != reason || !strings.Contains(f.Error(), detail) {
		t.Errorf("%s: Parse = %v, want a FormError of reason %s with %q", what, err, reason, detail)
	}
}
