package storagetest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/comity-dev/comity/storage"
)

func testBlobs(t *testing.T, h Harness) {
	for _, part := range []struct {
		name string
		test func(*testing.T, storage.Blobs)
	}{
		{"put and get", testPutGet},
		{"put if absent", testPutIfAbsent},
		{"a wrong digest is refused", testWrongDigest},
		{"a reader that fails stores nothing", testFailingReader},
		{"streams", testStreaming},
		{"list and delete", testList},
		{"spaces are unrelated", testSpaces},
		{"closing a reader", testReaderClose},
		{"concurrent puts", testConcurrentPuts},
	} {
		t.Run(part.name, func(t *testing.T) { part.test(t, h.open(t).Blobs()) })
	}
	t.Run("ages", func(t *testing.T) { testAges(t, h) })
}

func testAges(t *testing.T, h Harness) {
	if !h.Bubble {
		t.Skip("the backend cannot run on virtual time")
	}
	synctest.Test(t, func(t *testing.T) {
		b := h.Open(t)
		defer b.Close()
		old := mustPut(t, b.Blobs(), "s", []byte("old"))
		time.Sleep(3 * time.Hour)
		mustPut(t, b.Blobs(), "s", []byte("old")) // leaves it as it is
		mustPut(t, b.Blobs(), "s", []byte("young"))
		time.Sleep(time.Minute)
		for _, info := range all(t, b.Blobs().List(t.Context(), "s")) {
			want := time.Minute
			if info.Digest == old {
				want += 3 * time.Hour
			}
			if d := info.Age - want; d < -time.Second || d > time.Second {
				t.Errorf("blob %v has the age %v, want %v", info.Digest, info.Age, want)
			}
		}
	})
}

func newReader(s string) io.Reader { return bytes.NewReader([]byte(s)) }

func testPutGet(t *testing.T, b storage.Blobs) {
	for _, data := range [][]byte{nil, []byte("x"), []byte("text\n"), {0, 255}, bytes.Repeat([]byte("0123456789abcdef"), 1<<16), make([]byte, 3<<20+1)} {
		d := storage.DigestOf(data)
		wantNoBlob(t, b, "s", d)
		mustPut(t, b, "s", data)
		wantBlob(t, b, "s", data)
		info, err := b.Stat(t.Context(), "s", d)
		if err != nil || info.Digest != d || info.Size != int64(len(data)) || info.Age < 0 {
			t.Errorf("Stat = %+v, %v", info, err)
		}
	}
	wantNoBlob(t, b, "s", storage.Digest{})
}

// A mustNotRead fails the test when it is read.
type mustNotRead struct{ t testing.TB }

func (r mustNotRead) Read([]byte) (int, error) {
	r.t.Error("Put reads the content of a blob that is there")
	return 0, io.EOF
}

func testPutIfAbsent(t *testing.T, b storage.Blobs) {
	d := mustPut(t, b, "s", []byte("content"))
	mustPut(t, b, "s", []byte("content"))
	info, err := b.Put(t.Context(), "s", d, mustNotRead{t})
	if err != nil || info.Digest != d || info.Size != 7 {
		t.Errorf("Put of what is there = %+v, %v", info, err)
	}
	wantBlob(t, b, "s", []byte("content"))
	if n := len(all(t, b.List(t.Context(), "s"))); n != 1 {
		t.Errorf("List gives %d blobs, want 1", n)
	}
}

func testWrongDigest(t *testing.T, b storage.Blobs) {
	want := storage.DigestOf([]byte("promised"))
	_, err := b.Put(t.Context(), "s", want, newReader("delivered"))
	var wrong *storage.DigestError
	if !errors.As(err, &wrong) || wrong.Want != want || wrong.Got != storage.DigestOf([]byte("delivered")) {
		t.Errorf("Put of other content = %v, want a *DigestError with both digests", err)
	}
	wantNoBlob(t, b, "s", want)
	wantNoBlob(t, b, "s", storage.DigestOf([]byte("delivered")))
	if n := len(all(t, b.List(t.Context(), "s"))); n != 0 {
		t.Errorf("List gives %d blobs after a refusal", n)
	}
	if names := all(t, b.Spaces(t.Context(), "")); len(names) != 0 {
		t.Errorf("Spaces = %q after a refusal", names)
	}
}

func testFailingReader(t *testing.T, b storage.Blobs) {
	broken := errors.New("broken reader")
	data := bytes.Repeat([]byte("x"), 300_000)
	r := io.MultiReader(bytes.NewReader(data), errReader{broken})
	if _, err := b.Put(t.Context(), "s", storage.Digest{}, r); !errors.Is(err, broken) {
		t.Errorf("Put from a reader that fails = %v, want its error", err)
	}
	wantNoBlob(t, b, "s", storage.DigestOf(data))
	if n := len(all(t, b.List(t.Context(), "s"))); n != 0 {
		t.Errorf("List gives %d blobs after a failure", n)
	}
	mustPut(t, b, "s", data)
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

// A counting reader yields n bytes that depend on their place.
type counting struct{ n, at int }

func (c *counting) Read(p []byte) (int, error) {
	if c.at == c.n {
		return 0, io.EOF
	}
	n := min(len(p), c.n-c.at, 10_007) // short reads are legal
	for i := range n {
		p[i] = byte((c.at + i) * 31 / 7)
	}
	c.at += n
	return n, nil
}

func testStreaming(t *testing.T, b storage.Blobs) {
	const size = 9 << 20
	info, err := b.Put(t.Context(), "s", storage.Digest{}, &counting{n: size})
	if err != nil || info.Size != size {
		t.Fatalf("Put = %+v, %v", info, err)
	}
	r, err := b.Get(t.Context(), "s", info.Digest)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	want := &counting{n: size}
	got, expect := make([]byte, 1<<16), make([]byte, 1<<16)
	for total := 0; ; {
		n, err := io.ReadFull(r, got)
		io.ReadFull(want, expect[:n])
		if !bytes.Equal(got[:n], expect[:n]) {
			t.Fatalf("the content differs within %d bytes from %d", n, total)
		}
		total += n
		if err != nil {
			if total != size || err != io.EOF && err != io.ErrUnexpectedEOF {
				t.Errorf("read %d bytes, %v, want %d", total, err, size)
			}
			return
		}
	}
}

func testList(t *testing.T, b storage.Blobs) {
	var want []storage.Digest
	for i := range 40 {
		want = append(want, mustPut(t, b, "s", fmt.Append(nil, i)))
	}
	slices.SortFunc(want, func(a, b storage.Digest) int { return bytes.Compare(a[:], b[:]) })
	check := func() {
		t.Helper()
		list := all(t, b.List(t.Context(), "s"))
		if len(list) != len(want) {
			t.Fatalf("List gives %d blobs, want %d", len(list), len(want))
		}
		for i, info := range list {
			if info.Digest != want[i] || info.Size < 1 || info.Size > 2 || info.Age < 0 {
				t.Errorf("blob %d is %+v, want %v", i, info, want[i])
			}
		}
	}
	check()
	for range 2 {
		if err := b.Delete(t.Context(), "s", want[7]); err != nil {
			t.Fatal(err)
		}
		wantNoBlob(t, b, "s", want[7])
	}
	want = slices.Delete(want, 7, 8)
	check()
	for range b.List(t.Context(), "s") { // stopping early is fine
		break
	}
	for _, d := range want {
		if err := b.Delete(t.Context(), "s", d); err != nil {
			t.Fatal(err)
		}
	}
	if names := all(t, b.Spaces(t.Context(), "")); len(names) != 0 {
		t.Errorf("Spaces = %q, though all are empty", names)
	}
}

func testSpaces(t *testing.T, b storage.Blobs) {
	d := mustPut(t, b, "a", []byte("same"))
	mustPut(t, b, "b", []byte("same"))
	mustPut(t, b, "a/b", []byte("other"))
	wantNoBlob(t, b, "a/b", d)
	if err := b.Delete(t.Context(), "a", d); err != nil {
		t.Fatal(err)
	}
	wantNoBlob(t, b, "a", d)
	wantBlob(t, b, "b", []byte("same"))
	wantBlob(t, b, "a/b", []byte("other"))
	if n := len(all(t, b.List(t.Context(), "none"))); n != 0 {
		t.Errorf("List of no space gives %d blobs", n)
	}
	if names := all(t, b.Spaces(t.Context(), "a")); !slices.Equal(names, []string{"a/b"}) {
		t.Errorf("Spaces = %q, want a/b", names)
	}
}

func testReaderClose(t *testing.T, b storage.Blobs) {
	d := mustPut(t, b, "s", make([]byte, 1<<20))
	r, err := b.Get(t.Context(), "s", d)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(r, make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := r.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	if n, err := r.Read(make([]byte, 10)); n != 0 || err == nil || err == io.EOF {
		t.Errorf("Read after Close = %d, %v, want 0 and an error other than io.EOF", n, err)
	}
}

func testConcurrentPuts(t *testing.T, b storage.Blobs) {
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			data := bytes.Repeat([]byte{byte(i % 4)}, 100_000)
			info, err := b.Put(t.Context(), "s", storage.Digest{}, bytes.NewReader(data))
			if err != nil || info.Digest != storage.DigestOf(data) {
				t.Errorf("Put = %+v, %v", info, err)
			}
		})
	}
	wg.Wait()
	for i := range 4 {
		wantBlob(t, b, "s", bytes.Repeat([]byte{byte(i)}, 100_000))
	}
	if n := len(all(t, b.List(t.Context(), "s"))); n != 4 {
		t.Errorf("List gives %d blobs, want 4", n)
	}
}
