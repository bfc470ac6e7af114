package cli

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"plain é 漢字 🙂", "plain é 漢字 🙂"},
		{"two\nlines\tand a tab", "two\nlines\tand a tab"},
		{"\x1b[31mred\x1b[0m", "\ufffd[31mred\ufffd[0m"},
		{"\x1b]0;title\x07", "\ufffd]0;title\ufffd"},
		{"a\rb\bc\x7fd", "a\ufffdb\ufffdc\ufffdd"},
		{"\u009b31m", "\ufffd31m"}, // the one-character form of ESC [
		{"\xff\xc3", "\ufffd\ufffd"},
		{"\u202egpj.exe\u2066x\u200f", "\ufffdgpj.exe\ufffdx\ufffd"},
		{"pa\u00adss\u200bword", "pa\ufffdss\ufffdword"},
		{"\u0645\u200c\u0646 \U0001f469\u200d\U0001f680", "\u0645\u200c\u0646 \U0001f469\u200d\U0001f680"}, // joiners are spelling
		{"para\u2029graph", "para\ngraph"},
	} {
		if got := clean(tt.in); got != tt.want {
			t.Errorf("clean(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("plain\n\ttext")
	f.Add("\x1b[2J\x1b]52;c;aGk=\x07")
	f.Add("\u202e\u2066\u009d\xf0\x9f")
	f.Fuzz(func(t *testing.T, s string) {
		got := clean(s)
		if !utf8.ValidString(got) {
			t.Fatalf("clean(%q) = %q is broken", s, got)
		}
		for _, r := range got {
			if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
				t.Fatalf("clean(%q) = %q has %U", s, got, r)
			}
		}
		if again := clean(got); again != got {
			t.Fatalf("clean(%q) = %q, and that cleaned is %q", s, got, again)
		}
		if line := oneLine(s); strings.ContainsAny(line, "\n\t") {
			t.Fatalf("oneLine(%q) = %q", s, line)
		}
		for _, n := range []int{0, 1, 8, 80} {
			if cut := middle(got, n); width(cut) > n {
				t.Fatalf("middle(%q, %d) = %q of %d columns", got, n, cut, width(cut))
			}
		}
	})
}

func TestMiddleKeepsBothEnds(t *testing.T) {
	for _, tt := range []struct {
		in   string
		n    int
		want string
	}{
		{"short", 8, "short"},
		{"internal/journal/journal.go", 12, "inter…nal.go"},
		{"漢字漢字漢字", 7, "漢…字"},
		{"abc", 1, "…"},
		{"abc", 0, ""},
	} {
		if got := middle(tt.in, tt.n); got != tt.want {
			t.Errorf("middle(%q, %d) = %q, want %q", tt.in, tt.n, got, tt.want)
		}
	}
}

func TestAges(t *testing.T) {
	for _, tt := range []struct {
		ms   int64
		want string
	}{
		{-5, "just now"}, {0, "just now"}, {999, "just now"}, {1000, "1s ago"}, {59_999, "59s ago"}, {60_000, "1m ago"},
		{3_599_999, "59m ago"}, {3_600_000, "1h ago"}, {47 * 3_600_000, "47h ago"}, {48 * 3_600_000, "2d ago"},
	} {
		if got := ago(tt.ms); got != tt.want {
			t.Errorf("ago(%d) = %q, want %q", tt.ms, got, tt.want)
		}
	}
}

func TestScopeAsTyped(t *testing.T) {
	for in, want := range map[string]string{
		"path:a/b.go": "a/b.go", "dir:a": "a/", "dir:.": ".", "glob:src/**/*.go": "src/**/*.go", "res:port/3000": "@port/3000",
		"path:a:b": "a:b", "later:x": "later:x", "odd": "odd",
	} {
		if got := scope(in); got != want {
			t.Errorf("scope(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestShortKey(t *testing.T) {
	const key = "12192c67b19625a46849b8487b314522-84040c0a9c0d9bba-972572093d36a033/4"
	for in, want := range map[string]string{key: "972572/4", "": "", "src/a.go": "src/a.go", "a-b-c/1": "a-b-c/1", key[:67]: key[:67]} {
		if got := shortKey(in); got != want {
			t.Errorf("shortKey(%q) = %q, want %q", in, got, want)
		}
	}
}
