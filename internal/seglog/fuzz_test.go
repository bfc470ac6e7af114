package seglog_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/comity-dev/comity/internal/seglog"
	"github.com/comity-dev/comity/internal/vfs/vfstest"
)

// Whatever the bytes of a segment are, opening and reading end, without a panic,
// and what is read is what was submitted: nobody can write a frame by chance.
func FuzzSegment(f *testing.F) {
	d := vfstest.New()
	m, err := tornScript.run(d, true)
	if err != nil {
		f.Fatal(err)
	}
	d = d.Kill()
	name := logDir + "/00000000000000000001.seg"
	whole := d.Bytes(name)
	f.Add(0, whole[:80])
	f.Add(8192, whole[8192:8240])
	f.Add(8192, []byte{})
	f.Add(len(whole)-64, whole[len(whole)-64:])
	f.Add(4096, bytes.Repeat([]byte{0xa3, 0xf5, 0x67, 0x6c}, 100))
	f.Fuzz(func(t *testing.T, at int, b []byte) {
		if at < 0 || at > len(whole) {
			return
		}
		c := d.Clone()
		changed := append(bytes.Clone(whole[:at]), b...)
		if rest := at + len(b); rest < len(whole) {
			changed = append(changed, whole[rest:]...)
		}
		c.SetBytes(name, changed)
		if _, _, _, err := examine(c, m); err != nil {
			t.Fatal(err)
		}
		if err := seglog.Dump(c, logDir, io.Discard); err != nil {
			t.Fatal(err)
		}
	})
}
