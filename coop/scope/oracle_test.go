package scope_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/comity-dev/comity/coop/scope"
	"pgregory.net/rapid"
)

// The oracle knows the rules of docs/format-scope.md and nothing of this code:
// it writes out every choice in the text, and matches by trying everything.
// It is for ASCII patterns without escapes.

func oracleCovers(e scope.Entry, path string) bool {
	text, path := strings.ToLower(e.Text()), strings.ToLower(path)
	switch e.Form() {
	case scope.FormPath:
		return text == path
	case scope.FormDir:
		return text == "." || text == path || strings.HasPrefix(path, text+"/")
	case scope.FormGlob:
		for _, p := range oracleChoices(text) {
			if oraclePath(strings.Split(p, "/"), strings.Split(path, "/")) {
				return true
			}
		}
	}
	return false
}

// oracleChoices replaces the first innermost {a,b} until none is left.
func oracleChoices(p string) []string {
	end := strings.IndexByte(p, '}')
	if end < 0 {
		return []string{p}
	}
	start := strings.LastIndexByte(p[:end], '{')
	var out []string
	for _, alt := range strings.Split(p[start+1:end], ",") {
		out = append(out, oracleChoices(p[:start]+alt+p[end+1:])...)
	}
	return out
}

func oraclePath(pattern, path []string) bool {
	switch {
	case len(pattern) == 0:
		return len(path) == 0
	case pattern[0] == "**":
		return oraclePath(pattern[1:], path) || len(path) > 0 && oraclePath(pattern, path[1:])
	}
	return len(path) > 0 && oracleName(pattern[0], path[0]) && oraclePath(pattern[1:], path[1:])
}

func oracleName(p, name string) bool {
	if p == "" {
		return name == ""
	}
	switch p[0] {
	case '*':
		return oracleName(p[1:], name) || name != "" && oracleName(p, name[1:])
	case '?':
		return name != "" && oracleName(p[1:], name[1:])
	case '[':
		end := strings.IndexByte(p, ']')
		return name != "" && oracleClass(p[1:end], name[0]) && oracleName(p[end+1:], name[1:])
	}
	return name != "" && name[0] == p[0] && oracleName(p[1:], name[1:])
}

func oracleClass(class string, c byte) bool {
	not := class[0] == '!' || class[0] == '^'
	if not {
		class = class[1:]
	}
	for class != "" {
		lo, hi, n := class[0], class[0], 1
		if len(class) > 2 && class[1] == '-' {
			hi, n = class[2], 3
		}
		if lo <= c && c <= hi {
			return !not
		}
		class = class[n:]
	}
	return not
}

// everyPath is each path of at most max letters of the alphabet.
func everyPath(alphabet []string, max int) []string {
	var out []string
	level := []string{""}
	for range max {
		var next []string
		for _, p := range level {
			for _, c := range alphabet {
				next = append(next, p+c)
			}
		}
		level = next
		for _, p := range level {
			if legal(p) {
				out = append(out, p)
			}
		}
	}
	return out
}

func legal(p string) bool {
	for part := range strings.SplitSeq(p, "/") {
		if part == "" || part == "." || part == ".." {
			return false
		}
	}
	return true
}

// drawEntry makes an entry of any path form out of pieces; words that are none are drawn again.
func drawEntry(pieces []string) *rapid.Generator[scope.Entry] {
	return rapid.Custom(func(t *rapid.T) scope.Entry {
		make := rapid.SampledFrom([]func(string) (scope.Entry, error){scope.Path, scope.Dir, scope.Glob, scope.Glob, scope.Glob}).Draw(t, "form")
		word := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 6).Draw(t, "pieces"), "")
		e, err := make(word)
		if err != nil {
			t.Skip()
		}
		return e
	})
}

var asciiPieces = []string{
	"a", "b", "A", "ab", ".", "[.]", "/", "/", "/", "*", "?", "**", "**/", "/**", "/**/",
	"[ab]", "[!a]", "[^ab]", "[a-c]", "[B-Z]", "[!-.]", "{a,b}", "{a,*}", "{,a}", "{a/b,c}", "{b,**/a}", "{a,{b,c}}c",
}

func TestMeetsAgreesWithTheOracle(t *testing.T) {
	paths := everyPath([]string{"a", "b", "c", ".", "/"}, 5)
	entries := drawEntry(asciiPieces)
	met, apart := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		a, b := entries.Draw(t, "a"), entries.Draw(t, "b")
		both := ""
		for _, p := range paths {
			inA, inB := oracleCovers(a, p), oracleCovers(b, p)
			if a.Covers(p) != inA {
				t.Fatalf("%s.Covers(%q) = %v, want %v", a, p, !inA, inA)
			}
			if inA && inB && both == "" {
				both = p
			}
		}
		w, ok := a.Meets(b)
		switch {
		case !ok && both != "":
			t.Fatalf("%s.Meets(%s) = false, but both cover %q", a, b, both)
		case ok && !(oracleCovers(a, w) && oracleCovers(b, w) && legal(w)):
			t.Fatalf("%s.Meets(%s) = %q, which they do not both cover", a, b, w)
		case ok && both != "" && strings.Count(w, "/") > strings.Count(both, "/"):
			t.Fatalf("%s.Meets(%s) = %q, want as few names as %q", a, b, w, both)
		}
		checkPair(t, a, b)
		checkBulk(t, scope.Set{a}, scope.Set{b}, rapid.IntRange(0, 70).Draw(t, "at"))
		if ok {
			met++
		} else {
			apart++
		}
	})
	if met == 0 || apart == 0 {
		t.Errorf("%d pairs met and %d did not: the draw shows nothing", met, apart)
	}
}

// checkBulk holds that two sets meet in bulk when they meet with a witness, wherever
// in its words the one is laid, and whether its letters are asked alone or kept.
func checkBulk(t interface{ Fatalf(string, ...any) }, a, b scope.Set, at int) {
	_, want := a.Meets(b)
	for _, few := range []int{0, 8} {
		if got, back := scope.MeetInBulk(a, b, at, few), scope.MeetInBulk(b, a, at, few); got != want || back != want {
			t.Fatalf("MeetInBulk(%+q, %+q, %d, %d) = %v and turned round %v, want %v", a.Strings(), b.Strings(), at, few, got, back, want)
		}
	}
}

// checkPair holds what must be true of any two entries.
func checkPair(t interface{ Fatalf(string, ...any) }, a, b scope.Entry) {
	w, ok := a.Meets(b)
	if v, back := b.Meets(a); back != ok || v != w {
		t.Fatalf("%s.Meets(%s) = %q, %v, and turned round %q, %v", a, b, w, ok, v, back)
	}
	if ok && a.Form() != scope.FormResource {
		if !a.Covers(w) || !b.Covers(w) {
			t.Fatalf("%s.Meets(%s) = %q, covered by the first %v, by the second %v", a, b, w, a.Covers(w), b.Covers(w))
		}
		drive := len(w) > 1 && w[1] == ':' // a path here, and not to be claimed alone
		if e, err := scope.Path(w); len(w) < 200 && !drive && (err != nil || e.Text() != w) {
			t.Fatalf("%s.Meets(%s) = %q, which is no clean path: %v", a, b, w, err)
		}
	}
	if got := (scope.Set{a}).Plan().Meets(scope.Set{b}.Plan()); got != ok {
		t.Fatalf("the plan of %s meets that of %s: %v, want %v", a, b, got, ok)
	}
	for _, e := range []scope.Entry{a, b} {
		if _, ok := e.Meets(e); !ok {
			t.Fatalf("%s does not meet itself", e)
		}
		if p, err := scope.Parse(e.String()); err != nil || p != e {
			t.Fatalf("Parse(%q) = %v, %v", e.String(), p, err)
		}
	}
	if n, most := scope.Work(a, b), 16*(a.States()+1)*(b.States()+1); n > most || n > scope.MaxMeetStates {
		t.Fatalf("Work(%s, %s) = %d, more than %d", a, b, n, most)
	}
}

var unicodePieces = []string{
	"e\u0301", "\u00e9", "E\u0301", "e", "x\u0302", "K", "\u212a", "ß", "ẞ", "ss", "σ", "ς", "Σ", "İ", "ı", "i", "\u0345", "\u0301",
	"J\u030c", "ǰ", "가", "\u1100", "\u1161", "\U00016d67", "/", "/", "*", "?", "**", "[a-z]", "[!e]", "[Α-Ω]", "[ß-ÿ]", "[^ -\U0010ffff]", "[α-π]", "[!α-ω]", "[.é]", "[!ß-ÿ]", ".", "{é,e}", "\\*",
}

// Meets and Covers must agree where letters are not bytes.
func TestMeetsAgreesWithCoversBeyondASCII(t *testing.T) {
	paths := everyPath([]string{"e", "e\u0301", "x\u0302", "k", "ẞ", "ς", "ı", "\u0345", "J\u030c", "\u1100\u1161", "*", "/"}, 3)
	entries := drawEntry(unicodePieces)
	rapid.Check(t, func(t *rapid.T) {
		a, b := entries.Draw(t, "a"), entries.Draw(t, "b")
		_, ok := a.Meets(b)
		for _, p := range paths {
			if a.Covers(p) && b.Covers(p) && !ok {
				t.Fatalf("%+q.Meets(%+q) = false, but both cover %+q", a, b, p)
			}
		}
		checkPair(t, a, b)
		checkBulk(t, scope.Set{a}, scope.Set{b}, rapid.IntRange(0, 70).Draw(t, "at"))
	})
}

func TestSetMeetsWhenEntriesMeet(t *testing.T) {
	entries := drawEntry(asciiPieces)
	sets := rapid.SliceOfN(entries, 1, 4)
	rapid.Check(t, func(t *rapid.T) {
		a, err := scope.NewSet(sets.Draw(t, "a")...)
		if err != nil {
			t.Fatal(err)
		}
		b, err := scope.NewSet(sets.Draw(t, "b")...)
		if err != nil {
			t.Fatal(err)
		}
		want := false
		for _, x := range a {
			for _, y := range b {
				_, ok := x.Meets(y)
				want = want || ok
			}
		}
		m, ok := a.Meets(b)
		if _, back := b.Meets(a); ok != want || back != want {
			t.Fatalf("%v.Meets(%v) = %v and turned round %v, want %v", a, b, ok, back, want)
		}
		checkBulk(t, a, b, rapid.IntRange(0, 70).Draw(t, "at"))
		if a.Plan().Meets(b.Plan()) != want {
			t.Fatalf("the plan of %v meets that of %v: %v, want %v", a, b, !want, want)
		}
		if ok && !(m.A.Covers(m.Witness) && m.B.Covers(m.Witness)) {
			t.Fatalf("%v.Meets(%v) = %+v, whose witness is not covered by both", a, b, m)
		}
		if back, err := scope.ParseSet(a.Strings()); err != nil || len(back) != len(a) {
			t.Fatalf("ParseSet(%q) = %v, %v", a.Strings(), back, err)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"path:a/b.go", "dir:.", "glob:src/**/*.{go,mod}", "res:port/3000", "glob:[!a-c]?\\*", "path:e\u0301", "path:a\xff", "dir:../a", "glob:[.]"} {
		f.Add(s)
	}
	other, _ := scope.Glob("**/{a,b}*[!c].?")
	f.Fuzz(func(t *testing.T, s string) {
		e, err := scope.Parse(s)
		if err != nil {
			return
		}
		if e.String() != s || !utf8.ValidString(s) || len(s) > scope.MaxEntryBytes {
			t.Fatalf("Parse(%q).String() = %q", s, e)
		}
		checkPair(t, e, other)
		if e.Form() != scope.FormResource {
			checkBulk(t, scope.Set{e}, scope.Set{other}, len(s)%70)
		}
	})
}

func FuzzGlob(f *testing.F) {
	for _, s := range []string{"*/", "./a//*.go", "{a,b/{c,d}}/**/**", "[a-", "\\", "*\u0301", "{,a}/b", "a**", "[!!]x-[a-]", "*:"} {
		f.Add(s, "src/*.go")
	}
	f.Fuzz(func(t *testing.T, s, u string) {
		e, err := scope.Glob(s)
		if err != nil {
			return
		}
		if again, err := scope.Glob(e.Text()); err != nil || again != e {
			t.Fatalf("Glob(%q) = %v, %v, want %v", e.Text(), again, err, e)
		}
		o, err := scope.Glob(u)
		if err != nil {
			o, _ = scope.Dir(".")
		}
		checkPair(t, e, o)
		checkBulk(t, scope.Set{e}, scope.Set{o}, len(s)%70)
	})
}
