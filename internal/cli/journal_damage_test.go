package cli_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	happened "github.com/comity-dev/comity/session/event"
	records "github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/storage"
)

type journalCheck struct {
	OK       bool
	Sessions []struct {
		OK           bool
		Session      string
		Tip, Records uint64
		Problems     []struct {
			Ledger string
			Seq    uint64
			Error  string
		}
	}
	Files []struct{ What, Text string }
}

// Damage is named by ledger and sequence, keeps nothing from being read before it,
// and what can be read is copied.
func TestJournalWithDamage(t *testing.T) {
	s := newShelf(t).session(sid(1)).shut()
	s.flip(`needle \u001b[31m`) // the title in record 2
	f := newFake(t)
	check := reply[journalCheck](f, 12, "journal", "verify", "--store", s.dir)
	if check.OK || len(check.Sessions) != 1 || len(check.Sessions[0].Problems) != 1 || len(check.Files) == 0 {
		t.Fatalf("verify = %+v", check)
	}
	if p := check.Sessions[0].Problems[0]; p.Seq != 2 || p.Ledger != "sessions/"+string(sid(1)) || p.Error == "" {
		t.Errorf("the problem is %+v", p)
	}
	if r := f.run("journal", "verify", "0", "--store", s.dir); r.code != 12 || !strings.Contains(r.out, "record 2 of sessions/"+string(sid(1))) ||
		!strings.Contains(r.out, "comity journal repair 00000001 --store") || r.errout != "" {
		t.Errorf("verify: %+v", r)
	}
	r := f.run("journal", "show", "0", "--store", s.dir)
	if r.code != 12 || !strings.HasPrefix(r.out, "1 ") || strings.Count(r.out, "\n") != 1 || !strings.Contains(r.errout, "comity journal verify") {
		t.Errorf("show: %+v", r)
	}
	if r := f.run("journal", "show", "0", "--from", "3", "--store", s.dir); r.code != 0 || strings.Count(r.out, "\n") != 8 {
		t.Errorf("show behind it: %+v", r)
	}
	dir := t.TempDir()
	for _, command := range []string{"export", "transcript"} {
		file := filepath.Join(dir, command)
		if e := reply[failure](f, 12, "journal", command, "0", "-o", file, "--store", s.dir); e.Error.Code != "damaged" || e.Error.Hint == "" {
			t.Errorf("%s: %+v", command, e)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("a file that is not whole is left: %v", left)
	}

	before := digest(t, s.dir)
	copied := filepath.Join(dir, "copy")
	rep := reply[struct {
		From, To, Store string
		Records         uint64
		Dropped         []struct{ Seq uint64 }
	}](f, 0, "journal", "repair", "0", "--store", s.dir, "--to", copied, "--as", string(sid(77)))
	if rep.To != string(sid(77)) || rep.Records != 9 || len(rep.Dropped) != 1 || rep.Dropped[0].Seq != 2 || rep.Store != copied {
		t.Errorf("repair = %+v", rep)
	}
	if got := digest(t, s.dir); got != before {
		t.Error("repair has changed the damaged store")
	}
	if r := f.run("journal", "verify", "--store", copied); r.code != 0 || !strings.Contains(r.out, "9 good") {
		t.Errorf("verify of the copy: %+v", r)
	}
	if r := f.run("journal", "list", "--store", copied); !strings.Contains(r.out, "last record 9") || strings.Contains(r.out, "as of") {
		t.Errorf("list of the copy: %+v", r)
	}
	if r := f.run("journal", "repair", "0", "--store", s.dir, "--to", copied); r.code != 0 || !strings.Contains(r.out, "1 dropped") {
		t.Errorf("repair in words: %+v", r)
	}
	if e := reply[failure](f, 10, "journal", "repair", "0", "--store", s.dir, "--to", copied); e.Error.Code != "exists" || !strings.Contains(e.Error.Hint, "--as") {
		t.Errorf("repair over a session: %+v", e)
	}
}

// digest is all files of a folder.
func digest(t *testing.T, dir string) string {
	t.Helper()
	all := ""
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			b, err := os.ReadFile(path)
			all += fmt.Sprint(path, storage.DigestOf(b), "\n")
			return err
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// What a newer build wrote is left as it is, and said to be that.
func TestJournalOfANewerBuild(t *testing.T) {
	for name, change := range map[string]func(f []byte){
		"frame":  func(b []byte) { b[4] = 2 },
		"schema": func(b []byte) { b[12] = 9 },
		"family": func(b []byte) { b[5] = 99 },
	} {
		t.Run(name, func(t *testing.T) {
			s := newShelf(t).session(sid(1))
			s.appendRaw(sid(1), change)
			s.shut()
			f := newFake(t)
			to := filepath.Join(t.TempDir(), "x")
			for _, args := range [][]string{{"show", "0"}, {"transcript", "0", "-o", to}, {"export", "0", "-o", to}, {"repair", "0", "--to", to + "-copy"}, {"follow", "0", "--from", "9"}} {
				if args[0] == "follow" { // it shows what it can first
					if r := f.run(append([]string{"journal", "--store", s.dir}, args...)...); r.code != 1 || !strings.Contains(r.errout, "newer comity") {
						t.Errorf("%v: %+v", args, r)
					}
					continue
				}
				if e := reply[failure](f, 1, append([]string{"journal", "--store", s.dir}, args...)...); e.Error.Code != "newer_format" || e.Error.Hint == "" {
					t.Errorf("%v: %+v", args, e)
				}
			}
			check := reply[journalCheck](f, 12, "journal", "verify", "0", "--store", s.dir)
			if p := check.Sessions[0].Problems; len(p) != 1 || p[0].Seq != 11 {
				t.Errorf("verify: %+v", check)
			}
			if _, err := os.Stat(to); err == nil {
				t.Error("a file is left")
			}
		})
	}
}

// appendRaw appends a copy of the last frame, changed, with its checksum right.
func (s *shelf) appendRaw(id happened.ID, change func([]byte)) {
	s.t.Helper()
	name := "sessions/" + string(id)
	tip, err := s.file.Ledger().Tip(s.t.Context(), name)
	if err != nil {
		s.t.Fatal(err)
	}
	var raw []byte
	for rec, err := range s.file.Ledger().Read(s.t.Context(), name, tip.Seq) {
		if err != nil {
			s.t.Fatal(err)
		}
		raw = append([]byte{}, rec.Data...)
	}
	change(raw)
	table := crc32.MakeTable(crc32.Castagnoli)
	binary.LittleEndian.PutUint32(raw[8:], crc32.Update(crc32.Checksum(raw[:8], table), table, raw[12:]))
	if f, err := records.ParseFrame(raw); err != nil && !errors.As(err, new(*records.NewerFrameError)) && !errors.As(err, new(*records.UnknownFamilyError)) {
		s.t.Fatalf("the frame is only damaged: %v, %v", f, err)
	}
	if _, err := s.file.Ledger().Append(s.t.Context(), name, tip, raw); err != nil {
		s.t.Fatal(err)
	}
}

func TestJournalCarriesASession(t *testing.T) {
	s := newShelf(t).session(sid(1)).shut()
	f := newFake(t)
	dir := t.TempDir()
	file, store2 := filepath.Join(dir, "file"), filepath.Join(dir, "new", "store")
	out := reply[struct {
		Session, File, Store string
		Records              uint64
		Bytes                int64
	}](f, 0, "journal", "export", "0", "-o", file, "--store", s.dir)
	info, err := os.Stat(file)
	if err != nil || out.Session != string(sid(1)) || out.Records != 10 || out.Bytes != info.Size() || out.File != file {
		t.Errorf("export = %+v, %v", out, err)
	}
	if plain := f.runPlain("journal", "export", "0", "-o", "-", "--store", s.dir); int64(len(plain)) != info.Size() {
		t.Errorf("to standard output: %d bytes, want %d", len(plain), info.Size())
	}
	if r := f.run("journal", "import", file, "--store", store2); r.code != 0 || !strings.Contains(r.out, "imported  10 records") {
		t.Errorf("import: %+v", r)
	}
	if r := f.run("journal", "list", "--store", store2); !strings.Contains(r.out, "1 turn  1 step  7 events  last record 10\n") {
		t.Errorf("list: %+v", r)
	}
	if e := reply[failure](f, 10, "journal", "import", file, "--store", store2); e.Error.Code != "exists" || !strings.Contains(e.Error.Hint, "--as ID") {
		t.Errorf("import once more: %+v", e)
	}
	if r := f.run("journal", "import", file, "--store", store2, "--as", string(sid(9))); r.code != 0 || !strings.Contains(r.out, string(sid(9))[:8]) {
		t.Errorf("import as another: %+v", r)
	}
	if r := f.run("journal", "list", "--store", store2); strings.Count(r.out, "1 turn  1 step  7 events  last record 10\n") != 2 {
		t.Errorf("list of both: %+v", r)
	}
	if r := f.run("journal", "show", string(sid(9)), "--store", store2); r.code != 0 || strings.Count(r.out, "\n") != 10 {
		t.Errorf("show another: %+v", r)
	}
	if r := f.run("journal", "import", file); r.code != 0 { // where the daemon's are
		t.Errorf("import into the default: %+v", r)
	}
	if r := f.run("journal", "list"); r.code != 0 || !strings.Contains(r.out, "sessions 1") {
		t.Errorf("list of the default: %+v", r)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if e := reply[failure](f, 12, "journal", "import", file, "--store", filepath.Join(dir, "third", "store")); e.Error.Code != "damaged" || e.Error.Hint == "" {
		t.Errorf("import of a damaged file: %+v", e)
	}
	if _, err := os.Stat(filepath.Join(dir, "third")); err == nil {
		t.Error("an import that was refused has left a folder")
	}

	for format, want := range map[string]string{"md": "needle", "json": `"needle`, "html": "<!doctype html>"} {
		to := filepath.Join(dir, "t."+format)
		sum := reply[struct{ Records, Turns, Calls, Warnings uint64 }](f, 0, "journal", "transcript", "0", "--format", format, "-o", to, "--store", s.dir)
		text, err := os.ReadFile(to)
		if err != nil || sum.Records != 10 || sum.Turns != 1 || sum.Calls != 1 || !strings.Contains(strings.ToLower(string(text)), want) || strings.Contains(string(text), "private input") {
			t.Errorf("%s: %+v, %v\n%.300s", format, sum, err, text)
		}
	}
	if plain := f.runPlain("journal", "transcript", "0", "-o", "-", "--store", s.dir); !strings.Contains(plain, "needle") || strings.ContainsAny(plain, "\x1b\x07\u202e") {
		t.Errorf("to standard output: %q", plain)
	}
}

// One process holds a folder; looking is for everybody.
func TestJournalHeld(t *testing.T) {
	s := newShelf(t).session(sid(1)).shut()
	s.open()
	f := newFake(t)
	file := filepath.Join(t.TempDir(), "file")
	for _, args := range [][]string{{"list"}, {"show", "0"}, {"verify"}, {"export", "0", "-o", file}} {
		if r := f.run(append([]string{"journal", "--store", s.dir}, args...)...); r.code != 0 {
			t.Errorf("%v: %+v", args, r)
		}
	}
	for _, args := range [][]string{{"import", file}, {"delete", "0", "--yes"}} {
		if e := reply[failure](f, 10, append([]string{"journal", "--store", s.dir}, args...)...); e.Error.Code != "not_own" || e.Error.Hint == "" {
			t.Errorf("%v: %+v", args, e)
		}
	}
	s.shut()
	if e := reply[failure](f, 2, "journal", "delete", "0", "--store", s.dir); !strings.Contains(e.Error.Hint, "--yes") {
		t.Errorf("delete without --yes: %+v", e)
	}
	del := reply[struct {
		Session string
		Records uint64
	}](f, 0, "journal", "delete", "0", "--yes", "--store", s.dir)
	if del.Session != string(sid(1)) || del.Records != 10 {
		t.Errorf("delete = %+v", del)
	}
	if e := reply[failure](f, 11, "journal", "delete", "0", "--yes", "--store", s.dir); e.Error.Code != "unknown_session" {
		t.Errorf("delete once more: %+v", e)
	}
}
