package cli

import (
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean is s without anything that a terminal obeys or that turns the order of
// what is read: control characters but newline and tab, the codes for writing
// direction, and broken UTF-8 each become U+FFFD.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\u2028' || r == '\u2029':
			return '\n'
		case r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			return utf8.RuneError
		case unicode.Is(unicode.Cf, r) && r != '\u200c' && r != '\u200d': // invisible; the two joiners are spelling
			return utf8.RuneError
		}
		return r
	}, s)
}

// oneLine is s cleaned and on one line, runs of white space as one space.
func oneLine(s string) string { return strings.Join(strings.Fields(clean(s)), " ") }

// scrub cleans every string that v, a pointer, leads to: nothing that came from
// others reaches a terminal another way.
func scrub(v any) { scrubValue(reflect.ValueOf(v).Elem()) }

func scrubValue(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(clean(v.String()))
	case reflect.Struct:
		for i := range v.NumField() {
			scrubValue(v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			scrubValue(v.Index(i))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			scrubValue(v.Elem())
		}
	}
}
