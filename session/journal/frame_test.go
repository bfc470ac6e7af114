package journal_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/comity-dev/comity/session/journal"
)

// goodFrames are one frame of each shape that there is.
func goodFrames() map[string]journal.Frame {
	base := journal.Frame{
		Family: journal.FamilyEvent, Epoch: 9, Token: journal.Token{0xa1, 15: 0xff}, Batch: 1, Of: 1, Schema: 1,
		ID: "event-1", Body: journal.Field{Bytes: []byte("body")},
	}
	with := func(change func(f *journal.Frame)) journal.Frame {
		f := base
		change(&f)
		return f
	}
	return map[string]journal.Frame{
		"private event":  base,
		"empty body":     with(func(f *journal.Frame) { f.Body.Bytes = nil }),
		"public event":   with(func(f *journal.Frame) { f.HasPublic, f.Projection, f.Public.Bytes = true, 3, []byte("public") }),
		"empty public":   with(func(f *journal.Frame) { f.HasPublic, f.Projection = true, 1 }),
		"body elsewhere": with(func(f *journal.Frame) { f.Body = ref("body") }),
		"both elsewhere": with(func(f *journal.Frame) {
			f.Body, f.HasPublic, f.Projection, f.Public = ref("body"), true, 1, ref("public")
		}),
		"semantic":        with(func(f *journal.Frame) { f.Semantic = journal.DigestOf([]byte("meaning")) }),
		"chained":         with(func(f *journal.Frame) { f.Prev = journal.DigestOf([]byte("before")) }),
		"second of three": with(func(f *journal.Frame) { f.Batch, f.Of = 2, 3 }),
		"command":         with(func(f *journal.Frame) { f.Family, f.Route = journal.FamilyCommand, "loop-1" }),
		"fence":           with(func(f *journal.Frame) { f.Family, f.ID, f.Body.Bytes = journal.FamilyFence, "9", []byte(`{"epoch":9}`) }),
		"gate":            with(func(f *journal.Frame) { f.Family = journal.FamilyGatePrepared }),
		"application":     with(func(f *journal.Frame) { f.Family, f.ID = journal.FamilyApplication, "command-application:x\n\u00e9" }),
		"disposition":     with(func(f *journal.Frame) { f.Family = journal.FamilyDisposition }),
		"opaque":          with(func(f *journal.Frame) { f.Family, f.Kind, f.Schema = journal.FamilyOpaque, "acme/note.v-2_x", 65535 }),
		"longest names": with(func(f *journal.Frame) {
			f.Family, f.Kind, f.ID = journal.FamilyOpaque, strings.Repeat("k", journal.MaxKindBytes), strings.Repeat("i", journal.MaxIDBytes)
		}),
		"longest route": with(func(f *journal.Frame) {
			f.Family, f.Route = journal.FamilyCommand, strings.Repeat("r", journal.MaxRouteBytes)
		}),
		"highest": with(func(f *journal.Frame) { f.Epoch, f.Batch, f.Of = 1<<64-1, 65535, 65535 }),
	}
}

func ref(content string) journal.Field {
	return journal.Field{Ref: journal.Ref{Digest: journal.DigestOf([]byte(content)), Size: uint64(len(content))}}
}

func TestFramesComeBackAsTheyWere(t *testing.T) {
	for name, f := range goodFrames() {
		raw, err := f.AppendTo([]byte("before"))
		if err != nil {
			t.Errorf("%s: AppendTo: %v", name, err)
			continue
		}
		raw = raw[len("before"):]
		if over := len(raw) - len(f.Body.Bytes) - len(f.Public.Bytes); over > journal.MaxFrameOverhead && f.Body.Ref == (journal.Ref{}) {
			t.Errorf("%s: %d bytes around the content, at most %d", name, over, journal.MaxFrameOverhead)
		}
		got, err := journal.ParseFrame(raw)
		if err != nil {
			t.Errorf("%s: ParseFrame: %v", name, err)
			continue
		}
		for _, field := range []*[]byte{&got.Body.Bytes, &got.Public.Bytes} {
			if len(*field) == 0 {
				*field = nil
			}
		}
		if diff := cmp.Diff(&f, got); diff != "" {
			t.Errorf("%s: came back otherwise (-want +got):\n%s", name, diff)
		}
	}
}

// The bytes of the document: they are what other readers go by.
func TestFrameBytes(t *testing.T) {
	f := journal.Frame{
		Family: journal.FamilyOpaque, Epoch: 258, Token: journal.Token([]byte("0123456789abcdef")), Batch: 2, Of: 3,
		Schema: 5, Projection: 6, Kind: "k", ID: "id", HasPublic: true, Public: journal.Field{Bytes: []byte("PUB")},
		Semantic: journal.DigestOf([]byte("s")), Prev: journal.DigestOf([]byte("p")), Body: ref("body"),
	}
	got, err := f.AppendTo(nil)
	if err != nil {
		t.Fatal(err)
	}
	want := unhex(t, `
		636d6a72 01 07 1b00 8d1f2a2c
		0500 0600 0201000000000000
		30313233343536373839616263646566
		0200 0300 01 00 0200 28000000 03000000 0000000000000000
		6b 6964
		043a718774c572bd8a25adbeb1bfcd5c0256ae11cecf9f9c3f925d0e52beaf89
		148de9c5a7a44d19e56cd9ae1a554bf67847afb0c58f6e12fa29ac7ddfca9940
		230d8358dc8e8890b4c58deeb62912ee2f20357ae92a5cc861b98e68fe31acb5 0400000000000000
		505542`)
	copy(want[8:12], got[8:12]) // judged below
	if !bytes.Equal(got, want) {
		t.Errorf("frame is\n%x, want\n%x", got, want)
	}
	table := crc32.MakeTable(crc32.Castagnoli)
	sum := crc32.Checksum(append(bytes.Clone(got[:8]), got[12:]...), table)
	if binary.LittleEndian.Uint32(got[8:]) != sum {
		t.Errorf("checksum is %x, want the CRC-32C of all the other bytes, %x", got[8:12], sum)
	}
}

func unhex(t *testing.T, s string) []byte {
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Whatever single bit of a frame changes, and wherever it is cut, it is told.
func TestEveryBitOfAFrameIsGuarded(t *testing.T) {
	for name, f := range goodFrames() {
		raw, err := f.AppendTo(nil)
		if err != nil {
			t.Fatal(err)
		}
		var damaged *journal.FrameError
		for bit := range 8 * min(len(raw), 300) {
			bad := bytes.Clone(raw)
			bad[bit/8] ^= 1 << (bit % 8)
			if _, err := journal.ParseFrame(bad); !errors.As(err, &damaged) {
				t.Fatalf("%s: bit %d flipped: %v, want a *FrameError", name, bit, err)
			}
		}
		for n := range len(raw) {
			if _, err := journal.ParseFrame(raw[:n]); !errors.As(err, &damaged) {
				t.Fatalf("%s: first %d bytes: %v, want a *FrameError", name, n, err)
			}
		}
		if _, err := journal.ParseFrame(append(bytes.Clone(raw), 0)); !errors.As(err, &damaged) {
			t.Errorf("%s: a byte behind: %v, want a *FrameError", name, err)
		}
	}
}

// sealed gives b the checksum that it should have.
func sealed(b []byte) []byte {
	if len(b) >= 12 {
		sum := crc32.Checksum(append(bytes.Clone(b[:8]), b[12:]...), crc32.MakeTable(crc32.Castagnoli))
		binary.LittleEndian.PutUint32(b[8:], sum)
	}
	return b
}

func TestFramesOfNewerBuildsAreToldFromDamage(t *testing.T) {
	f := goodFrames()["public event"]
	raw, err := f.AppendTo(nil)
	if err != nil {
		t.Fatal(err)
	}
	newer := bytes.Clone(raw)
	newer[4] = 2
	var version *journal.NewerFrameError
	if _, err := journal.ParseFrame(sealed(newer)); !errors.As(err, &version) || version.Version != 2 || version.Newest != journal.FrameVersion {
		t.Errorf("version 2: %v, want a *NewerFrameError that says so", err)
	}
	// A later version need not be laid out like this one behind its first 12 bytes.
	short := sealed([]byte("cmjr\x02......."))
	if _, err := journal.ParseFrame(short); !errors.As(err, &version) {
		t.Errorf("a short frame of version 2: %v, want a *NewerFrameError", err)
	}
	for _, family := range []byte{0, 8, 255} {
		strange := bytes.Clone(raw)
		strange[5] = family
		var unknown *journal.UnknownFamilyError
		if _, err := journal.ParseFrame(sealed(strange)); !errors.As(err, &unknown) || unknown.Family != journal.Family(family) {
			t.Errorf("family %d: %v, want an *UnknownFamilyError that says so", family, err)
		}
	}
}

func TestFramesThatBreakARuleAreRefused(t *testing.T) {
	for detail, change := range map[string]func(f *journal.Frame){
		"epoch 0":                           func(f *journal.Frame) { f.Epoch = 0 },
		"no token":                          func(f *journal.Frame) { f.Token = journal.Token{} },
		"record 0 of a batch":               func(f *journal.Frame) { f.Batch = 0 },
		"record 3 of a batch of 2":          func(f *journal.Frame) { f.Batch, f.Of = 3, 2 },
		"schema 0":                          func(f *journal.Frame) { f.Schema = 0 },
		"only a public form":                func(f *journal.Frame) { f.Projection = 1 },
		"a public form has a version":       func(f *journal.Frame) { f.HasPublic = true },
		"of a private command":              func(f *journal.Frame) { f.Family, f.HasPublic, f.Projection = journal.FamilyCommand, true, 1 },
		"of a private gate-prepared":        func(f *journal.Frame) { f.Family, f.HasPublic, f.Projection = journal.FamilyGatePrepared, true, 1 },
		"a fence without its body":          func(f *journal.Frame) { f.Family, f.Body = journal.FamilyFence, ref("x") },
		"only an opaque record":             func(f *journal.Frame) { f.Kind = "k" },
		"an opaque record has a kind":       func(f *journal.Frame) { f.Family = journal.FamilyOpaque },
		"only a command has a route":        func(f *journal.Frame) { f.Route = "r" },
		"a semantic digest of gate":         func(f *journal.Frame) { f.Family, f.Semantic = journal.FamilyGatePrepared, journal.Digest{1} },
		"id of 0 bytes":                     func(f *journal.Frame) { f.ID = "" },
		"id of 513 bytes":                   func(f *journal.Frame) { f.ID = strings.Repeat("x", 513) },
		"id is not UTF-8":                   func(f *journal.Frame) { f.ID = "\xff" },
		"route of 256 bytes":                func(f *journal.Frame) { f.Family, f.Route = journal.FamilyCommand, strings.Repeat("x", 256) },
		"kind of 65 bytes":                  func(f *journal.Frame) { f.Family, f.Kind = journal.FamilyOpaque, strings.Repeat("x", 65) },
		"kind is not of a-z":                func(f *journal.Frame) { f.Family, f.Kind = journal.FamilyOpaque, "Note" },
		"in place of the body":              func(f *journal.Frame) { f.Body.Ref.Size = 1 },
		"nothing in place of the body":      func(f *journal.Frame) { f.Body = journal.Field{Ref: journal.Ref{Digest: journal.Digest{1}}} },
		"in place of the public form":       func(f *journal.Frame) { f.HasPublic, f.Projection, f.Public.Ref.Size = true, 1, 1 },
		"that is said not to be there":      func(f *journal.Frame) { f.Public.Bytes = []byte("x") },
		"reference to nothing in place":     func(f *journal.Frame) { f.Body.Ref = journal.Ref{Digest: journal.Digest{1}, Size: 1} },
		"a kind, and only an opaque record": func(f *journal.Frame) { f.Family, f.Kind = journal.FamilyEvent, "x" },
	} {
		f := goodFrames()["private event"]
		change(&f)
		b, err := f.AppendTo([]byte("kept"))
		var refused *journal.FrameError
		if !errors.As(err, &refused) || !strings.Contains(refused.Detail, detail) {
			t.Errorf("AppendTo: %v, want a *FrameError about %q", err, detail)
		}
		if string(b) != "kept" {
			t.Errorf("%s: AppendTo left %q, want what was there before", detail, b)
		}
	}
	f := goodFrames()["private event"]
	f.Family = 99
	var unknown *journal.UnknownFamilyError
	if _, err := f.AppendTo(nil); !errors.As(err, &unknown) {
		t.Errorf("AppendTo of family 99: %v, want an *UnknownFamilyError", err)
	}
}

// What AppendTo would not write, ParseFrame does not take, even with a right
// checksum.
func TestParseRefusesWhatNobodyWrites(t *testing.T) {
	f := goodFrames()["both elsewhere"]
	raw, err := f.AppendTo(nil)
	if err != nil {
		t.Fatal(err)
	}
	for at, values := range map[int][]byte{
		4:  {0},                   // version
		6:  {0x20, 0x80},          // flags that have no meaning
		7:  {1},                   // more of them
		12: {0},                   // schema
		14: {0},                   // projection of a public form
		16: {0},                   // epoch
		40: {0, 2},                // place in a batch of 1
		42: {0},                   // of a batch of none
		44: {1},                   // kind: lengths
		45: {1},                   // route
		46: {0, 1, 255},           // id
		47: {1},                   // id
		48: {0, 39, 41, 255},      // body: a reference has 40 bytes
		52: {0, 39, 41},           // public
		56: {1}, 63: {1}, 60: {9}, // reserved
	} {
		for _, v := range values {
			bad := bytes.Clone(raw)
			bad[at] = v
			if at == 16 {
				copy(bad[16:24], make([]byte, 8))
			}
			var refused *journal.FrameError
			if _, err := journal.ParseFrame(sealed(bad)); !errors.As(err, &refused) {
				t.Errorf("byte %d = %d: %v, want a *FrameError", at, v, err)
			}
		}
	}
	zeroRef := bytes.Clone(raw)
	copy(zeroRef[64+len(f.ID):], make([]byte, 40))
	zeroDigest := goodFrames()["semantic"]
	rawDigest, _ := zeroDigest.AppendTo(nil)
	copy(rawDigest[64+len(f.ID):], make([]byte, 32))
	for name, b := range map[string][]byte{"reference of zeros": zeroRef, "semantic digest of zeros": rawDigest} {
		if _, err := journal.ParseFrame(sealed(b)); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

func FuzzParseFrame(f *testing.F) {
	for _, frame := range goodFrames() {
		raw, err := frame.AppendTo(nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
		f.Add(raw[:len(raw)/2])
		f.Add(append(raw, raw...))
	}
	f.Add([]byte{})
	f.Add([]byte("cmjr"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, b := range [][]byte{b, sealed(bytes.Clone(b))} {
			got, err := journal.ParseFrame(b)
			if err != nil {
				if got != nil {
					t.Fatalf("a frame beside the error %v", err)
				}
				continue
			}
			again, err := got.AppendTo(nil)
			if err != nil || !bytes.Equal(again, b) {
				t.Fatalf("%x was taken and is written %x, %v", b, again, err)
			}
			if fp := got.Fingerprint(); fp == (journal.Fingerprint{}) {
				t.Fatal("no fingerprint")
			}
		}
	})
}

func ExampleFrame() {
	f := journal.Frame{
		Family: journal.FamilyFence, Epoch: 1, Token: journal.Token{1}, Batch: 1, Of: 1, Schema: 1,
		ID: "1", Body: journal.Field{Bytes: []byte(`{"epoch":1}`)},
	}
	raw, err := f.AppendTo(nil)
	fmt.Println(len(raw), string(raw[:4]), err)
	// Output: 76 cmjr <nil>
}
