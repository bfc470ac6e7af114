package canon_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/comity-dev/comity/internal/canon"
)

func TestCheckTakesTheCanonicalForm(t *testing.T) {
	for _, s := range []string{
		`null`, `true`, `false`, `0`, `-1`, `9007199254740991`, `-9007199254740991`, `""`, `"a"`, `[]`, `{}`,
		`[1,"a",null,[],{}]`, `{"":0}`, `{"a":1,"aa":2,"b":3}`, `{"A":1,"a":2}`, `{"10":1,"9":2}`,
		`"\"\\\b\t\n\f\r"`, `"\u0000\u0001\u000b\u001f"`, `"/"`, "\"\x7f\"", `"<>&'"`, "\"\u2028\u2029\ufeff\uffff\"", `"é€😀"`,
		// UTF-16: the surrogates of 😀 (D83D DE00) come before U+E000 and U+FFFD.
		"{\"\ud7ff\":0,\"😀\":1,\"\ue000\":2,\"\ufffd\":3}",
		`{"a\n":1,"aa":2}`, `{"a":{"b":{"c":[{"d":1}]}}}`,
		`"` + strings.Repeat("x", 7) + `\n` + strings.Repeat("y", 9) + `"`,
		strings.Repeat("[", canon.MaxDepth) + strings.Repeat("]", canon.MaxDepth),
		strings.Repeat(`{"a":`, canon.MaxDepth) + "1" + strings.Repeat("}", canon.MaxDepth),
	} {
		if err := canon.Check([]byte(s)); err != nil {
			t.Errorf("Check(%.100q) = %v", s, err)
		}
	}
}

func TestCheckRefusesEveryOtherSpelling(t *testing.T) {
	for _, tt := range []struct {
		in, detail string
		offset     int
	}{
		{``, "want a value", 0},
		{` 1`, "want a value", 0},
		{`1 `, "more bytes", 1},
		{`1,`, "more bytes", 1},
		{"\ufeff1", "want a value", 0},
		{`{"a": 1}`, "want a value", 5},
		{`{"a" :1}`, "want a colon", 4},
		{`{ }`, "want a string", 1},
		{`{"a":1,}`, "want a string", 7},
		{`{"a":1 }`, "comma", 6},
		{`{,}`, "want a string", 1},
		{`{"a"}`, "want a colon", 4},
		{`{"a":}`, "want a value", 5},
		{`{1:2}`, "want a string", 1},
		{`{"b":1,"a":2}`, "not sorted", 7},
		{`{"a":1,"a":2}`, "twice", 7},
		{`{"aa":1,"a":2}`, "not sorted", 8},
		{`{"aa":1,"a\n":2}`, "not sorted", 8},
		{`{"a\n":1,"a\n":2}`, "twice", 9},
		{"{\"\ue000\":1,\"😀\":2}", "not sorted", 9},
		{`{"x":{"b":1,"a":2}}`, "not sorted", 12},
		{`[1, 2]`, "want a value", 3},
		{`[1,]`, "want a value", 3},
		{`[,1]`, "want a value", 1},
		{`[1 2]`, "comma", 2},
		{`[`, "want a value", 1},
		{`[1`, "comma", 2},
		{`{"a":1`, "comma", 6},
		{`]`, "want a value", 0},
		{`-0`, "zero", 0},
		{`00`, "zero", 0},
		{`01`, "zero", 0},
		{`-01`, "zero", 0},
		{`+1`, "want a value", 0},
		{`-`, "want an integer", 0},
		{`1.0`, "fraction", 0},
		{`1.5`, "fraction", 0},
		{`1e2`, "fraction", 0},
		{`1E2`, "fraction", 0},
		{`1e400`, "fraction", 0},
		{`9007199254740992`, "2^53", 0},
		{`-9007199254740992`, "2^53", 0},
		{`9007199254740993`, "2^53", 0},
		{`18446744073709551616`, "2^53", 0},
		{`99999999999999999999999999999999999999`, "2^53", 0},
		{`00000000000000000000000000000000000001`, "zero", 0},
		{`NaN`, "want a value", 0},
		{`nul`, "want null", 0},
		{`True`, "want a value", 0},
		{`tru`, "want true", 0},
		{`fals`, "want false", 0},
		{`'a'`, "want a value", 0},
		{`"a`, "without end", 2},
		{`"`, "without end", 1},
		{`"\`, "escape", 1},
		{`"\"`, "without end", 3},
		{"\"a\nb\"", "control", 2},
		{"\"\x00\"", "control", 1},
		{"\"" + strings.Repeat("x", 20) + "\x1f\"", "control", 21},
		{"\"\x80\"", "UTF-8", 1},
		{"\"\xc0\xaf\"", "UTF-8", 1},
		{"\"\xed\xa0\x80\"", "UTF-8", 1},
		{"\"\xf4\x90\x80\x80\"", "UTF-8", 1},
		{"\"\xe2\x82\"", "UTF-8", 1},
		{"{\"\xff\":1}", "UTF-8", 2},
		{`"\/"`, "escape", 1},
		{`"\u0061"`, "escape", 1},
		{`"\u00e9"`, "escape", 1},
		{`"\u0020"`, "escape", 1},
		{`"\u007f"`, "escape", 1},
		{`"\u000A"`, "escape", 1},
		{`"\u000a"`, "escape", 1},
		{`"\u0008"`, "escape", 1},
		{`"\u001F"`, "escape", 1},
		{`"\u2028"`, "escape", 1},
		{`"\ud83d\ude00"`, "escape", 1},
		{`"\ud800"`, "escape", 1},
		{`"\u00"`, "escape", 1},
		{`"\x"`, "escape", 1},
		{`"\U0001"`, "escape", 1},
		{strings.Repeat("[", canon.MaxDepth+1) + strings.Repeat("]", canon.MaxDepth+1), "deep", canon.MaxDepth + 1},
		{strings.Repeat(`{"a":`, canon.MaxDepth+1) + "1" + strings.Repeat("}", canon.MaxDepth+1), "deep", 5*canon.MaxDepth + 1},
		{strings.Repeat("[", 1_000_000), "deep", canon.MaxDepth + 1},
	} {
		err := canon.Check([]byte(tt.in))
		var e *canon.Error
		if !errors.As(err, &e) {
			t.Errorf("Check(%.100q) = %v, want an *Error", tt.in, err)
			continue
		}
		if !strings.Contains(e.Detail, tt.detail) || e.Offset != tt.offset {
			t.Errorf("Check(%.100q) = %v, want %q at %d", tt.in, e, tt.detail, tt.offset)
		}
	}
}

// Skipping runs eight bytes at a time must see a byte that ends the run
// wherever it stands among them.
func TestCheckSeesEveryByteOfARun(t *testing.T) {
	for size := range 40 {
		for at := range size {
			for c := range 256 {
				s := []byte(`"` + strings.Repeat("f", size) + `"`)
				s[1+at] = byte(c)
				plain := c >= 0x20 && c < 0x80 && c != '"' && c != '\\'
				if err := canon.Check(s); (err == nil) != plain && !(c == '\\' && (at+1 < size && s[2+at] == 'f')) {
					t.Fatalf("Check(%q) = %v", s, err)
				}
			}
		}
	}
}
