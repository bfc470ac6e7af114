package seglog_test

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/comity-dev/comity/internal/seglog"
	"github.com/comity-dev/comity/internal/vfs/vfstest"
)

// tornScript ends with a batch that nothing attests.
var tornScript = script{appendStep("alpha", "beta"), appendStep(big), appendStep("gamma"), appendStep("delta", "epsilon", "zeta zeta")}

// The last batch is torn at each of its bytes, with four kinds of rubbish behind.
// Nobody was told that it is durable (as far as the disk knows), so it is there
// whole or not at all, without a word of damage; all before it is there.
func TestTornTailAtEveryByte(t *testing.T) {
	d := vfstest.New()
	m, err := tornScript.run(d, false)
	if err != nil {
		t.Fatal(err)
	}
	d = d.Kill()
	m.acked-- // the torn batch
	name, whole := lastSegment(t, d)
	body := bytes.TrimRight(whole, "\x00")
	begin := bytes.LastIndex(body[:bytes.Index(body, []byte("delta"))], []byte{0xa3, 0xf5, 0x67, 0x6c})
	end := (len(body) + 7) &^ 7
	old := oldFrames(t)
	for at := begin; at <= end; at++ {
		for kind, tail := range map[string][]byte{
			"cut":        nil,
			"zeros":      make([]byte, len(whole)-at),
			"garbage":    bytes.Repeat([]byte{0x5a, 0xa3, 0xf5, 0x67, 0x6c, 0xff}, 200)[:len(whole)-at],
			"old frames": at8(old, at)[:len(whole)-at],
		} {
			c := d.Clone()
			c.SetBytes(name, append(bytes.Clone(whole[:at]), tail...))
			left := c.Clone()
			report, err := verify(c, m)
			if err != nil {
				fatal(t, left, "torn at %d, then %s: %v", at, kind, err)
			}
			if torn := at < begin+len("delta")+3*40; torn && report.Records != 4 {
				fatal(t, left, "torn at %d, then %s: %d records, want the 4 before", at, kind, report.Records)
			}
			if at > begin+8 && at < end-16 && report.Tail.DroppedBatches != 1 {
				fatal(t, left, "torn at %d, then %s: report = %+v, want a dropped batch", at, kind, report)
			}
		}
	}
}

// at8 returns b shifted so that its frames keep their alignment behind offset at.
func at8(b []byte, at int) []byte { return append(make([]byte, (8-at%8)%8), b...) }

func lastSegment(t *testing.T, d *vfstest.Disk) (string, []byte) {
	t.Helper()
	names := segments(t, d)
	name := names[len(names)-1]
	return name, d.Bytes(name)
}

func segments(t *testing.T, d *vfstest.Disk) []string {
	t.Helper()
	all, err := d.List(logDir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, n := range all {
		if strings.HasSuffix(n, ".seg") {
			names = append(names, filepath.Join(logDir, n))
		}
	}
	return names
}

// oldFrames returns valid frames of another segment, as a recycled one would
// hold.
func oldFrames(t *testing.T) []byte {
	d := vfstest.New()
	if _, err := (script{appendStep("old", "older", "oldest"), appendStep("x", "y", "z")}).run(d, false); err != nil {
		t.Fatal(err)
	}
	_, b := lastSegment(t, d.Kill())
	return append(b[8192:], make([]byte, 4096)...)
}

// threeSegments is a log of three segments, all of it attested.
func threeSegments(t *testing.T, closing bool) (*vfstest.Disk, *model) {
	t.Helper()
	d := vfstest.New()
	s := script{appendStep("alpha"), appendStep(big), appendStep("beta", "gamma"), appendStep(big), appendStep("delta"), appendStep("epsilon")}
	m, err := s.run(d, closing)
	if err != nil {
		t.Fatal(err)
	}
	d = d.Kill()
	if n := len(segments(t, d)); n != 3 {
		t.Fatalf("%d segments, want 3", n)
	}
	return d, m
}

// examine opens a damaged log and returns how many acknowledged records are
// lost, and what is told about it. What is there is what was submitted.
func examine(d *vfstest.Disk, m *model) (lost []uint64, told []seglog.Damage, report *seglog.Report, err error) {
	l, report, err := seglog.Open(d, logDir, &small)
	if err != nil {
		return nil, nil, nil, err
	}
	defer l.Close()
	got := map[uint64]string{}
	for r, err := range l.From(1) {
		if err != nil {
			return nil, nil, nil, err
		}
		got[r.Index] = string(r.Data)
	}
	index := uint64(0)
	for _, batch := range m.batches {
		for _, want := range batch {
			index++
			data, ok := got[index]
			if ok && data != want {
				return nil, nil, nil, fmt.Errorf("record %d = %q, want %q", index, data, want)
			}
			if !ok {
				lost = append(lost, index)
				if _, err := l.Read(index); !errors.Is(err, seglog.ErrDamaged) && !errors.Is(err, seglog.ErrNotFound) {
					return nil, nil, nil, fmt.Errorf("Read(%d) of a lost record = %v", index, err)
				}
			}
			delete(got, index)
		}
	}
	if len(got) > 0 {
		return nil, nil, nil, fmt.Errorf("records never submitted: %v", got)
	}
	first, err := l.Append(t0, []byte("afterwards"))
	if err != nil {
		return nil, nil, nil, err
	}
	if first <= index && !(len(lost) > 0 && first == lost[0] && report.Tail.DroppedBatches > 0) {
		return nil, nil, nil, fmt.Errorf("index %d is used again", first)
	}
	return lost, l.Damage(), report, nil
}

// Any bit of a log flips. At most the record that it belongs to is lost, its
// index is told and not used again, and reopening changes nothing of that.
func TestEveryBitFlipped(t *testing.T) {
	for _, closing := range []bool{true, false} {
		d, m := threeSegments(t, closing)
		flips, losses := 0, 0
		for _, name := range segments(t, d) {
			b := d.Bytes(name)
			for bit := 0; bit < 8*len(b); bit++ {
				if at := bit / 8; b[at] == 0 && !long && bit%64 != 0 && (at+64 > len(b) || isZero(b[at&^63:at&^63+64])) {
					continue // one bit in eight bytes of long zeros is enough
				}
				flips++
				c := d.Clone()
				c.FlipBit(name, bit)
				left := c.Clone()
				lost, told, report, err := examine(c, m)
				where := fmt.Sprintf("bit %d of byte %d of %s", bit%8, bit/8, name)
				if err != nil {
					fatal(t, left, "%s: %v", where, err)
				}
				if len(lost) > 0 {
					losses++
				}
				last := uint64(len(flat(m)))
				switch {
				case len(lost) > 1:
					fatal(t, left, "%s: lost %d", where, lost)
				case len(lost) == 1 && !covers(told, lost[0]) && !(!closing && lost[0] == last && report.Tail.DroppedBatches == 1):
					fatal(t, left, "%s: lost %d, told %+v", where, lost, told)
				case len(lost) == 0 && slices.ContainsFunc(told, func(d seglog.Damage) bool { return d.FirstIndex != 0 }):
					fatal(t, left, "%s: lost nothing, told %+v", where, told)
				}
				if flips%8 != 0 && !long {
					continue
				}
				for range 2 { // the reopened log says the same
					again, told, report, err := examineOnly(left, m)
					torn := report.Tail.DroppedBatches == 1 || !closing && len(lost) == 1 && lost[0] == last
					if err != nil || !slices.Equal(again, lost) || len(lost) == 1 && !covers(told, lost[0]) && !torn {
						fatal(t, left, "%s: first lost %d, then %d, told %+v, %v", where, lost, again, told, err)
					}
				}
			}
		}
		if losses == 0 || losses == flips {
			t.Errorf("%d of %d flips lost a record", losses, flips)
		}
		t.Logf("close %v: %d flips, %d lost a record", closing, flips, losses)
	}
}

func isZero(b []byte) bool { return len(bytes.Trim(b, "\x00")) == 0 }

func flat(m *model) []string { return slices.Concat(m.batches...) }

func covers(told []seglog.Damage, index uint64) bool {
	return slices.ContainsFunc(told, func(d seglog.Damage) bool { return d.FirstIndex <= index && index <= d.LastIndex })
}

// Damage to an attested record is kept aside before anything else is done, and
// is reported at each opening from then on.
func TestDamageIsKeptAsideAndReportedAgain(t *testing.T) {
	d, m := threeSegments(t, false)
	name, b := lastSegment(t, d)
	at := bytes.Index(b, []byte("delta"))
	d.FlipBit(name, 8*at)
	want := d.Bytes(name)[at-40 : at+8]
	for range 3 {
		lost, told, report, err := examineOnly(d, m)
		if err != nil || !slices.Equal(lost, []uint64{6}) {
			t.Fatalf("lost %d, %v, want record 6 alone", lost, err)
		}
		if !covers(told, 6) || !covers(report.Damage, 6) || covers(told, 5) || covers(told, 7) {
			t.Errorf("told %+v, report %+v, want record 6", told, report.Damage)
		}
	}
	aside, err := d.List(logDir + "/damage")
	if err != nil || len(aside) != 1 || !bytes.Equal(d.Bytes(logDir+"/damage/"+aside[0]), want) {
		t.Errorf("kept aside: %v, %v", aside, err)
	}
}

func examineOnly(d *vfstest.Disk, m *model) (lost []uint64, told []seglog.Damage, report *seglog.Report, err error) {
	l, report, err := seglog.Open(d, logDir, &small)
	if err != nil {
		return nil, nil, nil, err
	}
	defer l.Close()
	got := map[uint64]bool{}
	for r, err := range l.From(1) {
		if err != nil {
			return nil, nil, nil, err
		}
		got[r.Index] = true
	}
	for i := range flat(m) {
		if !got[uint64(i+1)] {
			lost = append(lost, uint64(i+1))
		}
	}
	return lost, l.Damage(), report, nil
}

// Blocks in the wrong place, segments that are missing, of another log, or
// without headers cost what is in them and nothing else.
func TestMisplacedAndMissing(t *testing.T) {
	other := vfstest.New()
	s := script{appendStep("other"), appendStep(big), appendStep("x", "y"), appendStep(big), appendStep("z"), appendStep("z")}
	if _, err := s.run(other, true); err != nil {
		t.Fatal(err)
	}
	for _, closing := range []bool{true, false} {
		d, m := threeSegments(t, closing)
		names := segments(t, d)
		for _, tt := range []struct {
			name string
			do   func(d *vfstest.Disk)
			lost []uint64
		}{
			{"the middle one is missing", func(d *vfstest.Disk) { d.Remove(names[1]) }, []uint64{3, 4, 5}},
			{"the first one is missing", func(d *vfstest.Disk) { d.Remove(names[0]) }, []uint64{1, 2}},
			{"the middle one is of another log", func(d *vfstest.Disk) { d.SetBytes(names[1], other.Bytes(segments(t, other)[1])) }, []uint64{3, 4, 5}},
			{"the middle one is a copy of the first", func(d *vfstest.Disk) { d.SetBytes(names[1], d.Bytes(names[0])) }, []uint64{3, 4, 5}},
			{"the last one has no header", func(d *vfstest.Disk) { d.SetBytes(names[2], make([]byte, 9000)) }, []uint64{6, 7}},
			{"the headers have changed places", func(d *vfstest.Disk) { d.SwapBlocks(names[0], 0, names[0], 1, 4096) }, []uint64{1, 2}},
			{"the data of two segments have changed places", func(d *vfstest.Disk) { d.SwapBlocks(names[0], 16, names[1], 16, 512) }, []uint64{1, 2, 3, 4, 5}},
		} {
			c := d.Clone()
			tt.do(c)
			left := c.Clone()
			lost, told, _, err := examine(c, m)
			if err != nil {
				fatal(t, left, "%s: %v", tt.name, err)
			}
			for _, i := range lost {
				if !slices.Contains(tt.lost, i) {
					fatal(t, left, "%s: lost %d, want at most %d", tt.name, lost, tt.lost)
				}
				if !covers(told, i) {
					fatal(t, left, "%s: record %d is lost, told %+v", tt.name, i, told)
				}
			}
			if len(lost) == 0 {
				t.Errorf("%s: nothing lost, so nothing tested", tt.name)
			}
		}
	}
}

func TestNewerFormatIsLeftAlone(t *testing.T) {
	d, _ := threeSegments(t, true)
	for i, name := range segments(t, d) {
		c := d.Clone()
		if i < 2 { // without the mark of the clean close all headers are read
			last, b := lastSegment(t, d)
			c.SetBytes(last, b[:len(b)-8])
		}
		c.SetBytes(name, seglog.WithVersion(c.Bytes(name), 2))
		before := c.Bytes(name)
		if _, _, err := seglog.Open(c, logDir, &small); !errors.Is(err, seglog.ErrNewerFormat) {
			t.Errorf("%s: Open = %v, want ErrNewerFormat", name, err)
		}
		if !bytes.Equal(before, c.Bytes(name)) || len(segments(t, c)) != 3 {
			t.Error("files changed")
		}
	}
}
