package natsstore_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/comity-dev/comity/storage"
	"github.com/comity-dev/comity/storage/natsstore"
)

// A record is found in few questions, wherever it lies in a ledger that others
// wrote between, and the ledger is read in batches.
func TestReadAsksSeldom(t *testing.T) {
	o := serverOptions(t)
	o.SyncAlways = false // it is only read
	s := open(t, startServer(t, o), natsstore.Options{})
	const records = 3000
	tips := map[string]storage.Tip{}
	add := func(name string, recs ...[]byte) {
		t.Helper()
		tip, err := s.Ledger().Append(t.Context(), name, tips[name], recs...)
		if err != nil {
			t.Fatal(err)
		}
		tips[name] = tip
	}
	for i := range records { // beside one that is written in bursts
		add("a", fmt.Append(nil, "record ", i+1))
		if i%500 > 400 {
			add("b", []byte("x"), []byte("y"))
			add("b", []byte("z"))
		}
	}
	asked := func(do func()) (questions, bytes uint64) {
		before := natsstore.Conn(s).Stats()
		do()
		after := natsstore.Conn(s).Stats()
		return after.OutMsgs - before.OutMsgs, after.InBytes - before.InBytes
	}
	for from := uint64(1); from <= records; from += 173 {
		n, bytes := asked(func() {
			for rec, err := range s.Ledger().Read(t.Context(), "a", from) {
				if err != nil || string(rec.Data) != fmt.Sprint("record ", from) {
					t.Errorf("record %d = %q, %v", from, rec.Data, err)
				}
				break
			}
		})
		if n > 20 || bytes > 64<<10 {
			t.Errorf("record %d of %d was found in %d questions and %d bytes", from, records, n, bytes)
		}
	}
	n := 0
	if q, _ := asked(func() {
		for _, err := range s.Ledger().Read(t.Context(), "a", 1) {
			if n++; err != nil {
				t.Fatal(err)
			}
		}
	}); n != records || q > 12 {
		t.Errorf("%d records of %d were read in %d questions", n, records, q)
	}
	for from := uint64(1); from <= tips["b"].Seq; from += 97 { // packs
		for rec, err := range s.Ledger().Read(t.Context(), "b", from) {
			if want := "xyz"[(from-1)%3 : (from-1)%3+1]; err != nil || rec.Seq != from || string(rec.Data) != want {
				t.Errorf("record %d of b = %d, %q, %v", from, rec.Seq, rec.Data, err)
			}
			break
		}
	}
}

// Batches beyond what one message takes are all there or not, with their
// numbers, up to the bounds of Traits.
func TestLargeBatches(t *testing.T) {
	srv := startServer(t, serverOptions(t))
	s := open(t, srv, natsstore.Options{})
	tr := s.Traits()
	var tip storage.Tip
	var err error
	var want []int
	for _, sizes := range [][]int{
		{1 << 20, 0, 1 << 20, 1},
		{0, 0, 1<<20 - 2, 1, tr.MaxRecordBytes, 3},
		{1<<20 - 4, 1, 1},
		bytesOf(tr.MaxBatchRecords, 0),
		bytesOf(16, 1<<20),
	} {
		var recs [][]byte
		for i, n := range sizes {
			recs = append(recs, bytes.Repeat([]byte{byte(i)}, n))
		}
		if tip, err = s.Ledger().Append(t.Context(), "a", tip, recs...); err != nil {
			t.Fatalf("Append of %d records: %v", len(recs), err)
		}
		want = append(want, sizes...)
	}
	other := open(t, srv, natsstore.Options{})
	n := 0
	for rec, err := range other.Ledger().Read(t.Context(), "a", 1) {
		if err != nil {
			t.Fatal(err)
		}
		if rec.Seq != uint64(n+1) || len(rec.Data) != want[n] {
			t.Fatalf("record %d has %d bytes, want record %d of %d", rec.Seq, len(rec.Data), n+1, want[n])
		}
		n++
	}
	if n != len(want) || tip.Seq != uint64(n) {
		t.Errorf("%d records, tip %v, want %d", n, tip, len(want))
	}
}

func bytesOf(n, size int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = size
	}
	return list
}

// An error of the reader is no end of the content, whatever it is.
func TestBlobOfBrokenReader(t *testing.T) {
	s := open(t, startServer(t, serverOptions(t)), natsstore.Options{})
	for _, n := range []int{0, 10, 1 << 20, 1<<20 + 10} {
		data := strings.Repeat("x", n)
		_, err := s.Blobs().Put(t.Context(), "s", storage.Digest{}, io.MultiReader(strings.NewReader(data), brokenReader{}))
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("Put from a reader that breaks after %d bytes = %v, want its error", n, err)
		}
		var missing *storage.NotFoundError
		if _, err := s.Blobs().Stat(t.Context(), "s", storage.DigestOf([]byte(data))); !errors.As(err, &missing) {
			t.Errorf("Stat = %v, want a *NotFoundError", err)
		}
	}
	if n := natsstore.Chunks(t.Context(), s); n != 0 {
		t.Errorf("%d contents are left of Puts that failed", n)
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestBlobDeletedWhileRead(t *testing.T) {
	s := open(t, startServer(t, serverOptions(t)), natsstore.Options{})
	data := bytes.Repeat([]byte("0123456789abcdef"), 5<<16)
	info, err := s.Blobs().Put(t.Context(), "s", storage.Digest{}, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Blobs().Get(t.Context(), "s", info.Digest)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := io.ReadFull(r, make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	if err := s.Blobs().Delete(t.Context(), "s", info.Digest); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(r)
	var missing *storage.NotFoundError
	if !errors.As(err, &missing) && (err != nil || len(got) != len(data)-10) {
		t.Errorf("reading a blob that was deleted gave %d bytes, %v", len(got), err)
	}
	if n := natsstore.Chunks(t.Context(), s); n != 0 {
		t.Errorf("%d contents are left behind Delete", n)
	}
}

func TestBlobIsDamaged(t *testing.T) {
	s := open(t, startServer(t, serverOptions(t)), natsstore.Options{})
	info, err := s.Blobs().Put(t.Context(), "s", storage.Digest{}, strings.NewReader("content"))
	if err != nil {
		t.Fatal(err)
	}
	natsstore.Conn(s).Flush()
	subject := natsstore.ChunkSubject(t.Context(), s)
	purge(t, s, subject)
	put(t, s, subject, natsstore.Head('c', 1, 0, subject, "CONTENT"), "CONTENT")
	r, err := s.Blobs().Get(t.Context(), "s", info.Digest)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var damaged *storage.DigestError
	if _, err := io.ReadAll(r); !errors.As(err, &damaged) || damaged.Want != info.Digest {
		t.Errorf("reading a damaged blob = %v, want a *DigestError", err)
	}
}

func purge(t testing.TB, s *natsstore.Store, subject string) {
	t.Helper()
	if _, err := natsstore.Conn(s).Request("$JS.API.STREAM.PURGE.comity_blobs", []byte(`{"filter":"`+subject+`"}`), 5*time.Second); err != nil {
		t.Fatal(err)
	}
}

// Sweep removes what no blob refers to, once it is old enough, and nothing else.
func TestSweep(t *testing.T) {
	s := open(t, startServer(t, serverOptions(t)), natsstore.Options{})
	if n, err := s.Sweep(t.Context(), 0); n != 0 || err != nil {
		t.Errorf("Sweep of nothing = %d, %v", n, err)
	}
	info, err := s.Blobs().Put(t.Context(), "s", storage.Digest{}, strings.NewReader("content"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, "comity.c.dead", natsstore.Head('c', 1, 0, "comity.c.dead", "x"), "x")
	if n, err := s.Sweep(t.Context(), time.Hour); n != 0 || err != nil {
		t.Errorf("Sweep of what is young = %d, %v, want 0", n, err)
	}
	if n, err := s.Sweep(t.Context(), 0); n != 1 || err != nil {
		t.Errorf("Sweep = %d, %v, want 1", n, err)
	}
	r, err := s.Blobs().Get(t.Context(), "s", info.Digest)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if data, err := io.ReadAll(r); string(data) != "content" || err != nil {
		t.Errorf("a blob reads as %q, %v behind Sweep", data, err)
	}
}

// Ages are those of the server's clock and do not begin anew.
func TestBlobAge(t *testing.T) {
	srv := startServer(t, serverOptions(t))
	s, other := open(t, srv, natsstore.Options{}), open(t, srv, natsstore.Options{})
	info, err := s.Blobs().Put(t.Context(), "s", storage.Digest{}, strings.NewReader("content"))
	if err != nil {
		t.Fatal(err)
	}
	var age time.Duration
	eventually(t, 10*time.Second, func() bool {
		got, err := other.Blobs().Stat(t.Context(), "s", info.Digest)
		if err != nil || got.Age < age {
			t.Fatalf("Stat = %+v, %v behind an age of %v", got, err, age)
		}
		age = got.Age
		return age > 20*time.Millisecond
	})
	for got, err := range other.Blobs().List(t.Context(), "s") {
		if err != nil || got.Age < age || got.Age > age+time.Minute {
			t.Errorf("List gives %+v, %v behind an age of %v", got, err, age)
		}
	}
	got, err := s.Blobs().Put(t.Context(), "s", storage.Digest{}, strings.NewReader("content"))
	if err != nil || got.Age < age {
		t.Errorf("Put of what is there = %+v, %v: its age was %v", got, err, age)
	}
}

// A server that has lost what it acknowledged is not believed by the store that
// it was acknowledged to.
// Lists are of names: what the last messages of many ledgers, rows and contents hold would
// not fit into memory.
func TestListingsHoldNoContent(t *testing.T) {
	t.Parallel()
	b := open(t, startServer(t, serverOptions(t)), natsstore.Options{})
	large := bytes.Repeat([]byte("x"), 100_000)
	for _, name := range []string{"a", "b"} {
		if _, err := b.Ledger().Append(t.Context(), name, storage.Tip{}, large, large); err != nil {
			t.Fatal(err)
		}
		if _, err := b.KV().Put(t.Context(), name, 0, large); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Blobs().Put(t.Context(), name, storage.Digest{}, bytes.NewReader(large)); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := natsstore.HeldByListings(t.Context(), b); n != 0 || err != nil {
		t.Errorf("the lists hold %d bytes of content, %v, want none", n, err)
	}
}

func TestServerThatForgot(t *testing.T) {
	srv := startServer(t, serverOptions(t))
	s := open(t, srv, natsstore.Options{})
	tip, err := s.Ledger().Append(t.Context(), "a", storage.Tip{}, []byte("one"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := natsstore.Conn(s).Request("$JS.API.STREAM.PURGE.comity_ledgers", nil, 5*time.Second); err != nil {
		t.Fatal(err)
	}
	natsstore.SetTimeout(s, 300*time.Millisecond)
	calls := map[string]error{}
	_, calls["Tip"] = s.Ledger().Tip(t.Context(), "a")
	_, calls["Append"] = s.Ledger().Append(t.Context(), "a", tip, []byte("two"))
	calls["Delete"] = s.Ledger().Delete(t.Context(), "a")
	for _, calls["Read"] = range s.Ledger().Read(t.Context(), "a", 1) {
	}
	for call, err := range calls {
		if !errors.Is(err, storage.ErrUnavailable) || !strings.Contains(err.Error(), "was acknowledged") {
			t.Errorf("%s = %v, want ErrUnavailable, and that it was acknowledged", call, err)
		}
	}
}
