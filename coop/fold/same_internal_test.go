package fold

import (
	"fmt"
	"reflect"
	"slices"
)

// Differs tells where two states are not the same objects in the same places, ""
// when they are. All fields are looked at but those that are worked out again when
// they are asked for. It is the reason that nothing can be forgotten in an image.
func Differs(a, b *State) string {
	w := walk{pairs: map[[2]uintptr]bool{}, twin: map[uintptr]uintptr{}}
	w.same("state", reflect.ValueOf(a), reflect.ValueOf(b))
	for len(w.later) > 0 && w.found == "" {
		keyed := w.later[0]
		w.later = w.later[1:]
		w.sameKeyed(keyed)
	}
	if got, want := b.index.Len(), a.index.Len(); w.found == "" && got != want {
		w.differ("state.index", want, got)
	}
	for c := range a.index.All() {
		if d := b.claim(c.key()); w.found == "" && (d == nil || !slices.Contains(slices.Collect(b.index.All()), d)) {
			w.differ("state.index", c.key(), d)
		}
	}
	return w.found
}

// derived are the fields that an image leaves out.
var derived = map[reflect.Type][]string{
	reflect.TypeFor[State]():   {"index", "scopes", "text", "work", "digest"},
	reflect.TypeFor[stream]():  {"latest"},
	reflect.TypeFor[session](): {"origin"},
	reflect.TypeFor[covered](): {"plan"},
}

// A walk goes through two graphs side by side.
type walk struct {
	pairs map[[2]uintptr]bool
	twin  map[uintptr]uintptr // objects of the one to those of the other
	later []keyed
	found string
}

// keyed are two maps with objects for keys.
type keyed struct {
	path string
	a, b reflect.Value
}

func (w *walk) differ(path string, a, b any) {
	if w.found == "" {
		w.found = fmt.Sprintf("%s: %v and %v", path, a, b)
	}
}

func (w *walk) same(path string, a, b reflect.Value) {
	if w.found != "" {
		return
	}
	if a.IsValid() != b.IsValid() || a.IsValid() && a.Type() != b.Type() {
		w.differ(path, a, b)
		return
	}
	if !a.IsValid() {
		return
	}
	switch a.Kind() {
	case reflect.Pointer:
		w.samePointer(path, a, b)
	case reflect.Interface:
		w.same(path, a.Elem(), b.Elem())
	case reflect.Struct:
		w.sameStruct(path, a, b)
	case reflect.Slice, reflect.Array:
		if a.Len() != b.Len() {
			w.differ(path, a.Len(), b.Len())
			return
		}
		for i := range a.Len() {
			w.same(fmt.Sprintf("%s[%d]", path, i), a.Index(i), b.Index(i))
		}
	case reflect.Map:
		w.sameMap(path, a, b)
	default:
		if !a.Equal(b) {
			w.differ(path, a, b)
		}
	}
}

func (w *walk) samePointer(path string, a, b reflect.Value) {
	if a.IsNil() || b.IsNil() {
		if a.IsNil() != b.IsNil() {
			w.differ(path, a, b)
		}
		return
	}
	pair := [2]uintptr{a.Pointer(), b.Pointer()}
	if w.pairs[pair] {
		return
	}
	w.pairs[pair] = true
	if other, known := w.twin[pair[0]]; known && other != pair[1] && a.Type() != reflect.TypeFor[*words]() {
		w.differ(path, "one object", "two objects")
		return
	}
	w.twin[pair[0]] = pair[1]
	w.same(path, a.Elem(), b.Elem())
}

// few lists and references are the same in either of their two forms.
func (w *walk) sameStruct(path string, a, b reflect.Value) {
	if a.NumField() == 2 && a.Type().Field(1).Name == "more" {
		as, bs := elements(a), elements(b)
		if len(as) != len(bs) {
			w.differ(path, len(as), len(bs))
			return
		}
		for i := range as {
			w.same(fmt.Sprintf("%s[%d]", path, i), as[i], bs[i])
		}
		return
	}
	dead := a.Type() == reflect.TypeFor[thing]() && !a.FieldByName("live").Bool()
	for i := range a.NumField() {
		name := a.Type().Field(i).Name
		if slices.Contains(derived[a.Type()], name) || dead && name == "place" {
			continue
		}
		w.same(path+"."+name, a.Field(i), b.Field(i))
	}
}

// elements are those of a few or refs.
func elements(v reflect.Value) (all []reflect.Value) {
	first, more := v.Field(0), v.Field(1)
	if first.Kind() == reflect.Array {
		if !more.IsNil() {
			first = reflect.Value{}
		} else {
			first = first.Index(0)
		}
	}
	if first.IsValid() && !first.IsNil() {
		all = append(all, first)
	}
	if !more.IsNil() {
		for i := range more.Elem().Len() {
			all = append(all, more.Elem().Index(i))
		}
	}
	return all
}

func (w *walk) sameMap(path string, a, b reflect.Value) {
	if a.Len() != b.Len() {
		w.differ(path, a.Len(), b.Len())
		return
	}
	if a.Type().Key().Kind() == reflect.Pointer {
		w.later = append(w.later, keyed{path, a, b})
		return
	}
	for k, v := range a.Seq2() {
		other := b.MapIndex(k)
		if !other.IsValid() {
			w.differ(path, k, "none")
			return
		}
		w.same(fmt.Sprintf("%s[%v]", path, k), v, other)
	}
}

// sameKeyed compares maps whose keys were met before, or are as good as met: the nil
// one, and one that has no twin yet and takes the only key without one.
func (w *walk) sameKeyed(m keyed) {
	others := map[uintptr]reflect.Value{}
	for k, v := range m.b.Seq2() {
		others[k.Pointer()] = v
	}
	for k, v := range m.a.Seq2() {
		twin := w.twin[k.Pointer()]
		other, ok := others[twin]
		if !ok {
			w.differ(m.path, k.Type(), "no such key")
			return
		}
		w.same(m.path+"[]", v, other)
	}
}
