package scope_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/comity-dev/comity/coop/scope"
)

var update = flag.Bool("update", false, "write the vectors anew; a changed vector is a broken format")

const vectorFile = "../../testdata/vectors/scopes.json"

// A vectors is all of scopes.json: docs/format-scope.md says what decides it.
type vectors struct {
	Taken    []takenVector   `json:"taken"`
	Refused  []refusedVector `json:"refused"`
	Sets     []setVector     `json:"sets"`
	Covers   []coverVector   `json:"covers"`
	Meetings []meetVector    `json:"meetings"`
}

// A takenVector is an entry in its stored form.
type takenVector struct {
	About  string `json:"about"`
	Entry  string `json:"entry"`
	States int    `json:"states,omitempty"` // of a pattern
}

// A refusedVector is what no event may hold as an entry.
type refusedVector struct {
	About string `json:"about"`
	Entry string `json:"entry"`
}

type setVector struct {
	About string   `json:"about"`
	Set   []string `json:"set"`
	Taken bool     `json:"taken"`
}

// A coverVector asks about a path, which need not be in any form.
type coverVector struct {
	Entry  string `json:"entry"`
	Path   string `json:"path"`
	Covers bool   `json:"covers"`
}

// A meetVector holds for both directions. Its witness is there where the format
// leaves no choice of one.
type meetVector struct {
	About   string `json:"about,omitempty"`
	A       string `json:"a"`
	B       string `json:"b"`
	Meet    bool   `json:"meet"`
	Witness string `json:"witness,omitempty"`
}

const (
	circumflex = "\u0302" // has no composed form with x
	vowelJamo  = "\u1161" // combines, and is no mark by its class
	later      = "\u0897" // assigned in Unicode 16, with combining class 230
)

// big is a pattern of 57 alternatives: 56 of 17 states, and one of n letters and 15.
func big(n int) string {
	return "glob:{{a,b,c,d,e,f,g,h}{a,b,c,d,e,f,g}," + strings.Repeat("z", n) + "}0123456789abcd"
}

// rising is n texts that sort as they are counted.
func rising(n int, format string) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(format, i)
	}
	return all
}

func takenEntries() []takenVector {
	x := strings.Repeat
	var all []takenVector
	take := func(about string, entries ...string) {
		for _, e := range entries {
			all = append(all, takenVector{About: about, Entry: e})
		}
	}
	take("each form", "path:a/b.go", "dir:a/b", "dir:.", "glob:src/**/*.go", "res:port/3000")
	take("256 bytes", "path:"+x("x", 251), "dir:"+x("x", 252), "glob:*"+x("x", 250), "res:"+x("x", 252))
	take("the case is kept", "path:README", "glob:[A-Z]*", "res:Port")
	take("signs of patterns mean nothing in a path or a folder", "path:a*?[]{},!", "dir:[id]")
	take("names with dots, spaces and other characters", "path:.env", "path:...", "path: a ", "path:a b/#c,d:e", "path:@types/a.d.ts", "glob:*.", "glob:...?")
	take("a letter and a colon are a drive only before / or the end, and not in a pattern", "path:c:x", "path:cc:", "path:a/c:", "glob:c:/*", "res:c:")
	take("the characters beside the forbidden ones", "path:\u00a0", "path:\u2027\u202f", "path:\u2065\u206a", "path:\u200b\ufeff", "path:\ufffd\uffff")
	take("16 marks on a letter", "path:x"+x(circumflex, 16), "glob:x"+x(circumflex, 16)+"*", "res:x"+x(circumflex, 16))
	take("16 vowels of Hangul, which combine", "path:"+x(vowelJamo, 16))
	take("marks begin anew with each letter", "path:x"+x(circumflex, 16)+"x"+x(circumflex, 16))
	take("a mark before any letter", "path:"+circumflex+"a", "glob:"+circumflex+"*")
	take("NFC of Unicode 15: U+0897 is no mark yet, nothing goes past it", "path:a"+later+"\u0323", "path:a"+x(later, 17))
	take("NFC of Unicode 15: U+105D2 and U+0307 are composed by Unicode 16", "path:\U000105d2\u0307")
	take("composed", "path:caf\u00e9", "glob:caf\u00e9*")
	take("what NFC leaves in two", "path:x"+circumflex, "path:J\u030c")
	take("a resource of any letters", "res:a", "res:a/b/c", "res:.a", "res:caf\u00e9", "res:a\u00a0b", "res:a:b,c!-^")

	take("each sign", "glob:?", "glob:*", "glob:**", "glob:[a]", "glob:{a,b}")
	take("a choice is a wildcard", "glob:a/{b,c}/d")
	take("a choice may be empty, have empty parts and hold slashes", "glob:a{,}", "glob:{,a}*", "glob:{a,b/c,b/**}", "glob:a{/b,}")
	take("results that are equal count apart", "glob:{a,a}")
	take("** that choices bring together are one", "glob:{**,a}/{**,b}", "glob:{**/**,a}")
	take("escapes", `glob:\*\?\[\]\{\}\,\-\!\^*`, `glob:[\]\[\-\!\^\*]`, `glob:{a\,b,c}`)
	take("a comma, a minus and others outside of a choice or class", "glob:a,b-c!d^e*")
	take("classes", "glob:[a-c]", "glob:[!a-c]", "glob:[^a-c]", "glob:[a-a]", "glob:[a-cx-z]", "glob:[aa]")
	take("a minus in a class, where it makes no range", "glob:[-a]", "glob:[a-]", "glob:[-]", "glob:[a-b-c]", "glob:[!-]")
	take("ranges to or from a minus", "glob:[--0]", `glob:[\--0]`, `glob:[+-\-]`)
	take("signs that mean nothing in a class", "glob:[*?{},]", "glob:[a!^]", "glob:[!!]", "glob:{[,],[}]}")
	take("dots that a name may have", "glob:[.]a", "glob:[.]?", "glob:?.", "glob:[.][.][.]", "glob:.*")
	take("a name with a literal dot in a choice", "glob:{a.,b}")
	take("marks on a letter of a pattern, also by a choice", "glob:*x"+circumflex, "glob:{e,x}"+circumflex, "glob:{e,x}\u0301*")
	take("16 marks that a choice brings together", "glob:{x"+x(circumflex, 8)+",y}{"+x(circumflex, 8)+",z}")
	take("U+0345 is a letter when folded, so it may follow a wildcard", "glob:*\u0345")
	take("64 alternatives", "glob:{"+strings.Join(rising(64, "%d"), ",")+"}", "glob:"+x("{a,b}", 6))
	take("choices 4 deep", "glob:{a,{b,{c,{d,e}}}}")
	take("8 **", "glob:"+x("**/a/", 8)+"b", "glob:"+x("{**,a}/", 5)+x("a/**/", 3)+"b")
	take("63 names", "glob:"+x("a/", 62)+"*", "glob:"+x("{a,b}/", 3)+x("a/", 59)+"*")
	take("1,024 states", big(57))
	for i, v := range all {
		if strings.HasPrefix(v.Entry, "glob:") {
			if e, err := scope.Parse(v.Entry); err == nil {
				all[i].States = e.States()
			}
		}
	}
	return all
}

func refusedEntries() []refusedVector {
	x := strings.Repeat
	var all []refusedVector
	refuse := func(about string, entries ...string) {
		for _, e := range entries {
			all = append(all, refusedVector{about, e})
		}
	}
	refuse("no form", "", "a", "a/b", "Path:a", "what:a", "@a", ":a")
	refuse("empty", "path:", "dir:", "glob:", "res:")
	refuse("257 bytes", "path:"+x("x", 252), "dir:"+x("x", 253), "glob:*"+x("x", 251), "res:"+x("x", 253), "path:"+x("\u00e9", 126))
	for _, c := range []rune{0, 0x1f, 0x7f, 0x9f, 0x2028, 0x202e, 0x2066, 0x2069} {
		refuse("a character that is forbidden", "path:a"+string(c))
	}
	refuse("a character that is forbidden, in each form", "dir:a\n", "glob:*\n", "res:a\n", "glob:[a\u202e]")
	refuse("17 marks on a letter", "path:x"+x(circumflex, 17), "dir:x"+x(circumflex, 17), "glob:x"+x(circumflex, 17)+"*", "res:x"+x(circumflex, 17))
	refuse("17 marks that a choice brings together", "glob:{x"+x(circumflex, 9)+",y}{"+x(circumflex, 8)+",z}", "glob:{x"+x(circumflex, 9)+",y}{"+x(circumflex, 8)+",z}*")
	refuse("17 vowels of Hangul", "path:"+x(vowelJamo, 17))
	refuse("not NFC", "path:cafe\u0301", "dir:cafe\u0301", "glob:cafe\u0301*", "res:cafe\u0301", "path:\u212a", "path:\u212b", "path:\u0344", "path:a\u0302\u0323", "path:\u1100\u1161")
	refuse("not NFC beside an unassigned character", "path:e\u0301"+later, "path:"+later+"e\u0301")

	refuse("not clean", "path:a/", "path:/a", "path:a//b", "path:./a", "path:a/./b", "path:a/.", "path:a/../b", "path:..", "path:../a", "dir:a/", "dir:/", "dir:./a", "dir:..", "dir:/a")
	refuse("the top is a folder", "path:.")
	refuse("a backslash", `path:a\b`, `dir:a\b`)
	refuse("a drive letter", "path:c:", "path:C:/a", "dir:c:", "dir:z:/a")
	refuse("a resource with an empty part, or one of dots", "res:/a", "res:a/", "res:a//b", "res:.", "res:a/..", "res:./a")
	for _, c := range ` *?[]{}\@` {
		refuse("a character that no resource has", "res:a"+string(c))
	}

	refuse("no wildcard", "glob:a/b.go", `glob:a\*b`, "glob:.", "glob:/")
	refuse("not tidy", "glob:a//*", "glob:./*", "glob:././*", "glob:a/*/", "glob:**/", "glob:a/**/**/b", "glob:**/**", "glob:{a//b,c}")
	refuse("an empty name", "glob:/*", "glob:{,a}/b", "glob:{a/,b}", "glob:{a,}/{b,c}", "glob:a/{b,}", "glob:a{/,b}")
	refuse("a name of dots", "glob:../*", "glob:*/..", "glob:a/./*", "glob:{a,..}/b", "glob:{.,a}*{.,}/..")
	refuse("a name that only . and .. match", "glob:[.]", "glob:[.].", "glob:[.][.]", "glob:a/.[.]", "glob:{[.],a}")
	refuse("** beside other characters", "glob:a**", "glob:**a", "glob:***", "glob:****", "glob:a/**b/c", "glob:*{*,a}", "glob:{**,a}b", "glob:{**,a}*")
	refuse("brackets without the other", "glob:[a", "glob:a]*", "glob:{a,b", "glob:a}*", "glob:{a,{b,c}", "glob:[!", `glob:[a\]`)
	refuse("one alternative", "glob:{a}", "glob:{}", "glob:{[a,b]}", `glob:{a\,b}`)
	refuse("a class of nothing", "glob:[]", "glob:[!]", "glob:[^]", "glob:[]a]")
	refuse("a range that falls", "glob:[b-a]", "glob:[a-B]")
	refuse("a slash or an opening bracket in a class", "glob:[a/b]", "glob:[[a]", "glob:[[:alpha:]]", "glob:[+-[]")
	refuse("an escape of what needs none", `glob:a\b*`, `glob:a\/*`, `glob:a\\*`, `glob:*\`, `glob:[\a]`)
	refuse("a mark in a class", "glob:[x"+circumflex+"]", "glob:["+circumflex+"]", "glob:[a-"+circumflex+"]", "glob:[\u0345]", "glob:["+vowelJamo+"]")
	refuse("a mark after a wildcard", "glob:*"+circumflex, "glob:?"+circumflex, "glob:[a]"+circumflex, "glob:{*,x}"+circumflex)
	refuse("65 alternatives", "glob:{"+strings.Join(rising(65, "%d"), ",")+"}", "glob:{a,b}{a,b}{a,b}{a,b}{a,b}{a,b,c}")
	refuse("choices 5 deep", "glob:{a,{b,{c,{d,{e,f}}}}}")
	refuse("9 **", "glob:"+x("**/a/", 9)+"b")
	refuse("9 **, of which some are one", "glob:"+x("{**,a}/", 4)+x("a/**/", 5)+"b")
	refuse("64 names", "glob:"+x("a/", 63)+"*")
	refuse("1,025 states", big(58))
	return all
}

func sets() []setVector {
	paths := rising(65, "path:%02d")
	other := strings.Replace(big(57), "abcd", "abce", 1) // as many states
	return []setVector{
		{"one entry", []string{"path:a"}, true},
		{"sorted by bytes", []string{"dir:b", "glob:*", "path:A", "path:a", "path:a/b", "path:é", "res:a"}, true},
		{"entries that are in one another", []string{"dir:.", "dir:a", "path:a"}, true},
		{"no entry", []string{}, false},
		{"not sorted", []string{"path:b", "path:a"}, false},
		{"not sorted by bytes", []string{"path:a", "path:A"}, false},
		{"an entry twice", []string{"path:a", "path:a"}, false},
		{"an entry that is refused", []string{"path:a", "path:b/"}, false},
		{"64 entries", paths[:64], true},
		{"65 entries", paths, false},
		{"2,048 states", []string{big(57), other}, true},
		{"2,048 states, and what is no pattern", []string{"dir:" + strings.Repeat("x", 252), big(57), other, "path:abc", "res:abc"}, true},
		{"2,049 states", []string{"glob:**", big(57), other}, false},
	}
}

func coverings() []coverVector {
	var all []coverVector
	of := func(entry string, yes, no []string) {
		for _, p := range yes {
			all = append(all, coverVector{entry, p, true})
		}
		for _, p := range no {
			all = append(all, coverVector{entry, p, false})
		}
	}
	type list = []string
	of("path:a/b", list{"a/b", "A/B"}, list{"a", "a/b/c", "a/bc"})
	of("dir:a", list{"a", "A", "a/b", "a/b/c", "a/.b"}, list{"ab", "b/a", "."})
	of("dir:.", list{"a", "a/b", "."}, nil)
	of("glob:**", list{"a", "a/b", ".a"}, list{"."})
	of("glob:*", list{"a", "ab", ".a", "..."}, list{"a/b"})
	of("glob:?", list{"a", "é", "e\u0301", "x" + circumflex, circumflex, later}, list{"ab", "a/b", "x\u0345", "a" + later})
	of("glob:a/**", list{"a", "a/b", "a/b/c"}, list{"ab", "b/a"})
	of("glob:**/a", list{"a", "b/a", "b/c/a"}, list{"a/b", "ba"})
	of("glob:a/**/b", list{"a/b", "a/c/b", "a/c/d/b", "a/b/b"}, list{"ab", "a/bb", "b"})
	of("glob:a/*", list{"a/b", "a/.b"}, list{"a", "a/b/c"})
	of("glob:*.go", list{"a.go", ".go", "a.b.go", "A.GO"}, list{"a.gox", "a/b.go", "go"})
	of("glob:{a,b/c,}x", list{"ax", "b/cx", "x"}, list{"bx", "a", "b/x"})
	of("glob:a{/b,}", list{"a", "a/b"}, list{"ab", "b"})
	of("glob:[a-c]", list{"a", "b", "C"}, list{"d", "ab", "\u00e2", "a" + circumflex, "x" + circumflex})
	of("glob:[!a-c]", list{"d", "é", "\u00e2", "x" + circumflex, "0"}, list{"a", "B", "de"})
	of("glob:[A-z]", list{"a", "Z", "_", "^", "s", "\u017f", "k", "\u212a"}, list{"1", "é", "ß"})
	of("glob:[\u00c0-\u00de]", list{"\u00c9", "\u00e9", "e\u0301", "þ"}, list{"e", "ß", "ÿ"})
	of("glob:[a-b-c]", list{"a", "b", "-", "c"}, list{"d"})
	of("glob:[--0]", list{"-", "0"}, list{"1", ","})
	of("glob:[.]?", list{".a", ".é", ".-"}, list{"..", "a.", "."})
	of(`glob:a\*b*`, list{"a*b", "a*bc"}, list{"axb", "ab"})
	of(`glob:\[id\]/*`, list{"[id]/x"}, list{"i/x", "d/x"})
	of("glob:{e,x}\u0301", list{"\u00e9", "e\u0301", "\u00c9", "x\u0301"}, list{"e", "x", "\u0301"})
	of("glob:e*", list{"e", "ef"}, list{"\u00e9", "e\u0301", "x"})
	of("glob:*\u0345", list{"\u03b9", "x\u0345", "x\u03b9"}, list{"x"})
	of("path:k", list{"K", "\u212a"}, nil)
	of("path:s", list{"S", "\u017f"}, nil)
	of("path:caf\u00e9", list{"cafe\u0301", "CAFE\u0301", "Caf\u00c9"}, list{"cafe"})
	of("res:a", nil, list{"a"})
	return all
}

func meetings() []meetVector {
	var all []meetVector
	meet := func(about, a, b, witness string) {
		all = append(all, meetVector{about, a, b, true, witness})
	}
	apart := func(about, a, b string) { all = append(all, meetVector{about, a, b, false, ""}) }

	meet("", "path:a", "path:a", "a")
	apart("a file holds no files", "path:a", "path:a/b")
	meet("a folder covers its own name", "path:a", "dir:a", "a")
	meet("", "path:a/b", "dir:a", "a/b")
	apart("a shared beginning is no shared name", "path:ab", "dir:a")
	apart("", "path:a", "dir:a/b")
	meet("", "dir:a", "dir:a/b/c", "a/b/c")
	apart("", "dir:a/b", "dir:a/c")
	meet("dir:. is all", "dir:.", "path:a/b", "a/b")
	meet("", "dir:.", "dir:a", "a")
	meet("", "dir:.", "dir:.", "")
	meet("", "dir:.", "glob:**/a", "")
	apart("a resource is no path", "dir:.", "res:a")
	apart("", "path:a", "res:a")
	apart("", "glob:**", "res:a")
	meet("", "res:port/3000", "res:port/3000", "@port/3000")
	apart("a resource holds no others", "res:port", "res:port/3000")
	meet("resources are folded", "res:Port", "res:port", "")

	meet("case", "path:README", "path:readme", "")
	meet("", "dir:Src", "path:sRC/a", "sRC/a")
	meet("long s", "path:\u017f", "path:S", "")
	meet("Kelvin is K by NFC already: no entry has it", "glob:[J-L]", "path:K", "")
	apart("folding is one character for one: sharp s is not ss", "path:ß", "path:ss")
	meet("the capital sharp s", "path:ß", "path:ẞ", "")
	meet("final sigma", "path:\u03c2", "path:\u03a3", "")
	apart("dotless i", "path:\u0131", "path:I")
	apart("dotted I", "path:\u0130", "path:i")
	apart("", "path:\u0130", "path:\u0131")
	apart("", "path:\u0130", "path:i\u0307")
	meet("what composes only when folded", "path:J\u030c", "path:\u01f0", "")
	meet("U+0345 folds to iota, and is a letter then", "path:x\u0345", "path:x\u03b9", "")
	meet("", "path:x\u0345", "glob:??", "")
	apart("", "path:x\u0345", "glob:?")
	meet("Cherokee", "path:\u13a0", "path:\uab70", "")
	apart("compatibility is no equality", "path:\ufb01", "path:fi")
	apart("an accent is another letter", "path:e", "path:\u00e9")
	apart("unassigned characters are letters, in their order", "path:x"+later+"\u0323", "path:x\u0323"+later)

	meet("", "glob:a/**", "path:a", "")
	apart("", "glob:a/**", "path:ab")
	meet("", "glob:a/**/b", "path:a/b", "")
	apart("", "glob:a/*", "path:a")
	apart("* stays in one name", "glob:a/*", "path:a/b/c")
	meet("a pattern meets a folder below what it matches", "glob:a/*/c", "dir:a/b", "")
	meet("", "glob:a/*", "dir:a/b", "")
	apart("", "glob:a/*", "dir:a/b/c")
	meet("and one above", "glob:a/*/c", "dir:a", "")
	meet("hidden names are names", "glob:*", "path:.env", "")
	meet("", "glob:**/x", "dir:.git", "")
	meet("", "glob:src/**/*.go", "glob:src/api/**", "")
	apart("", "glob:src/**/*.go", "glob:src/**/*.ts")
	meet("", "glob:*_test.go", "glob:main*", "")
	meet("", "glob:a*c", "glob:ab*", "")
	apart("", "glob:a?c", "glob:a*d")
	meet("", "glob:**/a/**", "glob:b/**/c", "")
	apart("", "glob:*/*", "glob:{a,b}")
	meet("", "glob:{a,b}/x*", "glob:{b,c}/*y", "")
	apart("", "glob:{a,b}/*", "glob:{c,d}/*")
	meet("", "glob:{a,b/**}", "path:b/c/d", "")
	meet("", "glob:[a-c]", "glob:[C-E]", "")
	apart("", "glob:[a-c]", "glob:[!A-C]")
	meet("", "glob:[!a]", "glob:[!b]", "")
	meet("what no class names is in both, if only a letter with a mark", "glob:[! -\U0010ffff]", "glob:?", "")
	apart("a class is one character", "glob:[ -\U0010ffff]", "path:x"+circumflex)
	meet("", "glob:[ -\U0010ffff]", "path:"+later, "")
	apart("a range has no marks", "glob:[ -\U0010ffff]", "glob:{"+circumflex+",\u0301}")
	apart("no name is . or ..", "glob:?", "glob:[.]a")
	meet("", "glob:[.]*", "glob:?[!.]", "")
	apart("", "glob:?", "glob:[.]{a,b}")
	apart("", "glob:[.!]", "glob:[.?]")
	apart("", "glob:[.]?", "glob:?[.]")
	meet("", "glob:[.]??", "glob:??[.]", "")
	meet("escapes", `glob:\[id\]/*`, "dir:[id]", "")
	apart("", "glob:[id]/*", "dir:[id]")
	meet("a letter with a mark is one", "glob:a?c", "path:ax"+circumflex+"c", "")
	apart("", "glob:e*", "path:\u00e9")
	return all
}

// The tables above say what must be; the file has the same.
func TestVectors(t *testing.T) {
	v := vectors{takenEntries(), refusedEntries(), sets(), coverings(), meetings()}
	for _, e := range v.Taken {
		if got, err := scope.Parse(e.Entry); err != nil || got.String() != e.Entry {
			t.Errorf("%s: Parse(%q) = %s, %v", e.About, e.Entry, got, err)
		}
	}
	for _, e := range v.Refused {
		if got, err := scope.Parse(e.Entry); err == nil {
			t.Errorf("%s: Parse(%q) = %s", e.About, e.Entry, got)
		}
	}
	for _, s := range v.Sets {
		if got, err := scope.ParseSet(s.Set); (err == nil) != s.Taken || err == nil && !slices.Equal(got.Strings(), s.Set) {
			t.Errorf("%s: ParseSet = %.200q, %v", s.About, got, err)
		}
	}
	for _, c := range v.Covers {
		if got := mustParse(t, c.Entry).Covers(c.Path); got != c.Covers {
			t.Errorf("%s.Covers(%q) = %v", c.Entry, c.Path, got)
		}
	}
	for _, m := range v.Meetings {
		a, b := mustParse(t, m.A), mustParse(t, m.B)
		for range 2 {
			got, ok := a.Meets(b)
			if ok != m.Meet || m.Witness != "" && got != m.Witness {
				t.Errorf("%s.Meets(%s) = %q, %v, want %q, %v", a, b, got, ok, m.Witness, m.Meet)
			}
			a, b = b, a
		}
	}
	for entry, want := range map[string]int{"glob:**": 1, "glob:?": 2, "glob:{a,a}": 4, "glob:src/**/*.go": 10, big(57): scope.MaxStates} {
		i := slices.IndexFunc(v.Taken, func(e takenVector) bool { return e.Entry == entry })
		if i < 0 || v.Taken[i].States != want {
			t.Errorf("%s: not among the taken with %d states", entry, want)
		}
	}
	golden(t, v)
}

// golden compares v with the stored vectors, to the byte.
func golden(t *testing.T, v any) {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	made := ascii(b.Bytes())
	if *update {
		if err := os.WriteFile(vectorFile, made, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(vectorFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n")), made) {
		t.Errorf("%s moved: the format is fixed\ngot  %s\nwant %s", vectorFile, made, want)
	}
}

// ascii escapes what else an editor might normalise, or a screen reorder.
func ascii(text []byte) []byte {
	var out []byte
	for _, r := range string(text) {
		switch {
		case r < 0x7f:
			out = append(out, byte(r))
		case r < 0x10000:
			out = fmt.Appendf(out, "\\u%04x", r)
		default:
			hi, lo := utf16.EncodeRune(r)
			out = fmt.Appendf(out, "\\u%04x\\u%04x", hi, lo)
		}
	}
	return out
}
