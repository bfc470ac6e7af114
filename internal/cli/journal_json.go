package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// reply prints v as JSON on one line. What a terminal would obey, or would turn
// around, is an escape in it: what sessions wrote is anybody's text.
func (r *journalRun) reply(v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	for rest := bytes.TrimSuffix(b.Bytes(), []byte("\n")); len(rest) > 0; {
		c, n := utf8.DecodeRune(rest)
		if part := string(rest[:n]); clean(part) == part {
			r.out.w.Write(rest[:n]) // its first error stays, and flush returns it
		} else {
			r.out.printf("%s", escape(c))
		}
		rest = rest[n:]
	}
	r.out.printf("\n")
	return nil
}

// escape is a character as an escape of JSON.
func escape(c rune) string {
	if c > 0xffff {
		c -= 0x10000
		return fmt.Sprintf(`\u%04x\u%04x`, 0xd800+c>>10, 0xdc00+c&0x3ff)
	}
	return fmt.Sprintf(`\u%04x`, c)
}
