package journal

import (
	"strconv"
	"strings"

	"github.com/comity-dev/comity/coop/ident"
)

// A cursor is "<incarnation>.<view>.<index>": after the event at index, in the
// log of that incarnation, as seen with that set of believed keys.

func (j *Journal) cursor(index uint64) string { return j.cursorIn(j.view, index) }

func (j *Journal) cursorIn(view string, index uint64) string {
	return j.inc + "." + view + "." + strconv.FormatUint(index, 10)
}

// after is the index that a cursor stands behind; 0 for the empty one.
func (j *Journal) after(cursor string) (uint64, error) {
	if cursor == "" {
		return 0, nil
	}
	part := strings.Split(cursor, ".")
	if len(part) != 3 || !ident.IsHex(part[0], 32) || !ident.IsHex(part[1], viewDigits) {
		return 0, &CursorError{cursor, CursorMalformed}
	}
	index, err := strconv.ParseUint(part[2], 10, 64)
	switch {
	case err != nil || part[2] != strconv.FormatUint(index, 10):
		return 0, &CursorError{cursor, CursorMalformed}
	case part[0] != j.inc:
		return 0, &CursorError{cursor, CursorIncarnation}
	case part[1] != j.view:
		return 0, &CursorError{cursor, CursorView}
	case index > max(j.last(), j.log.End()): // what it stands behind may have been dropped
		return 0, &CursorError{cursor, CursorAhead}
	}
	return index, nil
}

// last is the index of the last event that arrived, 0 when none has.
func (j *Journal) last() uint64 {
	if n := j.arrivals.len(); n > 0 {
		return j.arrivals.at(n - 1)
	}
	return 0
}
