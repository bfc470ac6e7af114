package scope_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/comity-dev/comity/coop/scope"
)

// What users of other tools reported of paths and patterns, one test each.

// A prefilter that looked from one side missed the overlap seen from the other.
func TestReportedOverlapSeenFromOneSideOnly(t *testing.T) {
	pairs := [][2]string{
		{"glob:src/*/x.go", "glob:src/api/*"}, {"glob:**/*.go", "path:a/b/c.go"}, {"glob:*/b", "dir:a"}, {"glob:a*/**", "glob:*b/c"}, {"dir:.", "glob:*"},
	}
	for _, p := range pairs {
		for _, turned := range []bool{false, true} {
			if turned {
				p[0], p[1] = p[1], p[0]
			}
			var x scope.Index[int]
			x.Add(1, mustSet(t, p[0]).Plan())
			if got := slices.Collect(x.Meeting(mustSet(t, p[1]).Plan())); !slices.Equal(got, []int{1}) {
				t.Errorf("an index of %s: Meeting(%s) = %v, want [1]", p[0], p[1], got)
			}
			if _, ok := mustParse(t, p[0]).Meets(mustParse(t, p[1])); !ok {
				t.Errorf("%s.Meets(%s) = false", p[0], p[1])
			}
		}
	}
}

// "src/**" and "src/app.rs" were both held exclusively.
func TestReportedPatternAndFileBothExclusive(t *testing.T) {
	if w, ok := mustParse(t, "glob:src/**").Meets(mustParse(t, "path:src/app.rs")); w != "src/app.rs" || !ok {
		t.Errorf("Meets = %q, %v, want src/app.rs", w, ok)
	}
}

// "docs/**" and a pattern below it were cut to equal roots and called apart.
func TestReportedPatternAndItsChild(t *testing.T) {
	for _, child := range []string{"glob:docs/api/**", "glob:docs/*.md", "dir:docs/api", "dir:docs", "glob:docs/**"} {
		if _, ok := mustParse(t, "glob:docs/**").Meets(mustParse(t, child)); !ok {
			t.Errorf("glob:docs/**.Meets(%s) = false", child)
		}
	}
	if _, ok := mustParse(t, "glob:docs/**").Meets(mustParse(t, "glob:docsite/**")); ok {
		t.Error("glob:docs/** meets glob:docsite/**")
	}
}

// "./a" and "A" were taken, shown as guarded, and guarded nothing.
func TestReportedSpellingThatGuardsNothing(t *testing.T) {
	at := tree{cwd: ".", names: []string{"a"}}
	for _, word := range []string{"./a", "a", "A", "b/../a", ".//a"} {
		e, err := scope.Door(at, word, false)
		if err != nil {
			t.Fatal(err)
		}
		if !e.Covers("a") {
			t.Errorf("Door(%q) = %s, which does not cover a", word, e)
		}
		if want := "path:" + e.Show(); e.String() != want || e.Covers("./a") {
			t.Errorf("Door(%q) is stored as %s, want %s", word, e, want)
		}
	}
}

// Case, Unicode form and drive letter gave several keys to one file that did
// not exist yet.
func TestReportedKeysOfAFileNotYetThere(t *testing.T) {
	at := tree{cwd: "."}
	first, err := scope.Door(at, "src/Caf\u00e9.go", false)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"src/cafe\u0301.go", "SRC/CAFE\u0301.GO", "./src/caf\u00c9.go"} {
		e, err := scope.Door(at, word, false)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := first.Meets(e); !ok {
			t.Errorf("%s does not meet %s", first, e)
		}
	}
	if e, err := scope.Door(at, "c:/src/cafe.go", false); err == nil {
		t.Errorf("a drive letter made %s", e)
	}
}

// Case rules were guessed from the operating system. Ours are one table, so
// there is no system to guess: both names meet although both could exist.
func TestReportedCaseRulesOfTheSystem(t *testing.T) {
	for _, p := range [][2]string{{"path:Makefile", "path:makefile"}, {"dir:Docs", "path:docs/x"}, {"glob:*.PNG", "path:a.png"}, {"res:DB/Test", "res:db/test"}} {
		if _, ok := mustParse(t, p[0]).Meets(mustParse(t, p[1])); !ok {
			t.Errorf("%s does not meet %s", p[0], p[1])
		}
	}
}

// A guard saw only the last of several files of one edit. What an edit touches
// is a set, and what cannot be told is the whole repository.
func TestReportedGuardOfTheLastFileOnly(t *testing.T) {
	held := mustSet(t, "path:b")
	if m, ok := held.Meets(mustSet(t, "path:a", "path:b", "path:c")); !ok || m.Witness != "b" {
		t.Errorf("Meets = %+v, %v, want b", m, ok)
	}
	if m, ok := held.Meets(mustSet(t, "dir:.")); !ok || m.Witness != "b" {
		t.Errorf("Meets(dir:.) = %+v, %v, want b", m, ok)
	}
}

// A lock of an absolute Windows path could not be removed; special characters
// and folders below skipped the check.
func TestReportedPathsThatSkipChecks(t *testing.T) {
	for _, word := range []string{`C:\repo\a.psd`, `\\server\a`, "/abs/a", "../a", "a/../../b"} {
		if e, err := scope.Path(word); err == nil {
			t.Errorf("Path(%q) = %s, want an error", word, e)
		}
	}
	at := tree{cwd: "."}
	for i, name := range []string{"a b.psd", "a#b", "a&b;c", "'q'", `"q"`, "a,b", "a!b", "$HOME", "-rf", "~", "%41", "a:b", "日本/語", "a/b/c/d/e", "a]b", "a}b"} {
		e, err := scope.Door(at, name, false)
		if err != nil {
			t.Errorf("Door(%q): %v", name, err)
			continue
		}
		var x scope.Index[int]
		s, err := scope.NewSet(e)
		if err != nil {
			t.Fatal(err)
		}
		x.Add(i, s.Plan())
		if !e.Covers(name) || !slices.Equal(slices.Collect(x.Covering(name)), []int{i}) {
			t.Errorf("%s does not cover %q", e, name)
		}
	}
}

// Registries of owners did not see where a symbolic link leads.
func TestReportedSymbolicLink(t *testing.T) {
	at := tree{cwd: ".", names: []string{"a"}, escapes: "link"}
	for _, word := range []string{"link", "link/x", "./link/", "link/*.go"} {
		if e, err := scope.Door(at, word, false); !errors.Is(err, errEscapes) {
			t.Errorf("Door(%q) = %v, %v, want %v", word, e, err, errEscapes)
		}
	}
}

func ExampleEntry_Meets() {
	a, _ := scope.Glob("src/{api,web}/**/[!_]*.ts")
	b, _ := scope.Glob("src/**/index.*")
	c, _ := scope.Glob("src/*/*.go")
	fmt.Println(a.Meets(b))
	fmt.Println(a.Meets(c))
	// Output:
	// src/api/index.ts true
	//  false
}

func ExampleIndex() {
	var x scope.Index[string]
	api, _ := scope.Dir("src/api")
	s, _ := scope.NewSet(api)
	x.Add("ada", s.Plan())
	for who := range x.Covering("src/api/x.go") {
		fmt.Println(who)
	}
	// Output: ada
}
