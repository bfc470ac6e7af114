package scope_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/comity-dev/comity/coop/scope"
	"github.com/google/go-cmp/cmp"
)

func mustParse(t testing.TB, stored string) scope.Entry {
	t.Helper()
	e, err := scope.Parse(stored)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func mustSet(t testing.TB, stored ...string) scope.Set {
	t.Helper()
	var entries []scope.Entry
	for _, s := range stored {
		entries = append(entries, mustParse(t, s))
	}
	s, err := scope.NewSet(entries...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestMeets(t *testing.T) {
	for _, tt := range []struct {
		a, b    string
		witness string // "" when they do not meet
	}{
		{"path:a/b.go", "path:a/b.go", "a/b.go"},
		{"path:a", "path:a/b", ""}, // a file holds no files
		{"path:a", "dir:a", "a"},   // a folder covers its own name
		{"path:ab", "dir:a", ""},   // a shared prefix is not a shared path
		{"path:a/b/c", "dir:a", "a/b/c"},
		{"dir:a", "dir:a/b", "a/b"},
		{"dir:a", "dir:ab", ""},
		{"dir:a", "dir:a", "a"},
		{"dir:.", "dir:.", "x"},
		{"dir:.", "path:a", "a"},
		{"dir:.", "res:port/3000", ""}, // a resource is no path
		{"path:port/3000", "res:port/3000", ""},
		{"res:port/3000", "res:port/3000", "@port/3000"},
		{"res:port", "res:port/3000", ""},
		{"glob:a/**", "path:a", "a"},
		{"glob:a/**", "path:ab", ""},
		{"glob:a/**/b", "path:a/b", "a/b"},
		{"glob:a/*", "path:a", ""},
		{"glob:a/*", "path:a/b/c", ""}, // * stays within one name
		{"glob:a/*", "dir:a/b", "a/b"},
		{"glob:a/*/c", "dir:a/b", "a/b/c"},
		{"glob:src/**/*.go", "glob:src/api/**", "src/api/x.go"},
		{"glob:src/**/*.go", "glob:src/**/*.ts", ""},
		{"glob:*_test.go", "glob:main*", "main_test.go"},
		{"glob:**/Makefile", "glob:tools/*", "tools/Makefile"},
		{"glob:?", "glob:[.]a", ""},
		{"glob:?", "glob:{.,}?", "x"},
		{"glob:[!a-y]", "glob:?", "z"},
		{"glob:[a-c]", "glob:[!ac]", "b"},
		{"glob:[a-c]", "glob:[!A-C]", ""},
		{"glob:{a,b}/x*", "glob:{b,c}/*y", "b/xy"},
		{"glob:src/{api,web}/**/[!_]*.ts", "glob:src/**/index.*", "src/api/index.ts"},
		{"glob:src/{api,web}/**/[!_]*.ts", "glob:src/*/*.go", ""},
		{"glob:\\[id\\]/*", "dir:[id]", "[id]/x"},
		{"glob:[id]/*", "dir:[id]", ""},
		{"glob:*.*", "path:.env", ".env"}, // names with a dot first are names
	} {
		a, b := mustParse(t, tt.a), mustParse(t, tt.b)
		got, ok := a.Meets(b)
		if got != tt.witness || ok != (tt.witness != "") {
			t.Errorf("%s.Meets(%s) = %q, %v, want %q", a, b, got, ok, tt.witness)
		}
		checkPair(t, a, b)
	}
}

func TestCovers(t *testing.T) {
	for _, tt := range []struct {
		entry, path string
		want        bool
	}{
		{"glob:src/{api,web}/**/[!_]*.ts", "src/api/x.ts", true},
		{"glob:src/{api,web}/**/[!_]*.ts", "src/web/a/b/Main.TS", true},
		{"glob:src/{api,web}/**/[!_]*.ts", "src/api/.ts", false},
		{"glob:src/{api,web}/**/[!_]*.ts", "src/api/_x.ts", false},
		{"glob:src/{api,web}/**/[!_]*.ts", "src/api/x.tsx", false},
		{"glob:src/{api,web}/**/[!_]*.ts", "api/x.ts", false},
		{"dir:.", ".", true},
		{"glob:**", ".", false},
		{"dir:a", "./a", false}, // covered is what is spelt as a path
		{"dir:a", "a/", false},
		{"dir:a", "a//b", false},
		{"dir:a", "/a", false},
		{"dir:a", "a/../b", false},
		{"dir:.", "", false},
		{"dir:a", "a/line\nbreak", true}, // no entry, and still in the folder
		{"dir:a", "a/\xff\xfe", true},
		{"glob:a/?", "a/\xff", true},
		{"glob:a/[ -z]", "a/\n", false},
		{"glob:a/*", "a/" + strings.Repeat("x", 1000), true},
		{"res:port/3000", "port/3000", false},
	} {
		if got := mustParse(t, tt.entry).Covers(tt.path); got != tt.want {
			t.Errorf("%s.Covers(%q) = %v, want %v", tt.entry, tt.path, got, tt.want)
		}
	}
	if (scope.Entry{}).Covers("a") {
		t.Error("the zero entry covers a path")
	}
	if _, ok := (scope.Entry{}).Meets(mustParse(t, "dir:.")); ok {
		t.Error("the zero entry meets a folder")
	}
}

func TestConstructorsClean(t *testing.T) {
	for _, tt := range []struct {
		make       func(string) (scope.Entry, error)
		word, want string
		show       string
	}{
		{scope.Path, "./a//b/", "path:a/b", "a/b"},
		{scope.Path, "a/./b/../c", "path:a/c", "a/c"},
		{scope.Path, "cafe\u0301", "path:caf\u00e9", "caf\u00e9"},
		{scope.Path, "@types/a.d.ts", "path:@types/a.d.ts", "./@types/a.d.ts"},
		{scope.Path, "README", "path:README", "README"}, // compared folded, kept as written
		{scope.Path, "a b/#c,d:e", "path:a b/#c,d:e", "a b/#c,d:e"},
		{scope.Path, "a:b", "path:a:b", "a:b"},
		{scope.Dir, "a/b/", "dir:a/b", "a/b/"},
		{scope.Dir, "", "", ""},
		{scope.Dir, "./", "dir:.", "."},
		{scope.Glob, "./src//**/**/*.go", "glob:src/**/*.go", "src/**/*.go"},
		{scope.Glob, "src/*/", "glob:src/*/**", "src/*/**"},
		{scope.Glob, "@a/*", "glob:@a/*", "./@a/*"},
		{scope.Resource, "port/3000", "res:port/3000", "@port/3000"},
	} {
		e, err := tt.make(tt.word)
		if got := e.String(); got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("made from %q = %q, %v, want %q", tt.word, got, err, tt.want)
		}
		if got := e.Show(); got != tt.show {
			t.Errorf("made from %q shows %q, want %q", tt.word, got, tt.show)
		}
	}
}

// What is refused says why and, where there is one, what to write instead.
func TestRefusals(t *testing.T) {
	long := strings.Repeat("x", scope.MaxEntryBytes)
	for _, tt := range []struct {
		make         func(string) (scope.Entry, error)
		word         string
		reason, hint string // parts of
	}{
		{scope.Path, "", "empty", "name a path"},
		{scope.Path, ".", "is a folder", "write ."},
		{scope.Path, "../a", "outside", "@name"},
		{scope.Path, "a/../../b", "outside", "@name"},
		{scope.Path, "/etc/passwd", "absolute", "top of the repository"},
		{scope.Path, `C:\repo\a.go`, "backslash", "write /"},
		{scope.Path, "C:/repo/a.go", "drive letter", "top of the repository"},
		{scope.Path, "c:", "drive letter", "top of the repository"},
		{scope.Path, `\\host\share\a`, "backslash", "write /"},
		{scope.Path, `src\a.go`, "backslash", "write /"},
		{scope.Path, "a\nb", "U+000A", "folder above"},
		{scope.Path, "a\x00b", "U+0000", "folder above"},
		{scope.Path, "a\u202egnp.exe", "U+202E", "folder above"},
		{scope.Path, "a\xff", "not UTF-8", "folder above"},
		{scope.Path, "a" + strings.Repeat("\u0301", 17), "combining marks", "folder above"},
		{scope.Path, "a" + strings.Repeat("\u0344", 9), "combining marks", "folder above"}, // two marks each
		{scope.Path, long, "261 bytes", "folder above"},
		{scope.Glob, `src\app\*.go`, `a \ before`, "write / between"},
		{scope.Glob, `src\*.go`, "no wildcard", "one path"},
		{scope.Glob, "a/b.go", "no wildcard", "one path"},
		{scope.Glob, "/a/*", "empty name", "top of the repository"},
		{scope.Glob, "../*", ". or ..", "top of the repository"},
		{scope.Glob, "a/{b,..}/c", ". or ..", "top of the repository"},
		{scope.Glob, "{,a}/b", "empty name", ""},
		{scope.Glob, "a**", "** beside", "alone"},
		{scope.Glob, "***", "** beside", "alone"},
		{scope.Glob, "*{*,a}", "** beside", "alone"},
		{scope.Glob, "[a", "[ without", `\[`},
		{scope.Glob, "a]", "] without", `\]`},
		{scope.Glob, "{a,b", "{ without", `\{`},
		{scope.Glob, "a}*", "} without", `\}`},
		{scope.Glob, "{a}", "one alternative", "{a,b}"},
		{scope.Glob, "[]", "empty class", `\]`},
		{scope.Glob, "[b-a]", "range b-a", "lower"},
		{scope.Glob, "[a/b]", "/ within", "one character"},
		{scope.Glob, "[[:alpha:]]", "[ within", `\[`},
		{scope.Glob, "[x\u0302]", "combining mark within", "{a,b}"},
		{scope.Glob, "*\u0302", "combining mark after", "before it"},
		{scope.Glob, "[.]", "no name matches", ""},
		{scope.Glob, "a/{[.],b}", "no name matches", ""},
		{scope.Glob, strings.Repeat("**/a/", 9), "more than 8 **", "folder above"},
		{scope.Glob, strings.Repeat("{a,b}", 7), "more than 64 alternatives", "folder above"},
		{scope.Glob, "{{{{{a,b},c},d},e},f}", "nested deeper", "apart"},
		{scope.Glob, strings.Repeat("{a,b}", 6) + strings.Repeat("*?", 20), "1024 states", "folder above"},
		{scope.Glob, strings.Repeat("a/", 63) + "*", "63 folders", "folder above"},
		{scope.Resource, "", "empty", ""},
		{scope.Resource, "@port", "in it", "one name"},
		{scope.Resource, "port/*", "in it", "patterns are for paths"},
		{scope.Resource, "port 3000", "in it", "one name"},
		{scope.Resource, "port//1", "empty part", "@name"},
		{scope.Resource, "..", "empty part", "@name"},
	} {
		_, err := tt.make(tt.word)
		var e *scope.Error
		if !errors.As(err, &e) {
			t.Errorf("made from %q: error %v, want an Error", tt.word, err)
			continue
		}
		if e.Word != tt.word || !strings.Contains(e.Reason, tt.reason) || !strings.Contains(e.Hint, tt.hint) {
			t.Errorf("made from %q: %+v, want reason %q, hint %q", tt.word, e, tt.reason, tt.hint)
		}
	}
}

func TestParseTakesOnlyWhatStringPrints(t *testing.T) {
	for _, s := range []string{
		"", "a/b", "file:a", "path:", "path:a/", "path:./a", "path:a//b", "path:/a", "path:.", "path:..", "path:e\u0301", "path:a\xff",
		"dir:a/", "dir:", "dir:./a", "dir:/", "dir:../a", "Path:a", " path:a", "path:a\n", `path:a\b`,
		"glob:a", "glob:./*", "glob:a//*", "glob:**/**", "glob:a/*/", "glob:/*", "res:", "res:@a", "res:/a", "res:a/", "res:a*",
	} {
		if e, err := scope.Parse(s); err == nil {
			t.Errorf("Parse(%q) = %v, want an error", s, e)
		}
	}
	for _, s := range []string{"path:a/[id]/p.tsx", "path:@types/x", "dir:.", "dir:a/b", "glob:**", "glob:a\\*?", "res:db/test", "path: a", "path:path:a"} {
		if e, err := scope.Parse(s); err != nil || e.String() != s {
			t.Errorf("Parse(%q) = %v, %v", s, e, err)
		}
	}
}

func TestEntryAtItsBound(t *testing.T) {
	fits := strings.Repeat("x", scope.MaxEntryBytes-len("path:"))
	if _, err := scope.Path(fits); err != nil {
		t.Errorf("a path of %d bytes stored: %v", scope.MaxEntryBytes, err)
	}
	if _, err := scope.Path(fits + "x"); err == nil {
		t.Errorf("a path of %d bytes stored was taken", scope.MaxEntryBytes+1)
	}
}

func TestNewSetSortsAndDropsRepeats(t *testing.T) {
	s := mustSet(t, "res:b", "path:b", "dir:b", "path:a", "path:b", "path:B")
	want := []string{"dir:b", "path:B", "path:a", "path:b", "res:b"}
	if diff := cmp.Diff(want, s.Strings()); diff != "" {
		t.Errorf("Strings (-want +got):\n%s", diff)
	}
	if e, ok := s.Covers("b/c"); !ok || e.String() != "dir:b" {
		t.Errorf("Covers = %v, %v, want dir:b", e, ok)
	}
}

func TestSetBounds(t *testing.T) {
	var entries []scope.Entry
	var stored []string
	for i := range scope.MaxEntries + 1 {
		entries = append(entries, mustParse(t, fmt.Sprintf("path:a%03d", i)))
		stored = append(stored, entries[i].String())
	}
	if _, err := scope.NewSet(entries[:scope.MaxEntries]...); err != nil {
		t.Errorf("a set of %d: %v", scope.MaxEntries, err)
	}
	if _, err := scope.ParseSet(stored[:scope.MaxEntries]); err != nil {
		t.Errorf("a stored set of %d: %v", scope.MaxEntries, err)
	}
	for name, do := range map[string]func() error{
		"one more":         func() error { _, err := scope.NewSet(entries...); return err },
		"one more, stored": func() error { _, err := scope.ParseSet(stored); return err },
		"empty":            func() error { _, err := scope.NewSet(); return err },
		"empty, stored":    func() error { _, err := scope.ParseSet(nil); return err },
		"unsorted":         func() error { _, err := scope.ParseSet([]string{"path:b", "path:a"}); return err },
		"repeated":         func() error { _, err := scope.ParseSet([]string{"path:a", "path:a"}); return err },
		"zero entry":       func() error { _, err := scope.NewSet(scope.Entry{}); return err },
		"large patterns": func() error {
			p := strings.Repeat("{a,b}", 6) + strings.Repeat("*?", 4)
			_, err := scope.NewSet(mustParse(t, "glob:"+p), mustParse(t, "glob:x"+p), mustParse(t, "glob:y"+p))
			return err
		},
	} {
		var e *scope.Error
		if err := do(); !errors.As(err, &e) {
			t.Errorf("%s: %v, want an Error", name, err)
		}
	}
}

// A pattern that someone made to hurt is refused at the door, or its meetings
// are bounded by the states that were counted there.
func TestHostilePairsAreBounded(t *testing.T) {
	var hostile []scope.Entry
	for _, p := range []string{
		strings.Repeat("*a", 120) + "*", strings.Repeat("*b", 120) + "c", strings.Repeat("?*", 120),
		strings.Repeat("**/*a*a*/", 8) + "x", strings.Repeat("*b*/**/", 8) + "y", strings.Repeat("**/?*/", 8) + "*",
		"{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}*a?*", strings.Repeat("*/", 60) + "x", strings.Repeat("[!a-y]*", 34),
		strings.Repeat("*[ab]", 48), "{" + strings.Repeat("*a*,", 60) + "*b*}", strings.Repeat("**/*/", 8) + "*", strings.Repeat("*.", 100) + "*",
	} {
		e, err := scope.Glob(p)
		if err != nil {
			t.Fatal(err)
		}
		hostile = append(hostile, e)
	}
	for _, stored := range []string{"path:" + strings.Repeat("a", 250), "path:" + strings.Repeat("a/", 120) + "a", "dir:" + strings.Repeat("b/", 120) + "b"} {
		hostile = append(hostile, mustParse(t, stored))
	}
	most := 0
	for i, a := range hostile {
		for _, b := range hostile[i:] {
			checkPair(t, a, b)
			checkBulk(t, scope.Set{a}, scope.Set{b}, 61)
			most = max(most, scope.Work(a, b))
		}
	}
	if most == 0 || most > scope.MaxMeetStates {
		t.Errorf("the worst pair visited %d states, the bound is %d", most, scope.MaxMeetStates)
	}
	t.Logf("the worst pair visited %d states of %d allowed", most, scope.MaxMeetStates)
}

// Case and Unicode form never make two names of one.
func TestOneNameInManySpellings(t *testing.T) {
	for _, tt := range []struct {
		name, a, b string
		want       bool
	}{
		{"case", "README.md", "readme.MD", true},
		{"composed and not", "caf\u00e9", "CAFE\u0301", true},
		{"order of marks", "a\u0323\u0301", "a\u0301\u0323", true},
		{"hangul", "가", "\u1100\u1161", true},
		{"kelvin", "\u212a", "k", true},
		{"angstrom", "\u212b", "å", true},
		{"long s", "ſ", "S", true},
		{"sigma, final sigma", "ΟΔΟΣ", "οδος", true},
		{"sigma within", "ΟΔΟΣ", "οδοσ", true},
		{"sharp s, capital", "straße", "STRAẞE", true},
		{"sharp s, two", "straße", "STRASSE", false},
		{"dotted capital I", "İ", "i", false},
		{"dotless i", "ı", "I", false},
		{"capital that composes only small", "J\u030c", "\u01f0", true},
		{"accent matters", "cafe", "café", false},
		{"ligature is not folded", "ﬁ", "fi", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, err := scope.Path(tt.a)
			if err != nil {
				t.Fatal(err)
			}
			b, err := scope.Path(tt.b)
			if err != nil {
				t.Fatal(err)
			}
			if _, got := a.Meets(b); got != tt.want {
				t.Errorf("%+q.Meets(%+q) = %v, want %v", tt.a, tt.b, got, tt.want)
			}
			g := mustParse(t, "glob:"+a.Text()+"*")
			if got := g.Covers(tt.b); got != tt.want && tt.b != "STRASSE" {
				t.Errorf("%+q.Covers(%+q) = %v, want %v", g, tt.b, got, tt.want)
			}
			checkPair(t, a, b)
		})
	}
}

// A class means its folded characters, no more and no fewer.
func TestClassesUnderFolding(t *testing.T) {
	for _, tt := range []struct {
		class, name string
		want        bool
	}{
		{"[A-Z]", "q", true},
		{"[a-z]", "Q", true},
		{"[a-z]", "\u212a", true},
		{"[a-z]", "ſ", true},
		{"[!a-z]", "K", false},
		{"[!K]", "\u212a", false},
		{"[A-a]", "q", true}, // Q is in it
		{"[Z-a]", "b", false},
		{"[Z-a]", "z", true},
		{"[Z-a]", "_", true},
		{"[Α-Ω]", "ς", true},
		{"[ß]", "ẞ", true},
		{"[i]", "İ", false},
		{"[a-z]", "é", false},
		{"[!a-z]", "x\u0302", true},
		{"?", "x\u0302", true},
		{"?", "é", true},
		{"?", "ab", false},
		{"[a-]", "-", true},
		{"[-a]", "-", true},
		{"[a\\-c]", "b", false},
		{"[a^!]", "^", true},
		{"[^!]", "^", true},
		{"[,{]", "{", true},
		{"*x\u0345", "axΙ", true}, // the mark folds to a letter
		{"*x\u0345", "ax\u0345", true},
		{"*x\u0345", "ax", false},
		{"?\u0345", "xι", true},
	} {
		if got := mustParse(t, "glob:"+tt.class).Covers(tt.name); got != tt.want {
			t.Errorf("%s.Covers(%+q) = %v, want %v", tt.class, tt.name, got, tt.want)
		}
	}
}

// Of the characters that stand alone the controls are refused, each of them, and the
// backslash in a path.
func TestEveryControlCharacterIsRefused(t *testing.T) {
	for r := rune(0); r < 0x250; r++ {
		_, err := scope.Path("a" + string(r) + "b")
		refused := r < 0x20 || 0x7f <= r && r < 0xa0 || r == '\\'
		if (err != nil) != refused {
			t.Errorf("Path with %U: %v, want it refused: %v", r, err, refused)
		}
	}
}
