package scope

import (
	"slices"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// everyRune is each code point that a text can hold.
func everyRune(yield func(rune) bool) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if (r < 0xd800 || r > 0xdfff) && !yield(r) {
			return
		}
	}
}

// mostRunes is each code point that folds, joins or normalises, the scripts in
// daily use, and a sample of the rest, which are all alike.
func mostRunes(yield func(rune) bool) {
	for r := range everyRune {
		odd := r < 0x2c00 || within(joining[:], r) || within(unstable[:], r) || foldRune(r) != r
		if (odd || r%251 == 0) && !yield(r) {
			return
		}
	}
}

// The tables are what the standard library says as long as it has the version
// that they are pinned to.
func TestTablesAreThoseOfThePinnedVersion(t *testing.T) {
	if unicode.Version != UnicodeVersion || norm.Version != UnicodeVersion {
		t.Skipf("this Go has Unicode %s, the tables are of %s", unicode.Version, UnicodeVersion)
	}
	for r := range everyRune {
		if got, want := within(unassigned[:], r), unicode.Is(unicode.Cn, r); got != want {
			t.Fatalf("unassigned %U = %v, want %v", r, got, want)
		}
		if got, want := within(joining[:], r), !norm.NFC.PropertiesString(string(r)).BoundaryBefore(); got != want {
			t.Fatalf("joining %U = %v, want %v", r, got, want)
		}
		if got, want := within(unstable[:], r), norm.NFC.String(string(r)) != string(r); got != want {
			t.Fatalf("unstable %U = %v, want %v", r, got, want)
		}
		for s := unicode.SimpleFold(r); s != r; s = unicode.SimpleFold(s) {
			if foldRune(s) != foldRune(r) {
				t.Fatalf("foldRune(%U) = %U and foldRune(%U) = %U, want one", r, foldRune(r), s, foldRune(s))
			}
		}
		if f := foldRune(r); f != r && !slices.Contains(orbit(r), f) {
			t.Fatalf("foldRune(%U) = %U, which is no case of it", r, f)
		}
	}
}

func orbit(r rune) []rune {
	out := []rune{r}
	for s := unicode.SimpleFold(r); s != r; s = unicode.SimpleFold(s) {
		out = append(out, s)
	}
	return out
}

// Everything rests on this: what a class holds after folding is a character
// that a key can have, and a key is its own key.
func TestFoldingKeepsCharactersThatStandAlone(t *testing.T) {
	alone := func(r rune) bool { return !within(joining[:], r) && !within(unstable[:], r) }
	for r := range everyRune {
		if f := foldRune(r); alone(r) && !alone(f) {
			t.Errorf("foldRune(%U) = %U, which does not stand alone", r, f)
		} else if foldRune(f) != f {
			t.Errorf("foldRune(%U) = %U, which folds on to %U", r, f, foldRune(f))
		}
	}
}

func TestAKeyIsItsOwnKey(t *testing.T) {
	marks := []string{"", "\u0301", "\u030c", "\u0345", "\u0323\u0301", "\u1161", "\u11a8", "\u0338"}
	for r := range mostRunes {
		for _, m := range marks {
			s := string(r) + m
			k := key(s)
			if key(k) != k {
				t.Fatalf("key(%+q) = %+q, whose key is %+q", s, k, key(k))
			}
			if d := key(norm.NFD.String(s)); d != k && !within(unassigned[:], r) {
				t.Fatalf("key of NFD(%+q) = %+q, want %+q", s, d, k)
			}
		}
	}
}

// Joined again, the clusters of two keys are the key of the joined text.
func TestKeysJoinBetweenClusters(t *testing.T) {
	for r := range mostRunes {
		s := string(r)
		if joins(s) {
			continue
		}
		for _, before := range []string{"a", "=", "ᄀ", "가", "J\u030c", "α\u0345", "é"} {
			if got, want := key(before)+key(s), key(before+s); got != want {
				t.Fatalf("key(%+q) + key(%+q) = %+q, want %+q", before, s, got, want)
			}
		}
	}
}

func TestSyntaxNeverCombines(t *testing.T) {
	for r := range mostRunes {
		for _, c := range `/*?[]{}\,!^-.:@` {
			if s := string(c) + string(r); within(joining[:], r) && norm.NFC.String(s) != s && !within(unstable[:], r) {
				t.Errorf("%q combines with %U", c, r)
			}
		}
	}
}

// Code points that the pinned version does not know stay as they are, also in
// a Go whose tables compose or reorder them.
func TestLaterCharactersAreInert(t *testing.T) {
	for _, s := range []string{
		"\U00016d67\U00016d67",    // composes in Unicode 16
		"e\U00010d69\u0301",       // a mark since 16; e and the accent stay apart
		"\U000113c2\U000113c2",    // composes in 16
		"\U00010d69\u0323\u0301x", // marks behind it are ordered as ever
	} {
		if got := normal(s); got != s {
			t.Errorf("normal(%+q) = %+q, want it unchanged", s, got)
		}
	}
	if got, want := normal("e\u0301\U00016d67e\u0301"), "\u00e9\U00016d67\u00e9"; got != want {
		t.Errorf("normal = %+q, want %+q", got, want)
	}
}

func TestBytesThatAreNoTextStandForThemselves(t *testing.T) {
	if got, want := key("A\xffB\xc3"), "a\xffb\xc3"; got != want {
		t.Errorf("key = %q, want %q", got, want)
	}
	if key("é\xff") == key("é"+string(utf8.RuneError)) {
		t.Error("a broken byte has the key of a replacement character")
	}
}

func TestSpanArithmetic(t *testing.T) {
	a := []span{{1, 5}, {8, 8}, {10, 20}}
	b := []span{{0, 1}, {4, 9}, {15, 16}, {30, 40}}
	if got, want := subtract(a, b), []span{{2, 3}, {10, 14}, {17, 20}}; !slices.Equal(got, want) {
		t.Errorf("subtract = %v, want %v", got, want)
	}
	if got, want := intersect(a, b), []span{{1, 1}, {4, 5}, {8, 8}, {15, 16}}; !slices.Equal(got, want) {
		t.Errorf("intersect = %v, want %v", got, want)
	}
	if got, want := mergeSpans([]span{{7, 9}, {1, 3}, {4, 5}, {8, 12}}), []span{{1, 5}, {7, 12}}; !slices.Equal(got, want) {
		t.Errorf("mergeSpans = %v, want %v", got, want)
	}
}

// A class holds exactly the folded images of the characters in its range that
// a name can have, for ranges that begin and end anywhere in a case pair.
func TestRangesFoldExactly(t *testing.T) {
	for _, raw := range []span{{'A', 'Z'}, {'Q', 'b'}, {0x100, 0x131}, {0x370, 0x3ff}, {0x2129, 0x212c}, {0x1c4, 0x1cc}, {0x17f, 0x17f}, {0x20, 0xffff}} {
		want := map[rune]bool{}
		for r := raw.lo; r <= raw.hi; r++ {
			fit := true
			for _, u := range unfit {
				fit = fit && !within(u, r)
			}
			if fit {
				want[foldRune(r)] = true
			}
		}
		got := foldSpans([]span{raw})
		n := 0
		for _, s := range got {
			for r := s.lo; r <= s.hi; r++ {
				if n++; !want[r] {
					t.Errorf("%U-%U holds %U", raw.lo, raw.hi, r)
				}
			}
		}
		if n != len(want) {
			t.Errorf("%U-%U holds %d characters, want %d", raw.lo, raw.hi, n, len(want))
		}
	}
}
