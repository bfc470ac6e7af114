package install

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
)

// An Edit puts New in the place of Old at an offset of the bytes before.
type Edit struct {
	At  int    `json:"at"`
	Old string `json:"old,omitempty"`
	New string `json:"new,omitempty"`
}

var errEdit = errors.New("the recorded edits do not fit the file")

// apply makes edits, which must be in order and apart.
func apply(b []byte, edits []Edit) ([]byte, error) {
	var out []byte
	at := 0
	for _, e := range edits {
		if e.At < at || e.At > len(b) || !bytes.HasPrefix(b[e.At:], []byte(e.Old)) {
			return nil, errEdit
		}
		out = append(append(out, b[at:e.At]...), e.New...)
		at = e.At + len(e.Old)
	}
	return append(out, b[at:]...), nil
}

// undo takes edits back out of what apply made.
func undo(b []byte, edits []Edit) ([]byte, error) {
	back := make([]Edit, len(edits))
	shift := 0
	for i, e := range edits {
		back[i] = Edit{At: e.At + shift, Old: e.New, New: e.Old}
		shift += len(e.New) - len(e.Old)
	}
	return apply(b, back)
}

func sorted(edits []Edit) []Edit {
	slices.SortStableFunc(edits, func(a, b Edit) int { return cmp.Compare(a.At, b.At) })
	return edits
}
