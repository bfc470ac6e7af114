package cli

import (
	"io"
	"os"
)

// isTerminal reports whether what is written to w is seen by a person at once.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && terminal(f.Fd())
}
