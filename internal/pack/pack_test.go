package pack_test

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/comity-dev/comity/internal/pack"
)

// A thing has one of each kind that can be described.
type thing struct {
	Small   uint8
	Large   uint64
	Signed  int64
	Yes     bool
	Fixed   [5]byte
	Text    string
	Bytes   []byte
	List    []string
	Numbers map[string]uint32
}

func (t *thing) pack(c *pack.Coder) {
	pack.Uint(c, &t.Small)
	pack.Uint(c, &t.Large)
	pack.Int(c, &t.Signed)
	c.Bool(&t.Yes)
	c.Fixed(t.Fixed[:])
	pack.String(c, &t.Text)
	c.Bytes(&t.Bytes)
	pack.List(c, &t.List, func(s *string) { pack.String(c, s) })
	pack.Map(c, &t.Numbers, func(k *string, v *uint32) {
		pack.String(c, k)
		pack.Uint(c, v)
	})
}

func (t *thing) equal(u *thing) bool {
	return t.Small == u.Small && t.Large == u.Large && t.Signed == u.Signed && t.Yes == u.Yes && t.Fixed == u.Fixed &&
		t.Text == u.Text && bytes.Equal(t.Bytes, u.Bytes) && slices.Equal(t.List, u.List) && maps.Equal(t.Numbers, u.Numbers)
}

func draw(t *rapid.T) *thing {
	return &thing{
		Small: rapid.Uint8().Draw(t, "small"), Large: rapid.Uint64().Draw(t, "large"), Signed: rapid.Int64().Draw(t, "signed"),
		Yes: rapid.Bool().Draw(t, "yes"), Fixed: [5]byte(rapid.SliceOfN(rapid.Byte(), 5, 5).Draw(t, "fixed")),
		Text: rapid.String().Draw(t, "text"), Bytes: rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"),
		List:    rapid.SliceOf(rapid.String()).Draw(t, "list"),
		Numbers: rapid.MapOf(rapid.String(), rapid.Uint32()).Draw(t, "numbers"),
	}
}

func written(t *thing) []byte {
	c := pack.NewWriter(nil)
	t.pack(c)
	return c.Written()
}

func read(b []byte) (*thing, error) {
	c, t := pack.NewReader(b), new(thing)
	t.pack(c)
	return t, c.End()
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := draw(t)
		b := written(want)
		got, err := read(b)
		if err != nil || !got.equal(want) {
			t.Fatalf("%+v came back as %+v, %v", want, got, err)
		}
		clear(b) // nothing read lies in it
		if !got.equal(want) {
			t.Fatalf("what was read changed with the bytes: %+v, want %+v", got, want)
		}
	})
}

func TestEveryShorterOrLongerPieceIsMalformed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := written(draw(t))
		cut := rapid.IntRange(0, len(b)-1).Draw(t, "cut")
		if _, err := read(b[:cut]); !errors.Is(err, pack.ErrMalformed) {
			t.Fatalf("%d of %d bytes: %v", cut, len(b), err)
		}
		if _, err := read(append(b, 0)); !errors.Is(err, pack.ErrMalformed) {
			t.Fatalf("one byte more: %v", err)
		}
	})
}

func TestNumbersThatDoNotFitAreMalformed(t *testing.T) {
	large := pack.NewWriter(nil)
	n := uint64(256)
	pack.Uint(large, &n)
	small := uint8(7)
	c := pack.NewReader(large.Written())
	if pack.Uint(c, &small); !errors.Is(c.Err(), pack.ErrMalformed) || small != 0 {
		t.Errorf("256 as a byte is %d, %v", small, c.Err())
	}
	c = pack.NewReader([]byte{2})
	yes := true
	if c.Bool(&yes); !errors.Is(c.Err(), pack.ErrMalformed) || yes {
		t.Errorf("2 as a bool is %t, %v", yes, c.Err())
	}
}

// A length that is not true costs no memory before it is found out.
func TestAFalseLengthMakesNoRoom(t *testing.T) {
	c := pack.NewWriter(nil)
	n := uint64(1) << 50
	pack.Uint(c, &n)
	r := pack.NewReader(append(c.Written(), make([]byte, 64)...))
	var list []string
	if pack.List(r, &list, func(s *string) { pack.String(r, s) }); !errors.Is(r.Err(), pack.ErrMalformed) || list != nil {
		t.Errorf("read %d of %d texts, %v", len(list), n, r.Err())
	}
}

func TestPartsAreReadByThemselves(t *testing.T) {
	want := &thing{Text: "inside", Large: 300}
	w := pack.NewWriter([]byte("ab"))
	w.Part(want.pack)
	after := uint8(9)
	pack.Uint(w, &after)
	c := pack.NewReader(w.Written()[2:])
	got, err := read(c.Part(nil))
	if err != nil || !got.equal(want) {
		t.Fatalf("the part came back as %+v, %v", got, err)
	}
	if pack.Uint(c, &after); after != 9 || c.End() != nil {
		t.Errorf("behind it came %d, %v", after, c.End())
	}
}

func FuzzRead(f *testing.F) {
	f.Add(written(&thing{Text: "x", List: []string{"a", "b"}, Numbers: map[string]uint32{"k": 1}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := read(b)
		if err != nil {
			return
		}
		again, err := read(written(got))
		if err != nil || !again.equal(got) {
			t.Fatalf("%+v came back as %+v, %v", got, again, err)
		}
	})
}
