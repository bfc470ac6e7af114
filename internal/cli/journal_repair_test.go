package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	happened "github.com/comity-dev/comity/session/event"
)

// shard is the file of the index of a session.
func (s *shelf) shard(id happened.ID) string {
	s.t.Helper()
	spaces, err := filepath.Glob(filepath.Join(s.dir, "blobs", "*", "space"))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, name := range spaces {
		if b, err := os.ReadFile(name); err != nil || string(b) != "sessions/"+string(id)+"/index" {
			continue
		}
		if all, _ := filepath.Glob(filepath.Join(filepath.Dir(name), "????????*")); len(all) == 1 {
			return all[0]
		}
	}
	s.t.Fatal("there is no shard")
	return ""
}

// flipLast changes the last byte of a file.
func (s *shelf) flipLast(name string) {
	s.t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		s.t.Fatal(err)
	}
	b[len(b)-1] ^= 1
	if err := os.WriteFile(name, b, 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// A damaged index is named by verify, with the next step, and that mends it.
func TestJournalRepairsAnIndex(t *testing.T) {
	s := newShelf(t).session(sid(1)).session(sid(2)).shut()
	s.flipLast(s.shard(sid(1)))
	f := newFake(t)
	if r := f.run("journal", "verify", "--store", s.dir); r.code != 12 || !strings.Contains(r.out, "comity journal repair 00000001 --store") || !strings.Contains(r.out, "no record is lost") {
		t.Errorf("verify: %+v", r)
	}
	s.open() // somebody has the store
	if e := reply[failure](f, 10, "journal", "repair", "00000001", "--store", s.dir); e.Error.Code != "not_own" {
		t.Errorf("repair beside a writer: %+v", e)
	}
	s.shut()
	type renewed struct {
		Session, Store string
		Records        uint64
		Renewed        []string
	}
	if got := reply[renewed](f, 0, "journal", "repair", "00000001", "--store", s.dir); got.Session != string(sid(1)) || got.Records != 10 || len(got.Renewed) != 1 {
		t.Errorf("repair = %+v", got)
	}
	if r := f.run("journal", "verify", "--store", s.dir); r.code != 0 {
		t.Errorf("verify behind it: %+v", r)
	}
	if r := f.run("journal", "repair", "00000001", "--store", s.dir); r.code != 0 || !strings.Contains(r.out, "0 made anew") {
		t.Errorf("repair once more: %+v", r)
	}
	s.flipLast(s.shard(sid(2)))
	s.open()
	w, err := s.store.Open(t.Context(), sid(2), nil) // an owner who asks for an id comes upon it
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Append(t.Context(), noteOf("more")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	s.shut()
	if r := f.run("journal", "verify", "--store", s.dir); r.code != 0 {
		t.Errorf("verify behind an owner: %+v", r)
	}
	if e := reply[failure](f, 11, "journal", "repair", "7", "--store", s.dir); e.Error.Code != "unknown_session" {
		t.Errorf("repair of no session: %+v", e)
	}
}

// Bad records are not mended in place: the next step is a copy.
func TestJournalRepairInPlaceOfBadRecords(t *testing.T) {
	s := newShelf(t).session(sid(1)).shut()
	s.flip(`needle \u001b[31m`)
	f := newFake(t)
	if e := reply[failure](f, 12, "journal", "repair", "0", "--store", s.dir); e.Error.Code != "damaged" || !strings.Contains(e.Error.Hint, "--to DIR") {
		t.Errorf("repair: %+v", e)
	}
}

// What is refused leaves no folder behind; one that was there stays.
func TestJournalRepairThatIsRefusedLeavesNothing(t *testing.T) {
	s := newShelf(t).session(sid(1))
	s.appendRaw(sid(1), func(b []byte) { b[4] = 2 }) // of a newer build
	s.shut()
	f := newFake(t)
	dir := t.TempDir()
	for _, args := range [][]string{
		{"0", "--to", filepath.Join(dir, "a", "b")}, {"0", "--to", filepath.Join(dir, "a"), "--as", "nonsense"}, {"7", "--to", filepath.Join(dir, "a")},
	} {
		if r := f.run(append([]string{"journal", "repair", "--store", s.dir}, args...)...); r.code == 0 || !strings.Contains(r.errout, "hint") {
			t.Errorf("%v: %+v", args, r)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
	there := filepath.Join(dir, "there")
	other := newShelf(t)
	other.shut()
	if err := os.Rename(other.dir, there); err != nil {
		t.Fatal(err)
	}
	if r := f.run("journal", "repair", "0", "--store", s.dir, "--to", there); r.code != 1 {
		t.Errorf("into a store that is there: %+v", r)
	}
	if _, err := os.Stat(filepath.Join(there, "log")); err != nil {
		t.Errorf("the store that was there: %v", err)
	}
}
