package filestore_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/comity-dev/comity/internal/seglog"
	"github.com/comity-dev/comity/internal/vfs/vfstest"
	"github.com/comity-dev/comity/storage"
	"github.com/comity-dev/comity/storage/filestore"
)

func TestOneProcessHoldsAStore(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir, nil)
	if again, err := filestore.Open(dir, nil); !errors.Is(err, storage.ErrLocked) {
		t.Fatalf("second Open = %v, %v, want ErrLocked", again, err)
	}
	s.Close()
	mustOpen(t, dir, nil)
}

// No empty store is made over what is left of another one.
func TestMissingLog(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir, nil)
	put(t, s, "a", "one")
	s.Close()
	if err := os.Rename(filepath.Join(dir, "log"), filepath.Join(dir, "elsewhere")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if s, err := filestore.Open(dir, nil); err == nil {
			s.Close()
			t.Fatal("Open of a store without its log made a new one")
		}
	}
	if _, err := filestore.OpenReadOnly(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("OpenReadOnly = %v, want fs.ErrNotExist", err)
	}
	if err := os.Rename(filepath.Join(dir, "elsewhere"), filepath.Join(dir, "log")); err != nil {
		t.Fatal(err)
	}
	wantContents(t, mustOpen(t, dir, nil), "a", "one")
}

// OpenReadOnly works beside the process that writes, and writes nothing.
func TestOpenReadOnly(t *testing.T) {
	dir := t.TempDir()
	if _, err := filestore.OpenReadOnly(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("OpenReadOnly of nothing = %v, want fs.ErrNotExist", err)
	}
	if names, _ := os.ReadDir(dir); len(names) > 0 {
		t.Errorf("it left %v", names)
	}
	s := mustOpen(t, dir, nil)
	put(t, s, "a", "one", "two", "three")
	d := storage.DigestOf([]byte("blob"))
	if _, err := s.Blobs().Put(ctx, "s", d, strings.NewReader("blob")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.KV().Put(ctx, "k", 0, []byte("v")); err != nil {
		t.Fatal(err)
	}
	for _, state := range []string{"open", "closed"} {
		if state == "closed" {
			s.Close()
		}
		ro, err := filestore.OpenReadOnly(dir)
		if err != nil {
			t.Fatal(err)
		}
		got, err := contents(ro, "a")
		if len(got) < 2 || err != nil || state == "closed" && len(got) != 3 {
			t.Errorf("%s: read %q, %v", state, got, err)
		}
		var end error
		n := 0
		for _, end = range ro.Ledger().Follow(ctx, "a", 1) {
			n++
		}
		if !isReadOnly(end) || n != len(got)+1 {
			t.Errorf("%s: Follow gave %d records and ended with %v", state, n-1, end)
		}
		r, err := ro.Blobs().Get(ctx, "s", d)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(r); string(b) != "blob" || err != nil {
			t.Errorf("%s: blob %q, %v", state, b, err)
		}
		r.Close()
		tip, _ := ro.Ledger().Tip(ctx, "a")
		_, e1 := ro.Ledger().Append(ctx, "a", tip, []byte("x"))
		_, e2 := ro.Leaser().Acquire(ctx, "a")
		_, e3 := ro.KV().Put(ctx, "new", 0, nil)
		_, e4 := ro.Blobs().Put(ctx, "s", storage.Digest{}, strings.NewReader("x"))
		_, e5 := ro.Compact(ctx)
		_, e6 := ro.Leaser().Holder(ctx, "a")
		for i, err := range []error{e1, e2, e3, e4, e5, e6, ro.Ledger().Delete(ctx, "a"), ro.KV().Delete(ctx, "k", 0), ro.Blobs().Delete(ctx, "s", d)} {
			if !isReadOnly(err) {
				t.Errorf("%s: write %d = %v, want a *ReadOnlyError", state, i, err)
			}
		}
		if report, err := ro.Verify(ctx, nil); err != nil || len(report.Findings) > 0 {
			t.Errorf("%s: Verify = %+v, %v", state, report, err)
		}
		if err := ro.Close(); err != nil {
			t.Error(err)
		}
	}
}

func diskSize(t testing.TB, dir string) (size int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			info, err := d.Info()
			if err != nil {
				return err
			}
			size += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return size
}

func TestCompact(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir, nil)
	large := strings.Repeat("x", 100_000)
	put(t, s, "stays", "one", "two")
	for range 100 {
		put(t, s, "goes", large)
	}
	var rev uint64
	for i := range 50 {
		var err error
		if rev, err = s.KV().Put(ctx, "k", rev, fmt.Append(nil, i)); err != nil {
			t.Fatal(err)
		}
		l, err := s.Leaser().Acquire(ctx, "lease")
		if err != nil {
			t.Fatal(err)
		}
		l.Release(ctx)
	}
	if err := s.Ledger().Delete(ctx, "goes"); err != nil {
		t.Fatal(err)
	}
	put(t, s, "goes", "anew")
	last, err := s.Leaser().Acquire(ctx, "lease")
	if err != nil {
		t.Fatal(err)
	}
	dropped, err := s.Compact(ctx)
	if err != nil || dropped < 100+49+50 {
		t.Fatalf("Compact dropped %d records, %v", dropped, err)
	}
	if dropped, err = s.Compact(ctx); err != nil || dropped == 0 {
		t.Errorf("the second Compact, which may drop the end of the ledger, dropped %d, %v", dropped, err)
	}
	check := func() {
		t.Helper()
		wantContents(t, s, "stays", "one", "two")
		wantContents(t, s, "goes", "anew")
		if v, got, err := s.KV().Get(ctx, "k"); string(v) != "49" || got != rev || err != nil {
			t.Errorf("row = %q, %d, %v", v, got, err)
		}
		if report, err := s.Verify(ctx, nil); err != nil || len(report.Findings) > 0 {
			t.Errorf("Verify = %+v, %v", report, err)
		}
	}
	check()
	s.Close()
	if size := diskSize(t, filepath.Join(dir, "log")); size > 5<<20 {
		t.Errorf("the log has %d bytes", size)
	}
	os.Remove(filepath.Join(dir, "index"))
	s = mustOpen(t, dir, nil)
	check()
	if l, err := s.Leaser().Acquire(ctx, "lease"); err != nil || l.Epoch() <= last.Epoch() {
		t.Errorf("epoch after compaction and without an index: %v, %v, want above %d", l, err, last.Epoch())
	}
}

// Reading goes on while records of others are dropped under it.
func TestCompactWhileReading(t *testing.T) {
	s := mustOpen(t, t.TempDir(), &filestore.Options{MaxSegmentBytes: 64 << 10})
	var want []string
	for i := range 400 {
		want = append(want, fmt.Sprint("record ", i))
		put(t, s, "a", want[i])
		put(t, s, fmt.Sprint("other", i%5), strings.Repeat("x", 700))
	}
	i := 0
	for rec, err := range s.Ledger().Read(ctx, "a", 1) {
		if err != nil || string(rec.Data) != want[i] {
			t.Fatalf("record %d = %q, %v", i+1, rec.Data, err)
		}
		if i++; i%80 == 0 {
			if err := s.Ledger().Delete(ctx, fmt.Sprint("other", i/80-1)); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Compact(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
	if i != len(want) {
		t.Errorf("read %d records, want %d", i, len(want))
	}
}

// After a write failed on the disk, the store refuses writes, reads on, and
// works again once it is opened.
func TestBrokenStore(t *testing.T) {
	d := vfstest.New()
	s := openDisk(t, d)
	tip := put(t, s, "a", "one")
	d.Fail(vfstest.Fault{At: d.Ops(), Forever: true, Err: vfstest.EIO, Kinds: []string{"sync"}})
	_, err := s.Ledger().Append(ctx, "a", tip, []byte("two"))
	var open *storage.AmbiguousError
	if !errors.As(err, &open) || open.Name != "a" || open.Op != "append" {
		t.Fatalf("Append over a failed sync = %v, want an *AmbiguousError", err)
	}
	d.Repair()
	for what, err := range map[string]error{
		"Append":     second(s.Ledger().Append(ctx, "b", storage.Tip{}, []byte("x"))),
		"Delete":     s.Ledger().Delete(ctx, "none"),
		"Put":        second(s.KV().Put(ctx, "k", 0, nil)),
		"Acquire":    second(s.Leaser().Acquire(ctx, "l")),
		"row Delete": s.KV().Delete(ctx, "k", 0),
		"Compact":    second(s.Compact(ctx)),
	} {
		if !errors.Is(err, storage.ErrBroken) {
			t.Errorf("%s after a failed write = %v, want ErrBroken", what, err)
		}
	}
	wantContents(t, s, "a", "one")
	s.Close()
	s = openDisk(t, d.Kill())
	got, err := contents(s, "a")
	if err != nil || len(got) < 1 || len(got) > 2 {
		t.Errorf("opened again: %q, %v", got, err)
	}
	put(t, s, "a", "three")
}

func second[T any](_ T, err error) error { return err }

// A full disk refuses and forgets; once there is room, all works. Deleting needs
// the reserve.
func TestFullDisk(t *testing.T) {
	d := vfstest.New()
	s := openDisk(t, d)
	tip := put(t, s, "a", "one")
	d.Fail(vfstest.Fault{At: d.Ops(), Forever: true, Err: vfstest.ENOSPC, Kinds: []string{"write", "create"}})
	if _, err := s.Ledger().Append(ctx, "a", tip, []byte("two")); !errors.Is(err, storage.ErrNoSpace) {
		t.Fatalf("Append on a full disk = %v, want ErrNoSpace", err)
	}
	if _, err := s.Blobs().Put(ctx, "s", storage.Digest{}, strings.NewReader("x")); !errors.Is(err, storage.ErrNoSpace) {
		t.Errorf("Put of a blob on a full disk = %v, want ErrNoSpace", err)
	}
	d.Repair()
	if next, err := s.Ledger().Append(ctx, "a", tip, []byte("two")); err != nil || next.Seq != 2 {
		t.Errorf("Append once there is room = %v, %v", next, err)
	}
	wantContents(t, s, "a", "one", "two")
}

// A blob that rotted on the disk is told, and stored anew by the next Put if its
// file is evidently not whole.
func TestRottenBlob(t *testing.T) {
	d := vfstest.New()
	s := openDisk(t, d)
	data := strings.Repeat("content", 1000)
	digest := storage.DigestOf([]byte(data))
	if _, err := s.Blobs().Put(ctx, "space", digest, strings.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	dirs, _ := d.List("/store/blobs")
	file := ""
	for _, dir := range dirs {
		if dir != "tmp" {
			file = "/store/blobs/" + dir + "/" + strings.TrimPrefix(digest.String(), "sha256:")
		}
	}
	good := slices.Clone(d.Bytes(file))
	if len(good) != 64+len(data) {
		t.Fatalf("the file %s has %d bytes", file, len(good))
	}
	for what, bad := range map[string][]byte{
		"content": change(good, 1000), "header": change(good, 40), "magic": change(good, 0),
		"cut": good[:3000], "cut in the header": good[:20], "longer": append(slices.Clone(good), 0), "empty": nil,
	} {
		d.SetBytes(file, bad)
		r, err := s.Blobs().Get(ctx, "space", digest)
		var got []byte
		if err == nil {
			got, err = io.ReadAll(r)
			r.Close()
		}
		var wrong *storage.DigestError
		if !errors.As(err, &wrong) || wrong.Want != digest {
			t.Errorf("%s: read %d bytes, %v, want a *DigestError", what, len(got), err)
		}
		report, err := s.Verify(ctx, nil)
		if err != nil || len(report.Findings) != 1 || report.Findings[0].What != "blob" || report.Findings[0].Name != "space" {
			t.Errorf("%s: Verify = %+v, %v", what, report, err)
		}
		for info, err := range s.Blobs().List(ctx, "space") {
			if err != nil || info.Digest != digest {
				t.Errorf("%s: List = %+v, %v", what, info, err)
			}
		}
		if what == "content" {
			continue
		}
		if _, err := s.Blobs().Put(ctx, "space", digest, strings.NewReader(data)); err != nil {
			t.Errorf("%s: Put: %v", what, err)
		}
		if !slices.Equal(d.Bytes(file)[32:], good[32:]) {
			t.Errorf("%s: Put has not stored the blob anew", what)
		}
	}
}

func change(b []byte, at int) []byte {
	b = slices.Clone(b)
	b[at] ^= 4
	return b
}

// What is written by a newer version is refused and left alone.
func TestNewerFormat(t *testing.T) {
	d := vfstest.New()
	s := openDisk(t, d)
	put(t, s, "a", "one")
	s.Close()
	c := d.Clone()
	index := slices.Clone(d.Bytes("/store/index"))
	index[8]++
	c.SetBytes("/store/index", index)
	if _, err := filestore.OpenOn(c, nil, "/store", filestore.Inline()); !errors.Is(err, storage.ErrNewerFormat) {
		t.Errorf("Open of a newer index = %v, want ErrNewerFormat", err)
	}
	if got := c.Bytes("/store/index"); !slices.Equal(got, index) {
		t.Error("the newer index was changed")
	}
	log, _, err := seglog.Open(d, "/store/log", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := log.Append(ctx, append([]byte{7}, make([]byte, 60)...)); err != nil {
		t.Fatal(err)
	}
	log.Close()
	if _, err := filestore.OpenOn(d, nil, "/store", filestore.Inline()); !errors.Is(err, storage.ErrNewerFormat) {
		t.Errorf("Open of a log with a record of a newer kind = %v, want ErrNewerFormat", err)
	}
}

// Many write, read, follow and compact at once.
func TestAllAtOnce(t *testing.T) {
	s := mustOpen(t, t.TempDir(), &filestore.Options{IndexAfter: 50, MaxSegmentBytes: 64 << 10})
	const writers, records = 8, 150
	var wg sync.WaitGroup
	for w := range writers {
		name := fmt.Sprint("w", w)
		wg.Go(func() {
			var tip storage.Tip
			for i := range records {
				next, err := s.Ledger().Append(ctx, name, tip, fmt.Append(nil, name, " ", i))
				if err != nil {
					t.Error(err)
					return
				}
				if tip = next; i%40 == 39 {
					s.KV().Put(ctx, name, 0, []byte("x"))
					s.KV().Delete(ctx, name, 0)
					if _, err := s.Compact(ctx); err != nil {
						t.Error(err)
					}
				}
			}
		})
		wg.Go(func() {
			i := 0
			for rec, err := range s.Ledger().Follow(ctx, name, 1) {
				if err != nil || string(rec.Data) != fmt.Sprint(name, " ", i) {
					t.Errorf("%s: record %d = %q, %v", name, i+1, rec.Data, err)
					return
				}
				if i++; i == records {
					return
				}
			}
		})
	}
	wg.Wait()
	if report, err := s.Verify(ctx, nil); err != nil || len(report.Findings) > 0 || report.Ledgers != writers {
		t.Errorf("Verify = %+v, %v", report, err)
	}
}

// Folders and files are for their owner alone.
func TestModes(t *testing.T) {
	d := vfstest.New()
	s := openDisk(t, d)
	put(t, s, "a", "one")
	s.Blobs().Put(ctx, "s", storage.Digest{}, strings.NewReader("x"))
	s.Close()
	var walk func(dir string)
	walk = func(dir string) {
		names, err := d.List(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			path := dir + "/" + name
			info, err := d.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if want := map[bool]fs.FileMode{true: 0o700, false: 0o600}[info.Dir]; info.Mode.Perm() != want {
				t.Errorf("%s has mode %v, want %v", path, info.Mode, want)
			}
			if info.Dir {
				walk(path)
			}
		}
	}
	walk("/store")
}

func FuzzDecodeIndex(f *testing.F) {
	d := vfstest.New()
	s := openDisk(f, d)
	put(f, s, "a", "one", "two")
	put(f, s, "b", "x")
	s.KV().Put(ctx, "k", 0, nil)
	s.Close()
	f.Add(d.Bytes("/store/index"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		again, err := filestore.DecodeIndex(filestore.Resum(b))
		if err != nil {
			return
		}
		if third, err := filestore.DecodeIndex(again); err != nil || len(third) != len(again) {
			t.Errorf("an index that was decoded and encoded decodes as %v", err)
		}
	})
}

// What is kept in memory for followers is bounded, and whoever is behind it reads
// the log.
func TestFollowerFarBehind(t *testing.T) {
	s := openDisk(t, vfstest.New())
	var tip storage.Tip
	append1 := func(rec []byte) {
		t.Helper()
		next, err := s.Ledger().Append(ctx, "a", tip, rec)
		if err != nil {
			t.Fatal(err)
		}
		tip = next
	}
	append1([]byte("1"))
	next, stop := iter.Pull2(s.Ledger().Follow(t.Context(), "a", 1))
	defer stop()
	if rec, err, ok := next(); rec.Seq != 1 || err != nil || !ok {
		t.Fatalf("first record %v, %v", rec, err)
	}
	for i := 2; i <= 3000; i++ {
		append1([]byte(fmt.Sprint(i)))
	}
	append1(make([]byte, 3<<20))
	append1([]byte("3002"))
	if n, bytes := s.Recent("a"); n > 1024 || bytes > 1<<20 {
		t.Errorf("%d records of %d bytes are kept in memory", n, bytes)
	}
	for i := 2; i <= 3002; i++ {
		rec, err, _ := next()
		if err != nil || rec.Seq != uint64(i) || i != 3001 && string(rec.Data) != fmt.Sprint(i) {
			t.Fatalf("record %d came as %d, %.20q, %v", i, rec.Seq, rec.Data, err)
		}
	}
}
