package canon_test

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"math/big"
	"regexp"
	"slices"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/comity-dev/comity/internal/canon"
)

var integer = regexp.MustCompile(`^-?[0-9]+$`)

// oracle decides with jsontext what Check must: canonical by RFC 8785, numbers
// all integers of the form, not too deep.
func oracle(b []byte) bool {
	v := jsontext.Value(bytes.Clone(b))
	if err := v.Canonicalize(); err != nil || !bytes.Equal(v, b) {
		return false
	}
	d := jsontext.NewDecoder(bytes.NewReader(b))
	for {
		tok, err := d.ReadToken()
		if errors.Is(err, io.EOF) {
			return true
		}
		if err != nil || d.StackDepth() > canon.MaxDepth {
			return false
		}
		if tok.Kind() == '0' {
			n, ok := new(big.Int).SetString(tok.String(), 10)
			if !integer.MatchString(tok.String()) || !ok || n.CmpAbs(big.NewInt(canon.MaxInt)) > 0 {
				return false
			}
		}
	}
}

func FuzzCheck(f *testing.F) {
	for _, s := range []string{
		`{"at":-1,"b":[true,null],"note":"café\n","seq":7}`, `{"b":1,"a":2}`, `1e400`, `9007199254740993`, `"\ud800"`, `"\u001f"`,
		"{\"😀\":1,\"\ue000\":2}", `[[],{},"",0]`, `{"a":1,"\u0061":2}`, `-0`, "\"\x7f\xc3\xa9\"", `{"a\n":1,"aa":2}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		err := canon.Check(b)
		if want := oracle(b); (err == nil) != want {
			t.Fatalf("Check(%q) = %v, the oracle says canonical: %v", b, err, want)
		}
		if err == nil {
			var v any
			if err := canon.Unmarshal(b, &v); err != nil {
				t.Fatalf("Unmarshal(%q) = %v", b, err)
			}
			back, err := canon.Marshal(v)
			if err != nil || !bytes.Equal(back, b) {
				t.Fatalf("Marshal(Unmarshal(%q)) = %q, %v", b, back, err)
			}
		}
		// What jsontext makes of any JSON, Check takes, unless a number is the trouble.
		v := jsontext.Value(bytes.Clone(b))
		if v.Canonicalize() == nil {
			if got, want := canon.Check(v) == nil, oracle(v); got != want {
				t.Fatalf("Check(%q) = %v, want %v", v, got, want)
			}
		}
	})
}

// JSON that is near the form, where random bytes never are.
func TestCheckAgreesWithTheOracleOnJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := genValue(t, 0)
		if n := rapid.IntRange(0, 3).Draw(t, "mutations"); len(b) > 0 {
			for range n {
				b[rapid.IntRange(0, len(b)-1).Draw(t, "at")] = rapid.SampledFrom([]byte("{}[]\",:\\u0019.e- \n\x1f\x80\xe9azé")).Draw(t, "byte")
			}
		}
		if got, want := canon.Check(b) == nil, oracle(b); got != want {
			t.Fatalf("Check(%q) canonical: %v, the oracle says %v", b, got, want)
		}
		v := jsontext.Value(b)
		if v.Canonicalize() == nil {
			if got, want := canon.Check(v), oracle(v); (got == nil) != want {
				t.Fatalf("Check(%q) = %v, the oracle says %v", v, got, want)
			}
		}
	})
}

func genValue(t *rapid.T, depth int) []byte {
	kind := rapid.IntRange(0, 6).Draw(t, "kind")
	if depth > 3 {
		kind %= 4
	}
	switch kind {
	case 0:
		return []byte(rapid.SampledFrom([]string{"null", "true", "false", "0", "-0", "-7", "1.5", "9007199254740991", "9007199254740992", "12e3"}).Draw(t, "scalar"))
	case 1, 2, 3:
		return genString(t)
	case 4:
		b := []byte{'['}
		for i := range rapid.IntRange(0, 3).Draw(t, "n") {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, genValue(t, depth+1)...)
		}
		return append(b, ']')
	}
	b := []byte{'{'}
	for i := range rapid.IntRange(0, 4).Draw(t, "n") {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, genString(t)...), ':'), genValue(t, depth+1)...)
	}
	return append(b, '}')
}

func genString(t *rapid.T) []byte {
	s := rapid.StringOfN(rapid.SampledFrom([]rune("abz\"\\/\n\b\x01\x1f\x7fé\u2028\ue000\uffff😀")), 0, 4, -1).Draw(t, "s")
	if rapid.Bool().Draw(t, "ours") {
		return canon.AppendString(nil, s)
	}
	b, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func FuzzString(f *testing.F) {
	f.Add("plain", "caf\u00e9\n\x00\"\\")
	f.Add("😀", "\ue000")
	f.Fuzz(func(t *testing.T, a, b string) {
		if !utf8.ValidString(a) || !utf8.ValidString(b) {
			return
		}
		got := canon.AppendString([]byte("x"), a)
		want, err := jsontext.AppendQuote([]byte("x"), a)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("AppendString(%q) = %q, jsontext writes %q", a, got, want)
		}
		r := canon.NewReader(got[1:])
		back, ok := r.String()
		if !ok || r.End() != nil || string(back) != a {
			t.Errorf("String of %q = %q, %v", got[1:], back, r.End())
		}
		if got, want := canon.Compare([]byte(a), []byte(b)), slices.CompareFunc(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)), cmp.Compare[uint16]); got != want {
			t.Errorf("Compare(%q, %q) = %d, UTF-16 says %d", a, b, got, want)
		}
	})
}
