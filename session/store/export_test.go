package store_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
	"testing"

	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/session/store"
	"github.com/comity-dev/comity/storage"
	"github.com/comity-dev/comity/storage/memstore"
	"github.com/comity-dev/comity/storage/storagetest"
)

func exported(t testing.TB, s *store.Store) []byte {
	t.Helper()
	var file bytes.Buffer
	if _, err := s.Export(t.Context(), session, &file); err != nil {
		t.Fatalf("Export: %v", err)
	}
	return file.Bytes()
}

// frames returns the bytes of all records.
func frames(t testing.TB, b storage.Backend) (list []string) {
	t.Helper()
	for rec, err := range b.Ledger().Read(t.Context(), ledger, 0) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, string(rec.Data))
	}
	return list
}

// What was exported here is there as it was, to the byte, and goes on there
// under higher epochs than it ever had.
func TestExportAndImport(t *testing.T) {
	each(t, func(t *testing.T, b storage.Backend) {
		s := newStore(t, b, &store.Options{InlineBytes: 1000, Chain: true})
		for range 3 { // so that epochs are above those of a new store
			closed(t, open(t, s))
		}
		full(t, s)
		file := exported(t, s)
		if !bytes.HasPrefix(file, []byte("comity session export 1\n{")) && !bytes.HasPrefix(file, []byte("comity session export 1\nM")) {
			t.Errorf("the file begins with %q", file[:40])
		}
		there := closing(t, memstore.New())
		dst := newStore(t, there, &store.Options{InlineBytes: 1000})
		m, err := dst.Import(t.Context(), bytes.NewReader(file), "")
		if err != nil || m.Session != session || m.Records != tip(t, b).Seq {
			t.Fatalf("Import = %+v, %v", m, err)
		}
		if a, c := frames(t, b), frames(t, there); fmt.Sprint(a) != fmt.Sprint(c) {
			t.Errorf("imported %d records, want the same %d", len(c), len(a))
		}
		if r, err := dst.Verify(t.Context(), session); err != nil || !r.Good() || r.Records != m.Records {
			t.Errorf("Verify = %+v, %v", r, err)
		}
		w := open(t, dst)
		if res, err := w.AppendIdempotent(t.Context(), ev(10)); err != nil || res.Appended {
			t.Errorf("a record that was imported: %+v, %v", res, err)
		}
		seq := mustAppend(t, w, note("goes on", "x"))
		if seq != m.Records+2 {
			t.Errorf("sequence %d behind %d", seq, m.Records)
		}
		held := want[*journal.LeaseHeldError](t, "Open", second(dst.Open(t.Context(), session, nil)))
		if held.Epoch != w.Epoch() {
			t.Errorf("held by epoch %d, want %d", held.Epoch, w.Epoch())
		}
		if owner, err := dst.Owner(t.Context(), session); err != nil || owner != w.Epoch() {
			t.Errorf("Owner = %d, %v, want %d", owner, err, w.Epoch())
		}
		over, err := dst.Takeover(t.Context(), session, storage.Proof{Epoch: held.Epoch, Reason: "test"})
		if err != nil || over.Epoch() <= w.Epoch() {
			t.Errorf("Takeover = %v, %v", over, err)
		}
		over.Release(t.Context())
		if owner, err := dst.Owner(t.Context(), session); err != nil || owner != 0 {
			t.Errorf("Owner = %d, %v, want none", owner, err)
		}
		if r, err := dst.Verify(t.Context(), session); err != nil || !r.Good() {
			t.Errorf("Verify = %+v, %v", r, err)
		}
		// The same session is there already, here and there; as another it is not.
		want[*store.SessionExistsError](t, "Import again", second(dst.Import(t.Context(), bytes.NewReader(file), "")))
		if _, err := dst.Import(t.Context(), bytes.NewReader(file), id(2)); err != nil {
			t.Errorf("Import as another session: %v", err)
		}
		again := exported(t, s)
		if !bytes.Equal(cutTime(file), cutTime(again)) {
			t.Error("two exports of one session differ")
		}
	})
}

// cutTime leaves out the sections with the time of the export in them.
func cutTime(file []byte) []byte { return file[300 : len(file)-200] }

// Every bit of a file is guarded, wherever it is cut, and whatever is behind it;
// nothing of a bad file is imported.
func TestImportTakesWholeFilesOnly(t *testing.T) {
	s := newStore(t, closing(t, memstore.New()), &store.Options{InlineBytes: 100})
	w := open(t, s)
	mustAppend(t, w, note("1", "x"), note("2", strings.Repeat("y", 101)), note("3", strings.Repeat("y", 101)))
	file := exported(t, s)
	there := closing(t, memstore.New())
	dst := newStore(t, there, nil)
	refuse := func(what string, file []byte) {
		t.Helper()
		_, err := dst.Import(t.Context(), bytes.NewReader(file), "")
		want[*store.ImportError](t, "Import of a file "+what, err)
	}
	for at := range file {
		bad := bytes.Clone(file)
		bad[at] ^= 1 << (at % 8)
		refuse(fmt.Sprint("with byte ", at, " changed"), bad)
		refuse(fmt.Sprint("cut at ", at), file[:at])
	}
	refuse("with a byte behind it", append(bytes.Clone(file), 0))
	refuse("twice", append(bytes.Clone(file), file...))
	refuse("that is empty", nil)
	for name := range there.Ledger().Names(t.Context(), "") {
		t.Errorf("a bad file left ledger %s", name)
	}
	for space := range there.Blobs().Spaces(t.Context(), "") {
		t.Errorf("a bad file left blobs in %s", space)
	}
	if _, err := dst.Import(t.Context(), io.NewSectionReader(bytes.NewReader(append([]byte("before"), file...)), 6, int64(len(file))), ""); err != nil {
		t.Errorf("the good file: %v", err)
	}
	if _, err := dst.Import(t.Context(), bytes.NewReader(file), "../x"); err == nil {
		t.Error("a hostile name is taken")
	}
}

// Each write of an import fails: the session cannot be opened then, and the next
// import puts it right.
func TestImportThatIsInterrupted(t *testing.T) {
	s := newStore(t, closing(t, memstore.New()), &store.Options{InlineBytes: 1000})
	full(t, s)
	file := exported(t, s)
	clean := all(t, s)
	writes := 0
	for at := 0; ; at++ {
		b := closing(t, memstore.New())
		f := storagetest.NewFaults(b, func(n int, op, _ string) storagetest.Fate {
			if n >= at && op != "acquire" && op != "takeover" {
				return storagetest.Lost
			}
			return storagetest.Pass
		})
		dst := newStore(t, f, nil)
		_, err := dst.Import(t.Context(), bytes.NewReader(file), "")
		if err == nil {
			writes = at
			break
		}
		good := newStore(t, b, nil)
		if tip(t, b).Seq > 0 {
			want[*store.PartialImportError](t, "Open of half a session", second(good.Open(t.Context(), session, nil)))
		}
		if _, err := good.Import(t.Context(), bytes.NewReader(file), ""); err != nil {
			t.Fatalf("write %d: Import again: %v", at, err)
		}
		if got := all(t, good); len(got) != len(clean) {
			t.Errorf("write %d: %d records, want %d", at, len(got), len(clean))
		}
		if r, err := good.Verify(t.Context(), session); err != nil || !r.Good() {
			t.Errorf("write %d: Verify = %+v, %v", at, r, err)
		}
		closed(t, open(t, good))
		if at > 100 {
			t.Fatal("it never ends")
		}
	}
	if writes < 5 {
		t.Errorf("only %d writes failed", writes)
	}
}

func TestExportThatCannotBeWritten(t *testing.T) {
	s := newStore(t, closing(t, memstore.New()), nil)
	w := open(t, s)
	mustAppend(t, w, note("1", strings.Repeat("x", 100_000)))
	full := errors.New("disk full")
	for room := 0; room < 100_000; room += 9973 {
		if _, err := s.Export(t.Context(), session, &small{room, full}); !errors.Is(err, full) {
			t.Errorf("Export with room for %d = %v", room, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Export(ctx, session, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("Export with an ended context = %v", err)
	}
}

type small struct {
	room int
	err  error
}

func (s *small) Write(p []byte) (int, error) {
	if s.room -= len(p); s.room < 0 {
		return 0, s.err
	}
	return len(p), nil
}

// What others hand in: nothing panics, and what is taken is a session that
// Verify finds nothing wrong with.
func FuzzImport(f *testing.F) {
	s := newStore(f, closing(f, memstore.New()), &store.Options{InlineBytes: 100})
	full(f, s)
	file := exported(f, s)
	f.Add(file)
	f.Add(file[:len(file)/2])
	f.Add([]byte("comity session export 1\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		for _, file := range [][]byte{file, mended(file)} {
			b := memstore.New()
			defer b.Close()
			dst := newStore(t, b, nil)
			m, err := dst.Import(t.Context(), bytes.NewReader(file), session)
			if err != nil {
				if tip(t, b).Seq != 0 {
					t.Errorf("refused, and something was written: %v", err)
				}
				continue
			}
			if r, err := dst.Verify(t.Context(), session); err != nil || !r.Good() || r.Tip != m.Records {
				t.Errorf("Verify = %+v, %v", r, err)
			}
		}
	})
}

// mended gives every checksum and digest of a file the value that it should
// have, so that what is behind them is looked at too.
func mended(file []byte) []byte {
	const line = "comity session export 1\n"
	if !bytes.HasPrefix(file, []byte(line)) {
		return file
	}
	file = bytes.Clone(file)
	records, blobs := 0, 0
	for at := len(line); at+16 <= len(file); {
		size := binary.LittleEndian.Uint64(file[at+8:])
		if size > uint64(len(file)-at-16) {
			break
		}
		payload := file[at+16 : at+16+int(size)]
		switch kind := file[at]; {
		case kind == 'B' && len(payload) >= 32:
			sum := sha256.Sum256(payload[32:])
			copy(payload, sum[:])
			blobs++
		case kind == 'R' && len(payload) >= 20:
			records++
			binary.LittleEndian.PutUint64(payload, uint64(records))
			resealed(payload[8:])
		case kind == 'E':
			sum := storage.Digest(sha256.Sum256(file[:at]))
			payload = fmt.Appendf(nil, `{"records":%d,"blobs":%d,"sha256":%q}`, records, blobs, sum)
			file = append(file[:at+16], payload...)
			binary.LittleEndian.PutUint64(file[at+8:], uint64(len(payload)))
		}
		binary.LittleEndian.PutUint32(file[at+4:], crc32.Checksum(payload, crc32.MakeTable(crc32.Castagnoli)))
		at += 16 + len(payload)
	}
	return file
}

func TestMendedFilesAreTaken(t *testing.T) {
	s := newStore(t, closing(t, memstore.New()), &store.Options{InlineBytes: 100})
	full(t, s)
	file := exported(t, s)
	if !bytes.Equal(mended(file), file) {
		t.Error("a good file is changed by mending it")
	}
	// A manifest that says another number, in a file that is right else.
	for _, n := range []string{"99", "12"} {
		there := closing(t, memstore.New())
		bad := mended(bytes.Replace(file, fmt.Appendf(nil, `"records":%d,"exported_at"`, len(all(t, s))), []byte(`"records":`+n+`,"exported_at"`), 1))
		if bytes.Equal(bad, file) || len(bad) != len(file) {
			t.Fatal("the manifest was not changed")
		}
		_, err := newStore(t, there, nil).Import(t.Context(), bytes.NewReader(bad), "")
		want[*store.ImportError](t, "a manifest of "+n+" records", err)
		if tip(t, there).Seq != 0 {
			t.Error("and something was written")
		}
	}
	file[len(file)-3] ^= 1
	if _, err := newStore(t, closing(t, memstore.New()), nil).Import(t.Context(), bytes.NewReader(mended(file)), ""); err != nil {
		t.Errorf("a mended file: %v", err)
	}
}

func TestDelete(t *testing.T) {
	each(t, func(t *testing.T, b storage.Backend) {
		s := newStore(t, b, &store.Options{InlineBytes: 1000, CheckpointRecords: 2})
		full(t, s)
		other := id(2)
		w2, err := s.Open(t.Context(), other, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer w2.Close()
		mustAppend(t, w2, note("other", strings.Repeat("x", 5000)))

		w := open(t, s)
		want[*journal.LeaseHeldError](t, "Delete of a session that is held", s.Delete(t.Context(), session))
		epoch := w.Epoch()
		closed(t, w)
		for range 2 {
			if err := s.Delete(t.Context(), session); err != nil {
				t.Fatalf("Delete: %v", err)
			}
		}
		left := func() (names []string) {
			for name := range b.Ledger().Names(t.Context(), ledger) {
				names = append(names, "ledger "+name)
			}
			for name := range b.Blobs().Spaces(t.Context(), ledger) {
				names = append(names, "space "+name)
			}
			for name := range b.KV().Keys(t.Context(), ledger) {
				names = append(names, "row "+name)
			}
			return names
		}
		if names := left(); len(names) > 0 {
			t.Errorf("left over: %v", names)
		}
		w = open(t, s)
		if w.Epoch() <= epoch {
			t.Errorf("epoch %d behind %d", w.Epoch(), epoch)
		}
		if res, err := w.AppendIdempotent(t.Context(), ev(10)); err != nil || !res.Appended || res.Sequence != 2 {
			t.Errorf("a new life begins with %+v, %v", res, err)
		}
		mustAppend(t, w2, note("goes on", "x"))
		if r, err := s.Verify(t.Context(), other); err != nil || !r.Good() {
			t.Errorf("the other session: %+v, %v", r, err)
		}
	})
}

// A writer whose session was deleted, and begun anew, cannot write into the new
// life.
func TestWriterOfADeletedSession(t *testing.T) {
	b := closing(t, memstore.New())
	s := newStore(t, b, nil)
	lease, err := s.Acquire(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.OpenUnder(t.Context(), deafLease{lease}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	mustAppend(t, w, note("1", "x"))
	lease.Release(t.Context())
	if err := s.Delete(t.Context(), session); err != nil {
		t.Fatal(err)
	}
	want[*journal.FencedError](t, "append to a deleted session", second(w.Append(t.Context(), note("2", "x"))))
	now := open(t, s)
	mustAppend(t, now, note("3", "x"))
	want[*journal.FencedError](t, "append to its next life", second(w.Append(t.Context(), note("2", "x"))))
	wantIDs(t, s, "3")
}
