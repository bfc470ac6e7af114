package install

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

func hasTrailingComma(n *node) bool {
	for i, kid := range n.kids {
		if i == len(n.kids)-1 && kid.comma >= 0 || hasTrailingComma(kid) {
			return true
		}
	}
	return false
}

// What the scanner takes without comments and trailing commas is what the JSON
// package takes; its places are those of the values; and our edits fit any file.
func FuzzSettings(f *testing.F) {
	for _, seed := range []string{
		"", "{}", " { } \n", "\xef\xbb\xbf{\r\n\t\"a\": [1, -2.5e3, true, null, \"x\\n\"],\r\n}", "// c\n{\"hooks\": {\"Stop\": [/* x */]}} // d",
		`{"hooks":{"Stop":[{"hooks":[{"command":"command -v comity >/dev/null 2>&1 || exit 0; exec comity hook claude stop"}]}]}}`,
		"{\"a\":1,\"a\":2}", "[[[", "{\"a\" 1}", "/", "/*", "{\"hooks\": 1}", "{\"\\ud800\": 1}", "nul", "{\"hooks\":{//\n}}",
	} {
		f.Add([]byte(seed))
	}
	o := Options{State: "/s", Command: []string{"comity"}}
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := parse("f", b)
		rest := bytes.TrimPrefix(b, []byte(bom))
		valid := jsontext.Value(rest).IsValid()
		if err != nil {
			bad := err.(*SyntaxError)
			if bad.Line < 1 || bad.Line > 1+bytes.Count(b, []byte("\n")) || bad.Col < 1 || bad.Col > len(b)+1 {
				t.Errorf("%v is outside of the file", bad)
			}
			if valid && bad.What != "nested deeper than 200" {
				t.Errorf("%v, but it is JSON", err)
			}
			return
		}
		if strict := len(d.comments) == 0 && !hasTrailingComma(d.root); strict != valid {
			t.Errorf("strict = %v, JSON = %v", strict, valid)
		}
		checkEdits(t, o, b)
	})
}

// checkEdits adds our words to b and takes them out in both ways.
func checkEdits(t *testing.T, o Options, b []byte) {
	base, gone, err := o.stripSettings("f", b, nil)
	if err != nil || gone {
		t.Fatalf("take out: %v, %v", gone, err)
	}
	if again, _, _ := o.stripSettings("f", base, nil); !bytes.Equal(again, base) {
		t.Errorf("taking out twice: %q then %q", base, again)
	}
	file := &File{Before: digest(base)}
	edits, err := o.addSettings("f", base, file)
	if err != nil {
		return // hooks of another type
	}
	file.Edits = edits
	after, err := apply(base, edits)
	if err != nil {
		t.Fatal(err)
	}
	d, err := parse("f", after)
	if err != nil || !o.settingsComplete(d) {
		t.Fatalf("incomplete, %v:\n%q\nfrom %q", err, after, base)
	}
	if back, err := undo(after, edits); err != nil || !bytes.Equal(back, base) {
		t.Errorf("undo: %v: %q, want %q", err, back, base)
	}
	if back, _, err := o.stripSettings("f", after, file); err != nil || !bytes.Equal(back, base) {
		t.Errorf("take out: %v: %q, want %q", err, back, base)
	}
}

func FuzzConfig(f *testing.F) {
	for _, seed := range []string{"", "[core]\n\tbare = false\n", "[core]\nx = a \\\n  b", "# [hook \"comity-pre-commit\"]\n[HOOK  \"comity-pre-push\"] # ours\n\tenabled = false\n# keep\n[a]\n", "x\\", "\\\n[hook \"comity-pre-commit\"]"} {
		f.Add([]byte(seed), true)
	}
	o := Options{Command: []string{"comity"}}
	f.Fuzz(func(t *testing.T, b []byte, trailer bool) {
		hooks := gitHooks[:2]
		if trailer {
			hooks = gitHooks[:]
		}
		base := o.stripConfig(b, nil)
		if again := o.stripConfig(base, nil); !bytes.Equal(base, again) && !bytes.Contains(base, []byte("\\")) {
			t.Errorf("taking out twice: %q then %q", base, again)
		}
		edits := o.addConfig(base, hooks)
		after, err := apply(base, edits)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := undo(after, edits); err != nil || !bytes.Equal(back, base) {
			t.Errorf("undo: %v: %q, want %q", err, back, base)
		}
		file := &File{Edits: edits}
		more := "[other]\n\tx = 1\n"
		want := string(base) + more
		if len(base) > 0 && base[len(base)-1] != '\n' {
			want = string(base) + "\n" + more
		}
		if back := o.stripConfig([]byte(string(after)+more), file); string(back) != want {
			t.Errorf("take out with a section of others behind: %q, want %q", back, want)
		}
	})
}

func FuzzRecord(f *testing.F) {
	f.Add([]byte(`{"format":1,"name":"git","where":"/r","files":[{"path":"/r/hooks/pre-push","kind":"hook","hook":"pre-push","part":"# comity: begin ("}]}`))
	f.Add([]byte(`{"format":2}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := decodeRecord(b)
		if (r == nil) == (err == nil) {
			t.Errorf("record %v with error %v", r, err)
		}
	})
}

// A diff names every line of both texts that differs, and no more than needed.
func TestDiffLinesMakeBothTexts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "{\n"}), 0, 30)
		old, new := lines.Draw(t, "old"), lines.Draw(t, "new")
		var was, is strings.Builder
		changed := 0
		for _, l := range compare(old, new) {
			if l.sign != '+' {
				was.WriteString(l.text)
			}
			if l.sign != '-' {
				is.WriteString(l.text)
			}
			if l.sign != ' ' {
				changed++
			}
		}
		if was.String() != strings.Join(old, "") || is.String() != strings.Join(new, "") {
			t.Fatalf("lines make %q and %q", was.String(), is.String())
		}
		if want := len(old) + len(new) - 2*common(old, new); changed != want {
			t.Fatalf("%d lines changed, %d need be", changed, want)
		}
	})
}

// common is the length of the longest common subsequence, the slow way.
func common(a, b []string) int {
	row := make([]int, len(b)+1)
	for _, x := range a {
		diagonal := 0
		for j, y := range b {
			above := row[j+1]
			row[j+1] = max(row[j], above)
			if x == y {
				row[j+1] = diagonal + 1
			}
			diagonal = above
		}
	}
	return row[len(b)]
}

func TestDiffOfTextsThatHaveNothingInCommonIsBounded(t *testing.T) {
	var old, new strings.Builder
	for range 3000 {
		old.WriteString(strings.Repeat("a", 1+rand.IntN(3)) + "\n")
		new.WriteString(strings.Repeat("b", 1+rand.IntN(3)) + "\n")
	}
	text := diff(old.String(), new.String())
	if got := strings.Count(text, "\n"); got != 6001 {
		t.Errorf("%d lines, want 6001", got)
	}
	if diff(old.String(), old.String()) != "" {
		t.Error("a diff of equal texts")
	}
}

func TestVersion(t *testing.T) {
	for _, tt := range []struct {
		text         string
		major, minor int
	}{
		{"git version 2.39.5\n", 2, 39}, {"git version 2.54.0.windows.1", 2, 54}, {"git version 2.50.1 (Apple Git-155)", 2, 50},
		{"git version 3.0.0-rc1", 3, 0}, {"git version 2.55.rc1", 2, 55},
	} {
		if major, minor, err := version(tt.text); err != nil || major != tt.major || minor != tt.minor {
			t.Errorf("version(%q) = %d, %d, %v, want %d, %d", tt.text, major, minor, err, tt.major, tt.minor)
		}
	}
	for _, text := range []string{"", "git", "git version x.y.z", "git version 2"} {
		if _, _, err := version(text); err == nil {
			t.Errorf("version(%q) = nil, want an error", text)
		}
	}
}
