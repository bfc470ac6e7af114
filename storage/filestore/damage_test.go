package filestore_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/comity-dev/comity/internal/vfs/vfstest"
	"github.com/comity-dev/comity/storage"
	"github.com/comity-dev/comity/storage/filestore"
)

func openDisk(t testing.TB, d *vfstest.Disk) *filestore.Store {
	t.Helper()
	s, err := filestore.OpenOn(d, nil, "/store", filestore.Inline())
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// put appends records, one batch each.
func put(t testing.TB, s *filestore.Store, name string, recs ...string) storage.Tip {
	t.Helper()
	tip, err := s.Ledger().Tip(ctx, name)
	for _, r := range recs {
		if err == nil {
			tip, err = s.Ledger().Append(ctx, name, tip, []byte(r))
		}
	}
	if err != nil {
		t.Fatalf("append to %s: %v", name, err)
	}
	return tip
}

const (
	frameHeader  = 40
	recordHeader = 48
)

// find returns the segment that holds the record of a token and where its frame
// begins. The record must not be the first of a life.
func find(t testing.TB, d *vfstest.Disk, token string) (file string, at int) {
	t.Helper()
	names, err := d.List("/store/log")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		file := "/store/log/" + name
		if i := bytes.Index(d.Bytes(file), []byte(token)); i >= 0 {
			return file, i - recordHeader - frameHeader
		}
	}
	t.Fatalf("no record %q on the disk", token)
	return "", 0
}

// rot destroys bytes of the frame of a token from an offset in it on.
func rot(t testing.TB, d *vfstest.Disk, token string, from, n int) {
	t.Helper()
	file, at := find(t, d, token)
	data := bytes.Clone(d.Bytes(file))
	for i := range n {
		data[at+from+i] ^= 0xa5
	}
	d.SetBytes(file, data)
}

func wantDamaged(t testing.TB, s *filestore.Store, name string, seq uint64) {
	t.Helper()
	var damaged *storage.DamagedError
	list, err := contents(s, name)
	if !errors.As(err, &damaged) || damaged.Seq != seq || damaged.Name != name || len(list) != int(seq-1) {
		t.Errorf("reading %s gave %q, %v, want a *DamagedError at %d", name, list, err, seq)
	}
}

func wantContents(t testing.TB, s *filestore.Store, name string, want ...string) {
	t.Helper()
	if got, err := contents(s, name); !slices.Equal(got, want) || err != nil {
		t.Errorf("ledger %s holds %q, %v, want %q", name, got, err, want)
	}
}

func isReadOnly(err error) bool {
	var ro *storage.ReadOnlyError
	return errors.As(err, &ro)
}

// A store that was closed knows all its tips: damage costs the records that it
// hit.
func TestDamageInAClosedStore(t *testing.T) {
	for _, token := range []string{"two", "three"} {
		d := vfstest.New()
		s := openDisk(t, d)
		put(t, s, "a", "one", "two", "three")
		put(t, s, "b", "uno", "due")
		s.Close()
		rot(t, d, token, 0, frameHeader+recordHeader+len(token))
		s = openDisk(t, d)
		if s.Report().Doubt {
			t.Errorf("%s: doubt, though the index knows the tips", token)
		}
		seq := uint64(2 + strings.Index("two  three", token)/5)
		wantDamaged(t, s, "a", seq)
		wantContents(t, s, "b", "uno", "due")
		put(t, s, "a", "four")
		n := 0
		for rec, err := range s.Ledger().Read(ctx, "a", seq+1) {
			if err != nil {
				t.Fatalf("%s: reading on behind the damage: %v", token, err)
			}
			n += int(rec.Seq)
		}
		if want := map[uint64]int{2: 3 + 4, 3: 4}[seq]; n != want {
			t.Errorf("%s: read on behind the damage: sum of numbers %d, want %d", token, n, want)
		}
		report, err := s.Verify(ctx, nil)
		if err != nil || !slices.Contains(report.Findings, filestore.Finding{What: "ledger", Name: "a", First: seq, Last: seq, Text: "records are lost"}) {
			t.Errorf("%s: Verify = %+v, %v", token, report, err)
		}
	}
}

// killed returns what a process leaves that dies behind those appends: no index.
func killed(t testing.TB, fill func(s *filestore.Store)) *vfstest.Disk {
	t.Helper()
	d := vfstest.New()
	s := openDisk(t, d)
	fill(s)
	k := d.Clone().Kill()
	s.Close()
	return k
}

func threeLedgers(t testing.TB) *vfstest.Disk {
	return killed(t, func(s *filestore.Store) {
		put(t, s, "a", "a one", "a two", "a three", "a last")
		put(t, s, "b", "b one", "b two")
		put(t, s, "c", "c one", "c two")
	})
}

// The header of a record tells whose it was, when only its data is damaged.
func TestDamageOfKnownOwner(t *testing.T) {
	d := threeLedgers(t)
	rot(t, d, "a last", frameHeader+recordHeader, 3)
	s := openDisk(t, d)
	report := s.Report()
	if report.Doubt || len(report.Damage) != 1 || report.Damage[0].Owner != "record 4 of ledger a" {
		t.Fatalf("Report = %+v", report)
	}
	wantDamaged(t, s, "a", 4)
	if tip := put(t, s, "a", "five"); tip.Seq != 5 {
		t.Errorf("the number of a lost record was given out again: tip %v", tip)
	}
	put(t, s, "new", "x")
	s.Close()
	s = openDisk(t, d)
	wantDamaged(t, s, "a", 4)
	put(t, s, "b", "b three")
}

// A number that is missing in a ledger that goes on tells too.
func TestDamageWithinALedger(t *testing.T) {
	d := threeLedgers(t)
	rot(t, d, "a three", 0, frameHeader+recordHeader+7)
	s := openDisk(t, d)
	if report := s.Report(); report.Doubt || len(report.Damage) != 1 {
		t.Fatalf("Report = %+v", report)
	}
	wantDamaged(t, s, "a", 3)
	put(t, s, "a", "five")
	put(t, s, "new", "x")
}

// Damage that may have held anything makes everything read-only that nothing
// behind it attests, until somebody has been told.
func TestDamageOfUnknownOwner(t *testing.T) {
	d := threeLedgers(t)
	rot(t, d, "a last", 0, frameHeader+recordHeader+6)
	s := openDisk(t, d)
	if report := s.Report(); !report.Doubt || len(report.Damage) != 1 {
		t.Fatalf("Report = %+v, want doubt", report)
	}
	wantContents(t, s, "a", "a one", "a two", "a three")
	tip, err := s.Ledger().Tip(ctx, "a")
	if err != nil || tip.Seq != 3 {
		t.Fatalf("Tip = %v, %v", tip, err)
	}
	refused := func(when string) {
		t.Helper()
		if _, err := s.Ledger().Append(ctx, "a", tip, []byte("x")); !isReadOnly(err) {
			t.Errorf("%s: append to a ledger in doubt = %v", when, err)
		}
		if _, err := s.Ledger().Append(ctx, "new", storage.Tip{}, []byte("x")); !isReadOnly(err) {
			t.Errorf("%s: append to a ledger that may have been there = %v", when, err)
		}
		if err := s.Ledger().Delete(ctx, "a"); !isReadOnly(err) {
			t.Errorf("%s: delete of a ledger in doubt = %v", when, err)
		}
		if _, err := s.KV().Put(ctx, "k", 0, nil); !isReadOnly(err) {
			t.Errorf("%s: put of a row in doubt = %v", when, err)
		}
		if _, err := s.Compact(ctx); !isReadOnly(err) {
			t.Errorf("%s: compact = %v", when, err)
		}
	}
	refused("at first")
	put(t, s, "c", "c three")
	s.Close()
	s = openDisk(t, d)
	refused("opened again")
	put(t, s, "c", "c four")
	if l, err := s.Leaser().Acquire(ctx, "a"); err != nil || l.Epoch() < 5 {
		t.Errorf("Acquire = %v, %v", l, err)
	}
	report, err := s.Verify(ctx, nil)
	if err != nil || len(report.Findings) == 0 {
		t.Fatalf("Verify = %+v, %v", report, err)
	}
	put(t, s, "a", "a four")
	put(t, s, "new", "x")
	if _, err := s.Compact(ctx); err != nil {
		t.Error(err)
	}
	s.Close()
	s = openDisk(t, d)
	if s.Report().Doubt {
		t.Error("doubt again after Verify")
	}
	wantContents(t, s, "a", "a one", "a two", "a three", "a four")
	put(t, s, "b", "b three")
}

// A lost end of a ledger does not bring the ledger back unseen: its header tells
// of it, or there is doubt.
func TestDamagedEnd(t *testing.T) {
	for _, headerToo := range []bool{false, true} {
		d := killed(t, func(s *filestore.Store) {
			put(t, s, "a", "a one", "a two")
			if err := s.Ledger().Delete(ctx, "a"); err != nil {
				t.Fatal(err)
			}
			put(t, s, "b", "b one", "b two")
		})
		file, at := find(t, d, "a two")
		at += frameHeader + (recordHeader+len("a two")+7)/8*8 // the frame of the end
		data := bytes.Clone(d.Bytes(file))
		data[at+36]++ // the checksum of the frame's header
		if headerToo {
			data[at+frameHeader+20]++
		}
		d.SetBytes(file, data)
		s := openDisk(t, d)
		report := s.Report()
		got, err := contents(s, "a")
		if len(report.Damage) != 1 || err != nil || report.Doubt != headerToo {
			t.Fatalf("both headers %v: Report = %+v, %v", headerToo, report, err)
		}
		tip, _ := s.Ledger().Tip(ctx, "a")
		_, err = s.Ledger().Append(ctx, "a", tip, []byte("x"))
		if headerToo && !isReadOnly(err) {
			t.Errorf("a ledger in doubt, which holds %q, was written: %v", got, err)
		}
		if !headerToo && (len(got) > 0 || err != nil) {
			t.Errorf("the deleted ledger holds %q, and an append is %v", got, err)
		}
	}
}

// A bit that flips anywhere in a store costs no more than the record that it is
// in, and never shows anything that was not written.
func TestEveryBitOfTheLog(t *testing.T) {
	d := vfstest.New()
	s := openDisk(t, d)
	put(t, s, "a", "a one", "a two")
	put(t, s, "b", "b one", "b two")
	put(t, s, "a", "a three")
	s.Close()
	names, err := d.List("/store/log")
	if err != nil {
		t.Fatal(err)
	}
	file := "/store/log/" + names[0]
	end := bytes.LastIndex(d.Bytes(file), []byte("a three")) + 16
	step := 1
	if testing.Short() {
		step = 11
	}
	want := map[string][]string{"a": {"a one", "a two", "a three"}, "b": {"b one", "b two"}}
	for _, index := range []bool{true, false} {
		lost := 0
		for bit := 8192 * 8; bit < end*8; bit += step {
			c := d.Clone()
			c.FlipBit(file, bit)
			if !index {
				c.Remove("/store/index")
			}
			s := openDisk(t, c)
			for name, recs := range want {
				got := map[uint64]string{}
				for from := uint64(1); from <= 3; {
					for rec, err := range s.Ledger().Read(ctx, name, from) {
						if err == nil {
							got[rec.Seq] = string(rec.Data)
						}
						from = max(from, rec.Seq)
					}
					from++
				}
				lost += len(recs) - len(got)
				if len(got) < len(recs)-1 {
					t.Fatalf("bit %d: ledger %s holds %v", bit, name, got)
				}
				for seq, rec := range got {
					if recs[seq-1] != rec {
						t.Fatalf("bit %d: record %d of %s is %q", bit, seq, name, rec)
					}
				}
			}
			s.Close()
		}
		if lost == 0 {
			t.Error("no bit cost a record: the test flips the wrong ones")
		}
	}
}

// The index is a help and no more.
func TestBadIndex(t *testing.T) {
	d := vfstest.New()
	s := openDisk(t, d)
	want := map[string][]string{}
	for i := range 300 {
		name := fmt.Sprint("l", i%7)
		put(t, s, name, fmt.Sprint(i))
		want[name] = append(want[name], fmt.Sprint(i))
	}
	if err := s.Ledger().Delete(ctx, "l6"); err != nil {
		t.Fatal(err)
	}
	delete(want, "l6")
	rev, err := s.KV().Put(ctx, "k", 0, []byte("v"))
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	good := d.Bytes("/store/index")
	other := openDisk(t, vfstest.New())
	other.Close()
	for what, change := range map[string]func(b []byte) []byte{
		"good":      func(b []byte) []byte { return b },
		"empty":     func(b []byte) []byte { return nil },
		"cut":       func(b []byte) []byte { return b[:len(b)/2] },
		"flipped":   func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
		"too long":  func(b []byte) []byte { return append(b, 0) },
		"of zeros":  func(b []byte) []byte { return make([]byte, len(b)) },
		"of others": func(b []byte) []byte { b[20]++; return b },
	} {
		c := d.Clone()
		c.SetBytes("/store/index", change(bytes.Clone(good)))
		s := openDisk(t, c)
		if replayed := s.Report().Replayed; (replayed == 0) != (what == "good") {
			t.Errorf("index %s: %d records replayed", what, replayed)
		}
		for name, recs := range want {
			wantContents(t, s, name, recs...)
		}
		wantContents(t, s, "l6")
		if _, got, err := s.KV().Get(ctx, "k"); got != rev || err != nil {
			t.Errorf("index %s: the row has revision %d, %v, want %d", what, got, err, rev)
		}
		if l, err := s.Leaser().Acquire(ctx, "x"); err != nil || l.Epoch() <= rev {
			t.Errorf("index %s: epoch of a new grant: %v, %v, want above %d", what, l, err, rev)
		}
		s.Close()
	}
}

// When the end of the log is gone, the index still knows the tips.
func TestLogShorterThanTheIndex(t *testing.T) {
	d := vfstest.New()
	s := openDisk(t, d)
	put(t, s, "a", "one")
	s.Close()
	before := d.Clone()
	s = openDisk(t, d)
	put(t, s, "a", "two", "three")
	s.Close()
	before.SetBytes("/store/index", d.Bytes("/store/index"))
	s = openDisk(t, before)
	if !s.Report().Doubt {
		t.Fatal("no doubt")
	}
	wantDamaged(t, s, "a", 2)
	report, err := s.Verify(ctx, nil)
	if err != nil || !slices.Contains(report.Findings, filestore.Finding{What: "ledger", Name: "a", First: 2, Last: 3, Text: "records are lost"}) {
		t.Fatalf("Verify = %+v, %v", report, err)
	}
	if tip := put(t, s, "a", "four"); tip.Seq != 4 {
		t.Errorf("the tip is %v: numbers of lost records were given out again", tip)
	}
}

// A ledger whose first record, with its name, is lost is there for whoever knows
// its name.
func TestLostName(t *testing.T) {
	d := killed(t, func(s *filestore.Store) {
		put(t, s, "first", "x", "y")
		put(t, s, "a", "token one", "two", "three")
	})
	file, at := find(t, d, "token one")
	data := bytes.Clone(d.Bytes(file))
	for i := range 8 {
		data[at+recordHeader-4+i]++ // the name makes the header one byte longer
	}
	d.SetBytes(file, data)
	s := openDisk(t, d)
	if r := s.Report(); r.Doubt || len(r.Damage) != 1 {
		t.Fatalf("Report = %+v", r)
	}
	report, err := s.Verify(ctx, nil)
	if err != nil || !slices.ContainsFunc(report.Findings, func(f filestore.Finding) bool { return f.What == "ledger" && f.Name == "" }) {
		t.Errorf("Verify = %+v, %v, want a ledger without a name", report, err)
	}
	wantDamaged(t, s, "a", 1)
	if tip := put(t, s, "a", "four"); tip.Seq != 4 {
		t.Errorf("Tip = %v", tip)
	}
	var names []string
	for name := range s.Ledger().Names(ctx, "") {
		names = append(names, name)
	}
	if !slices.Equal(names, []string{"a", "first"}) {
		t.Errorf("Names = %q", names)
	}
}

// A reader beside the writer may see less of the log than the index covers.
func TestReadOnlyBehindTheIndex(t *testing.T) {
	d := vfstest.New()
	s := openDisk(t, d)
	put(t, s, "a", "one", "two")
	put(t, s, "b", "uno")
	if err := s.SaveIndex(); err != nil {
		t.Fatal(err)
	}
	before := d.Changes()
	ro, err := filestore.OpenReadOnlyOn(d, "/store")
	if err != nil {
		t.Fatal(err)
	}
	defer ro.Close()
	for name, want := range map[string][]string{"a": {"one", "two"}, "b": {"uno"}} {
		got, err := contents(ro, name)
		if err != nil || len(got) > len(want) || !slices.Equal(got, want[:len(got)]) {
			t.Errorf("ledger %s reads as %q, %v", name, got, err)
		}
	}
	if r := ro.Report(); r.Doubt || len(r.Damage) > 0 {
		t.Errorf("Report = %+v", r)
	}
	if _, err := ro.Verify(ctx, nil); err != nil {
		t.Errorf("Verify: %v", err)
	}
	if d.Changes() != before {
		t.Error("a store that was opened for reading was written")
	}
}

// A lost record of a ledger that was deleted later does not bring it back.
func TestLostRecordOfADeletedLedger(t *testing.T) {
	d := killed(t, func(s *filestore.Store) {
		put(t, s, "a", "one", "second")
		if err := s.Ledger().Delete(ctx, "a"); err != nil {
			t.Fatal(err)
		}
		rev, err := s.KV().Put(ctx, "k", 0, []byte("row value"))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.KV().Delete(ctx, "k", rev); err != nil {
			t.Fatal(err)
		}
		put(t, s, "b", "b one", "b two")
	})
	rot(t, d, "second", frameHeader+recordHeader, 2)
	rot(t, d, "row value", frameHeader+recordHeader+1, 2) // the key makes the header longer by one
	s := openDisk(t, d)
	if r := s.Report(); r.Doubt || len(r.Damage) != 2 {
		t.Fatalf("Report = %+v", r)
	}
	wantContents(t, s, "a")
	var none *storage.NotFoundError
	if _, _, err := s.KV().Get(ctx, "k"); !errors.As(err, &none) {
		t.Errorf("a deleted row reads as %v", err)
	}
}

// A lost value reads as lost, and not as the one before.
func TestLostRow(t *testing.T) {
	d := killed(t, func(s *filestore.Store) {
		rev, err := s.KV().Put(ctx, "k", 0, []byte("old"))
		if err == nil {
			_, err = s.KV().Put(ctx, "k", rev, []byte("new value"))
		}
		if err != nil {
			t.Fatal(err)
		}
		put(t, s, "b", "b one", "b two")
	})
	rot(t, d, "new value", frameHeader+recordHeader+1, 2)
	s := openDisk(t, d)
	var damaged *storage.DamagedError
	v, rev, err := s.KV().Get(ctx, "k")
	if !errors.As(err, &damaged) || damaged.Name != "k" {
		t.Fatalf("Get = %q, %d, %v, want a *DamagedError", v, rev, err)
	}
	if err := s.KV().Delete(ctx, "k", 0); err != nil {
		t.Error(err)
	}
	if _, err := s.KV().Put(ctx, "k", 0, []byte("anew")); err != nil {
		t.Error(err)
	}
}

// An epoch whose record is lost is not given out again.
func TestLostGrant(t *testing.T) {
	d := vfstest.New()
	s := openDisk(t, d)
	put(t, s, "a", "one", "two")
	l, err := s.Leaser().Acquire(ctx, "leasename")
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	d.Remove("/store/index")
	rot(t, d, "leasename", 0, frameHeader+recordHeader+9)
	s = openDisk(t, d)
	if r := s.Report(); !r.Doubt || len(r.Damage) != 1 {
		t.Fatalf("Report = %+v", r)
	}
	if again, err := s.Leaser().Acquire(ctx, "leasename"); err != nil || again.Epoch() <= l.Epoch() {
		t.Errorf("epoch %d came after %d: %v", again.Epoch(), l.Epoch(), err)
	}
}

// The index may be ahead of what the log attests by what was written last: while that is
// whole nothing is wrong, and a byte of it that is changed is found.
func TestIndexAheadOfTheAttestedEnd(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir, filestore.Inline()) // it is never idle
	put(t, s, "a", "first-token", "second-token", "third-token")
	if err := s.SaveIndex(); err != nil {
		t.Fatal(err)
	}
	look := func(want int) {
		t.Helper()
		dead := t.TempDir() // as a kill leaves it
		if err := os.CopyFS(dead, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		r, err := filestore.OpenReadOnly(dead)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		report, err := r.Verify(ctx, nil)
		if err != nil || len(report.Findings) != want {
			t.Errorf("Verify = %+v, %v, want %d findings", report, err, want)
		}
		if tip, err := r.Ledger().Tip(ctx, "a"); err != nil || tip.Seq > 2 {
			t.Errorf("the reader shows %d records, %v: the index is not ahead", tip.Seq, err)
		}
	}
	look(0)
	names, err := filepath.Glob(filepath.Join(dir, "log", "*.seg"))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	b, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	b[bytes.Index(b, []byte("third-token"))] ^= 1
	if err := os.WriteFile(names[0], b, 0o600); err != nil {
		t.Fatal(err)
	}
	look(1)
}
