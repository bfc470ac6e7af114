package canon_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/comity-dev/comity/internal/canon"
)

type place struct {
	Loop string `json:"loop,omitzero"`
	Turn uint64 `json:"turn,omitzero"`
}

type form struct {
	At   place             `json:"at"`
	Note string            `json:"note,omitzero"`
	Tags map[string]string `json:"tags,omitzero"`
	V    uint64            `json:"v"`
}

const goodForm = `{"at":{"loop":"l","turn":3},"note":"n","v":1}`

func TestDecodeTakesOneForm(t *testing.T) {
	var f form
	if err := canon.Decode([]byte(goodForm), &f); err != nil || f.At != (place{"l", 3}) || f.Note != "n" || f.V != 1 {
		t.Fatalf("Decode(good) = %+v, %v", f, err)
	}
	for _, tt := range []struct {
		about    string
		old, new string // spoils goodForm
		want     canon.Reason
		field    string
	}{
		{"a member", `"v":1`, `"v":1,"w":1`, canon.UnknownField, "w"},
		{"a member inside", `"turn":3`, `"turn":3,"x":1`, canon.UnknownField, "at.x"},
		{"another case", `"note"`, `"Note"`, canon.UnknownField, "Note"},
		{"a name twice", `"v":1`, `"v":1,"v":1`, canon.DuplicateKey, ""},
		{"a name twice in a map", `"v":1`, `"tags":{"a":"b","a":"c"},"v":1`, canon.DuplicateKey, ""},
		{"more behind it", `"v":1}`, `"v":1}{}`, canon.Trailing, ""},
		{"a text for a number", `3`, `"3"`, canon.WrongType, "at.turn"},
		{"a fraction", `3`, `3.0`, canon.WrongType, "at.turn"},
		{"a list for an object", `{"loop":"l","turn":3}`, `[]`, canon.WrongType, "at"},
		{"a number below 0", `3`, `-3`, canon.Negative, "at.turn"},
		{"not UTF-8", `"n"`, "\"\xff\"", canon.Malformed, ""},
		{"no end", `"v":1}`, `"v":1`, canon.Malformed, ""},
		{"a member that is missing", `,"v":1`, ``, canon.NotCanonical, ""},
		{"a member that may be left out", `"note":"n"`, `"note":""`, canon.NotCanonical, ""},
		{"null", `"note":"n"`, `"note":null`, canon.NotCanonical, ""},
		{"names that are not sorted", `"note":"n","v":1`, `"v":1,"note":"n"`, canon.NotCanonical, ""},
		{"a space", `"v":1`, `"v": 1`, canon.NotCanonical, ""},
		{"a newline behind it", `"v":1}`, "\"v\":1}\n", canon.NotCanonical, ""},
		{"an escape", `"n"`, `"\u006e"`, canon.NotCanonical, ""},
		{"an integer over 2^53-1", `3`, `9007199254740992`, canon.NotCanonical, ""},
	} {
		if strings.Count(goodForm, tt.old) != 1 {
			t.Fatalf("%s: %q is not there once", tt.about, tt.old)
		}
		bad := []byte(strings.Replace(goodForm, tt.old, tt.new, 1))
		var f form
		err := canon.Decode(bad, &f)
		var strict *canon.StrictError
		if !errors.As(err, &strict) || strict.Reason != tt.want || strict.Field != tt.field {
			t.Errorf("%s: Decode(%s) = %v, want %s of %q", tt.about, bad, err, tt.want, tt.field)
		}
		// Only the spelling is not looked at by Read.
		if err := canon.Read(bad, new(form)); (err == nil) != (tt.want == canon.NotCanonical) {
			t.Errorf("%s: Read(%s) = %v", tt.about, bad, err)
		}
	}
}

func TestVersionIsFoundAmongWhatIsNotKnown(t *testing.T) {
	for in, want := range map[string]uint64{
		`{"new":{"deep":[1]},"v":7}`: 7,
		`{ "v" : 2 }`:                2,
		`{"new":1}`:                  0,
		`{"v":-1}`:                   0,
		`{"v":"7"}`:                  0,
		`{"v":7,"v":8}`:              0,
		`[7]`:                        0,
		`{"v":7`:                     0,
		``:                           0,
	} {
		if got := canon.Version([]byte(in)); got != want {
			t.Errorf("Version(%s) = %d, want %d", in, got, want)
		}
	}
}

func TestStrictErrorTellsThePlace(t *testing.T) {
	for in, want := range map[string]int{
		goodForm + "{}":                    len(goodForm),
		goodForm[:5] + "?":                 5,
		`{"at":{}, "v":1}`:                 9,
		`{"at":{},"v":1,"v":1}`:            15,
		`{"at":{},"note":"` + "\xff" + `"`: 17,
	} {
		err := canon.Decode([]byte(in), new(form))
		var where *canon.Error
		if !errors.As(err, &where) || where.Offset != want {
			t.Errorf("Decode(%q) = %v, want byte %d", in, err, want)
		}
	}
}

// A refusal may end in a log that others read, and what was refused may be private,
// or made to fill the log.
func TestStrictErrorIsShortAndHoldsNoValue(t *testing.T) {
	long := strings.Repeat("\u00e9", 1<<16)
	for _, bad := range []string{
		`{"at":{"turn":"hunter2"},"v":1}`,
		`{"at":{"turn":-31337},"v":1}`,
		`{"at":"hunter2","v":1}`,
		`{"at":{},"v":1}hunter2`,
		`{"at":{},"note":"hunter2\q","v":1}`,
		`{"at":{},"note": "hunter2","v":1}`,
		`{"at":{},"tags":{"hunter2":"a","hunter2":"b"},"v":1}`,
		`{"at":{},"` + long + `":1,"v":1}`,
		`{"at":{},"` + long + `":1,"` + long + `":1,"v":1}`,
		`{"at":{},"tags":{"` + long + `":7},"v":1}`,
	} {
		err := canon.Decode([]byte(bad), new(form))
		if err == nil {
			t.Fatalf("Decode(%.99s) = nil", bad)
		}
		if s := err.Error(); strings.Contains(s, "hunter2") || strings.Contains(s, "31337") || len(s) > 2*canon.MaxField || !strings.HasPrefix(strings.ToValidUTF8(s, "?"), s) {
			t.Errorf("Decode(%.99s) = %.999s, want a short error without the value", bad, s)
		}
	}
}

// What Decode takes, Marshal writes, and nothing else is taken.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(goodForm))
	f.Add([]byte(`{"at":{},"tags":{"a":"<\n"},"v":0}`))
	f.Add([]byte(`{"v":1,"at":{}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var v form
		err := canon.Decode(b, &v)
		again, werr := canon.Marshal(v)
		if err == nil && (werr != nil || !bytes.Equal(again, b) || canon.Check(b) != nil) {
			t.Errorf("%q prints %q, %v", b, again, werr)
		}
		var strict *canon.StrictError
		if err != nil && (!errors.As(err, &strict) || len(err.Error()) > 2*canon.MaxField) {
			t.Errorf("Decode(%q) = %v, want a short *StrictError", b, err)
		}
	})
}
