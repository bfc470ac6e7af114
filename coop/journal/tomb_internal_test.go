package journal

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// dropped counts the tombs that are closed.
func (ts *tombs) dropped() (n int) {
	for _, t := range ts.order {
		if !t.returned {
			n++
		}
	}
	return n
}

func someTombs() []*tomb {
	stream := func(i int) ident.Stream {
		return ident.Stream(fmt.Sprintf("%032x-%016x-%016x", i, i+1, i+2))
	}
	return []*tomb{
		{stream: stream(1), head: 5, at: 9, uptime: 1500 * time.Millisecond, measured: true, difference: -time.Hour, taken: time.Minute},
		{stream: stream(2), head: event.MaxInt, at: 1 << 60, returned: true},
		{stream: stream(3)},
	}
}

func TestTombsAreReadBack(t *testing.T) {
	for n := range 4 {
		boot, all, err := decodeTombs(encodeTombs("boot", someTombs()[:n]))
		if err != nil || boot != "boot" || len(all) != n {
			t.Fatalf("%d: %q, %d, %v", n, boot, len(all), err)
		}
		for i, want := range someTombs()[:n] {
			if d := cmp.Diff(want, all[i], cmp.AllowUnexported(tomb{})); d != "" {
				t.Errorf("tomb %d (-want +got):\n%s", i, d)
			}
		}
	}
	good := encodeTombs("boot", someTombs())
	for what, bad := range map[string][]byte{
		"nothing":     nil,
		"cut":         good[:len(good)-1],
		"more":        append(bytes.Clone(good), 0),
		"no boot":     {5, 'b'},
		"a flag":      append(append([]byte{0}, 4), good[6:5+tombBytes]...),
		"twice":       append(bytes.Clone(good), good[5:5+tombBytes]...),
		"a high head": encodeTombs("", []*tomb{{stream: someTombs()[0].stream, head: event.MaxInt + 1}}),
		"a high beat": encodeTombs("", []*tomb{{stream: someTombs()[0].stream, uptime: event.MaxUptime + time.Second}}),
	} {
		if _, all, err := decodeTombs(bad); err == nil {
			t.Errorf("%s: %d tombs", what, len(all))
		}
	}
}

func FuzzDecodeTombs(f *testing.F) {
	f.Add(encodeTombs("boot", someTombs()))
	f.Add(encodeTombs("", nil))
	f.Add([]byte{255})
	f.Fuzz(func(t *testing.T, b []byte) {
		boot, all, err := decodeTombs(b)
		if err != nil {
			return
		}
		if again := encodeTombs(boot, all); !bytes.Equal(again, b) {
			t.Errorf("%x is read and printed as %x", b, again)
		}
	})
}

func TestOnlyTheLatestChangeOfAMarkIsTold(t *testing.T) {
	c := newChanges()
	for i := range 1000 {
		c.note(ident.Stream(fmt.Sprint(i % 3)))
	}
	c.note("x")
	c.note("x")
	c.forget("0")
	c.note("y")
	c.forget("y")
	var got []ident.Stream
	for s := range c.since(0) {
		if got = append(got, s); len(got) > 4 {
			break
		}
	}
	if d := cmp.Diff([]ident.Stream{"x", "2", "1"}, got); d != "" { // 999 is of 0
		t.Errorf("(-want +got):\n%s", d)
	}
	for s := range c.since(c.version - 2) {
		if s != "x" {
			t.Errorf("%s changed since", s)
		}
	}
	kept := 0
	for one := c.latest; one != nil && kept < 4; one = one.before {
		kept++
	}
	if kept != 3 || len(c.of) != 3 {
		t.Errorf("%d and %d changes are kept of 3 streams", kept, len(c.of))
	}
}
