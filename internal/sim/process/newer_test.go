package process_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/internal/seglog"
	"github.com/comity-dev/comity/internal/vfs"
)

// A log whose segments have a newer format is not touched: every command says
// that this program has to be upgraded.
func TestNewerSegmentFormatIsLeftAlone(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	s.open("s0")
	s.claim("s0", "a.go")
	s.halt()
	segment := s.segments()[0]
	s.setVersion(segment, 2)
	before := read(t, segment)

	e := s.refused(1, api.CodeNewerFormat, "claim", "--session", "s0", "b.go")
	s.mentions(e, "newer", "upgrade")
	s.refused(1, api.CodeNewerFormat, "status")
	if rep, code := s.report("doctor"); code != 12 || rep.OK {
		t.Errorf("doctor: exit %d, %+v", code, rep)
	}
	s.halt()
	if rep, code := s.report("doctor"); code != 12 || check(rep, "journal").State != api.CheckFail {
		t.Errorf("doctor on disk: exit %d, %+v", code, rep)
	}
	if !bytes.Equal(before, read(t, segment)) {
		t.Error("the newer segment was changed")
	}

	s.setVersion(segment, 1)
	if got := s.holders()["path:a.go"]; got != "s0" {
		t.Errorf("a.go is held by %q, want s0", got)
	}
	s.goesOn("later")
}

// setVersion writes a format version into both headers of a segment.
func (s *stage) setVersion(segment string, version uint32) {
	s.Helper()
	b := read(s.TB, segment)
	for _, off := range []int{0, 4096} {
		h := b[off : off+80]
		binary.LittleEndian.PutUint32(h[8:], version)
		var at [8]byte
		binary.LittleEndian.PutUint64(at[:], uint64(off))
		table := crc32.MakeTable(crc32.Castagnoli)
		binary.LittleEndian.PutUint32(h[76:], crc32.Update(crc32.Checksum(at[:], table), table, h[:76]))
	}
	s.write(segment, b, 0o600)
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A journal into which a newer release has written is read and not written.
func TestNewerRecordMakesTheJournalReadOnly(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	s.open("s0")
	s.claim("s0", "a.go")
	want := s.events()
	s.halt()
	log, _, err := seglog.Open(vfs.OS(), filepath.Dir(s.segments()[0]), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := log.Append(t.Context(), append([]byte{1, 2}, make([]byte, 64)...)); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}

	for _, args := range [][]string{
		{"claim", "--session", "s0", "b.go"},
		{"release", "--session", "s0", "--all"},
		{"session", "open", "--session", "s1"},
	} {
		e := s.refused(1, api.CodeNewerFormat, args...)
		s.mentions(e, "newer", "upgrade")
	}
	st := s.status()
	if st.ReadOnly == "" || len(st.Claims) != 1 {
		t.Errorf("status: read-only %q, claims %+v", st.ReadOnly, st.Claims)
	}
	if got := s.events(); len(got) != len(want) {
		t.Errorf("the log has %d events, want %d", len(got), len(want))
	} else {
		s.allIn(want, got)
	}
	if rep, code := s.report("doctor"); code != 12 || check(rep, "journal").State != api.CheckFail || check(rep, "journal").Remedy == "" {
		t.Errorf("doctor: exit %d, %+v", code, rep)
	}
}
