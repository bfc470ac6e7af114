package process_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/comity-dev/comity/api"
)

// recorded is a stage with six sessions that hold a claim each, and what its log
// says.
func recorded(t *testing.T) (*stage, map[string]string) {
	s := newStage(t, 1)
	for i := range 6 {
		name := fmt.Sprintf("s%d", i)
		s.open(name)
		s.claim(name, fmt.Sprintf("file%d.go", i))
	}
	return s, s.events()
}

// goesOn checks that a stage takes new sessions and claims, that they are in the
// log, and that they last.
func (s *stage) goesOn(session string) {
	s.Helper()
	s.open(session)
	key := s.claim(session, "new-"+session+".go")
	if s.events()[key] != "claim_acquired" {
		s.Errorf("the new claim %s is not in the log", key)
	}
	if got := s.holders()["path:new-"+session+".go"]; got != session {
		s.Errorf("the new claim of %s is held by %q", session, got)
	}
}

// allIn checks that every event of want is in got.
func (s *stage) allIn(want, got map[string]string) {
	s.Helper()
	for e, kind := range want {
		if got[e] != kind {
			s.Errorf("event %s (%s) is in the log as %q", e, kind, got[e])
		}
	}
}

func TestFlippedByteCostsItsRecordAndNoOther(t *testing.T) {
	t.Run("in its body", func(t *testing.T) {
		t.Parallel()
		flippedByte(t, func(b []byte, at int) []byte { b[at] ^= 0x10; return b })
	})
	t.Run("in the header of its frame", func(t *testing.T) {
		t.Parallel()
		flippedByte(t, func(b []byte, at int) []byte {
			b[bytes.LastIndex(b[:at], []byte("\xa3\xf5gl"))+25] ^= 0x10 // of its length: where the next begins is not known
			return b
		})
	})
}

func flippedByte(t *testing.T, damage func(b []byte, at int) []byte) {
	s, want := recorded(t)
	lost := ""
	for _, c := range s.status().Claims {
		if c.Session == "s2" {
			lost = c.Claim
		}
	}
	s.halt()
	s.edit("path:file2.go", damage)

	// Without a daemon doctor reads the disk itself, and changes nothing there.
	for range 2 {
		rep, code := s.report("doctor")
		c := check(rep, "journal")
		if code != 12 || rep.OK || c.State != api.CheckFail || !strings.Contains(c.Detail, "1 damaged place") || !strings.Contains(c.Detail, ".seg at byte") {
			t.Errorf("doctor on disk: exit %d, %+v", code, c)
		}
		if c.Impact == "" || c.Remedy == "" {
			t.Errorf("doctor on disk leaves out what it means and what to do: %+v", c)
		}
	}

	delete(want, lost)
	got := s.events()
	s.allIn(want, got)
	if kind, ok := got[lost]; ok {
		t.Errorf("the damaged event %s is in the log as %s", lost, kind)
	}
	s.damageIsShown(lost)
	for i := range 6 {
		holder := s.holders()[fmt.Sprintf("path:file%d.go", i)]
		if want := fmt.Sprintf("s%d", i); i != 2 && holder != want {
			t.Errorf("file%d.go is held by %q, want %s", i, holder, want)
		}
	}
	s.goesOn("later")

	s.halt() // the damage is as it was after another start
	s.allIn(want, s.events())
	s.damageIsShown(lost)
	s.goesOn("latest")
}

// damageIsShown checks what status, doctor and verify say of one damaged place,
// in the stream that lost an event.
func (s *stage) damageIsShown(lost string) {
	s.Helper()
	stream, seq, _ := strings.Cut(lost, "/")
	st := s.status()
	if st.Damage != 1 {
		s.Errorf("status counts %d damaged places, want 1", st.Damage)
	}
	damaged := false
	for _, x := range st.Streams {
		damaged = damaged || x.Stream == stream && x.Damaged
	}
	if !damaged {
		s.Errorf("status does not show stream %s as damaged: %+v", stream, st.Streams)
	}
	if words := s.must("status"); !strings.Contains(words, "damaged:") || !strings.Contains(words, "incomplete:") {
		s.Errorf("status does not say so to a person:\n%s", words)
	}
	rep, code := s.report("doctor")
	if c := check(rep, "damage"); code != 12 || c.State != api.CheckFail || !strings.Contains(c.Detail, "1 damaged places") ||
		!strings.Contains(c.Detail, ".seg at byte") || !strings.Contains(c.Detail, fmt.Sprintf("lacks events %s to %s", seq, seq)) {
		s.Errorf("doctor: exit %d, %+v", code, c)
	}
	if rep, code := s.report("verify"); code != 12 || rep.OK || check(rep, "damage").State != api.CheckFail {
		s.Errorf("verify: exit %d, %+v", code, rep)
	}
}

// What a crash tears off the end was never acknowledged; here it was, since the
// test cuts what was synced, and so the cut has to be shown.
func TestTornTailIsCutAndShown(t *testing.T) {
	t.Parallel()
	s, want := recorded(t)
	last := s.claim("s0", "torn-off.go")
	s.kill()
	s.edit("path:torn-off.go", func(b []byte, at int) []byte { return b[:at] })
	rep, _ := s.report("doctor")
	if c := check(rep, "journal"); c.State != api.CheckOK || !strings.Contains(c.Detail, "a crash left") {
		t.Errorf("doctor on disk: %+v", c)
	}
	got := s.events()
	s.allIn(want, got)
	if _, there := got[last]; there {
		t.Errorf("the torn event %s is in the log", last)
	}
	rep, _ = s.report("doctor")
	if c := check(rep, "tail"); c.State == api.CheckOK || !strings.Contains(c.Detail, "a crash cut 1 unacknowledged batches") {
		t.Errorf("doctor: %+v", c)
	}
	if c := check(rep, "damage"); c.State != api.CheckOK {
		t.Errorf("a torn tail is called damage: %+v", c)
	}
	s.goesOn("later")
	if rep, code := s.report("verify"); code != 0 {
		t.Errorf("verify: exit %d, %+v", code, rep)
	}
}

func TestDamageAndTornTailTogether(t *testing.T) {
	t.Parallel()
	s, want := recorded(t)
	var lost []string
	for _, c := range s.status().Claims {
		if c.Session == "s1" || c.Session == "s5" {
			lost = append(lost, c.Claim)
		}
	}
	s.kill()
	s.edit("path:file1.go", func(b []byte, at int) []byte { b[at] ^= 1; return b })
	s.edit("path:file5.go", func(b []byte, at int) []byte { return b[:at+3] })
	rep, code := s.report("doctor")
	if c := check(rep, "journal"); code != 12 || !strings.Contains(c.Detail, "1 damaged place") {
		t.Errorf("doctor on disk: exit %d, %+v", code, c)
	}
	for _, e := range lost {
		delete(want, e)
	}
	got := s.events()
	s.allIn(want, got)
	for _, e := range lost {
		if _, there := got[e]; there {
			t.Errorf("lost event %s is in the log", e)
		}
	}
	rep, code = s.report("doctor")
	if damage, tail := check(rep, "damage"), check(rep, "tail"); code != 12 || damage.State != api.CheckFail || tail.State == api.CheckOK {
		t.Errorf("doctor: exit %d, %+v, %+v", code, damage, tail)
	}
	s.goesOn("later")
	s.halt()
	s.allIn(want, s.events())
	s.goesOn("latest")
}
