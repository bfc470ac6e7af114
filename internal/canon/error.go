package canon

import "fmt"

// An Error says where bytes leave the canonical form, and how.
type Error struct {
	Offset int    // of the byte at which it was seen
	Detail string // what is wrong there
}

func (e *Error) Error() string {
	return fmt.Sprintf("not canonical JSON at byte %d: %s", e.Offset, e.Detail)
}
