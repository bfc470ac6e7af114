package cli

import (
	"bufio"
	"bytes"

	"github.com/comity-dev/comity/api"
)

// render is a status as text without colours.
func render(st *api.Status, g ages) []byte {
	var b bytes.Buffer
	p := &printer{w: bufio.NewWriter(&b)}
	p.status(st, g)
	_ = p.flush() // into memory
	return b.Bytes()
}
