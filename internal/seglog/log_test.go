package seglog_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/comity-dev/comity/internal/seglog"
	"github.com/comity-dev/comity/internal/vfs"
)

// mustOpen opens a log on the real file system.
func mustOpen(t testing.TB, dir string, o *seglog.Options) (*seglog.Log, *seglog.Report) {
	t.Helper()
	l, r, err := seglog.Open(vfs.OS(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return l, r
}

func mustAppend(t testing.TB, l *seglog.Log, recs ...string) uint64 {
	t.Helper()
	var raw [][]byte
	for _, r := range recs {
		raw = append(raw, []byte(r))
	}
	first, err := l.Append(t.Context(), raw...)
	if err != nil {
		t.Fatal(err)
	}
	return first
}

// contents reads everything, as index:data.
func contents(t testing.TB, from iter.Seq2[seglog.Record, error]) []string {
	t.Helper()
	var got []string
	for r, err := range from {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%d:%s", r.Index, r.Data))
	}
	return got
}

func TestAppendReadAndReopen(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	l, report := mustOpen(t, dir, nil)
	if !report.Created || !report.Clean || l.End() != 0 || l.First() != 1 {
		t.Fatalf("new log: %+v, first %d, end %d", report, l.First(), l.End())
	}
	inc := l.Incarnation()
	if got := mustAppend(t, l, "one"); got != 1 {
		t.Errorf("first index = %d, want 1", got)
	}
	if got := mustAppend(t, l, "two", "", "four"); got != 2 {
		t.Errorf("index of the batch = %d, want 2", got)
	}
	for range 2 {
		for i, want := range []string{"one", "two", "", "four"} {
			if r, err := l.Read(uint64(i + 1)); err != nil || string(r.Data) != want || r.Index != uint64(i+1) {
				t.Errorf("Read(%d) = %q, %v, want %q", i+1, r.Data, err, want)
			}
		}
		for _, index := range []uint64{0, 5} {
			if _, err := l.Read(index); !errors.Is(err, seglog.ErrNotFound) {
				t.Errorf("Read(%d) = %v, want ErrNotFound", index, err)
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		l, report = mustOpen(t, dir, nil)
		if !report.Clean || report.Created || report.Records != 4 || report.EndIndex != 4 || len(report.Damage) > 0 {
			t.Errorf("report = %+v", report)
		}
	}
	if got := contents(t, l.From(3)); len(got) != 2 || got[1] != "4:four" {
		t.Errorf("From(3) = %q", got)
	}
	if l.Incarnation() != inc {
		t.Error("the incarnation changed")
	}
	if got := mustAppend(t, l, "five"); got != 5 {
		t.Errorf("index after reopening = %d, want 5", got)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(t.Context(), []byte("x")); !errors.Is(err, seglog.ErrClosed) {
		t.Errorf("Append after Close = %v, want ErrClosed", err)
	}
}

func TestManySegments(t *testing.T) {
	for _, inline := range []bool{false, true} {
		dir := t.TempDir()
		o := &seglog.Options{FirstSegmentBytes: 16 << 10, MaxSegmentBytes: 64 << 10, Inline: inline}
		l, _ := mustOpen(t, dir, o)
		want := func(i uint64) []byte { return bytes.Repeat([]byte{byte(i)}, int(i*37%3000)) }
		var wg sync.WaitGroup
		var mu sync.Mutex
		at := map[uint64]uint64{}
		for w := range uint64(8) {
			wg.Go(func() {
				for i := range uint64(100) {
					id := w*1000 + i
					first, err := l.Append(context.Background(), want(id))
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					at[first] = id
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		for range 2 {
			n := uint64(0)
			for r, err := range l.From(1) {
				if n++; err != nil || r.Index != n || !bytes.Equal(r.Data, want(at[n])) {
					t.Fatalf("record %d: %v, %d, %d bytes", n, err, r.Index, len(r.Data))
				}
				if got, err := l.Read(n); err != nil || !bytes.Equal(got.Data, r.Data) {
					t.Fatalf("Read(%d): %v", n, err)
				}
			}
			if n != 800 || l.End() != 800 {
				t.Fatalf("%d records, end %d, want 800", n, l.End())
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			var r *seglog.Report
			if l, r = mustOpen(t, dir, o); !r.Clean || r.Segments < 5 || r.Records != 800 {
				t.Fatalf("report = %+v", r)
			}
		}
		var dump strings.Builder
		if err := seglog.Dump(vfs.OS(), dir, &dump); err != nil || !strings.Contains(dump.String(), "record 800") || strings.Contains(dump.String(), "BAD") {
			t.Errorf("Dump: %v", err)
		}
		l.Close()
	}
}

func TestRewriteDropsAndKeepsIndexes(t *testing.T) {
	dir := t.TempDir()
	o := &seglog.Options{FirstSegmentBytes: 16 << 10, MaxSegmentBytes: 16 << 10}
	l, _ := mustOpen(t, dir, o)
	for i := range 200 {
		mustAppend(t, l, fmt.Sprint("record ", i, strings.Repeat("x", 500)))
	}
	keep := func(r seglog.Record) bool { return r.Index%10 == 0 }
	for round := range 3 {
		if err := l.Rewrite(keep); err != nil {
			t.Fatal(err)
		}
		n := 0
		for r, err := range l.From(1) {
			if n++; err != nil || r.Index != uint64(10*n) || !strings.HasPrefix(string(r.Data), fmt.Sprint("record ", r.Index-1)) {
				t.Fatalf("round %d, record %d: index %d, %v", round, n, r.Index, err)
			}
		}
		if n != 20 || l.First() != 10 || l.End() != 200 {
			t.Fatalf("round %d: %d records, first %d, end %d", round, n, l.First(), l.End())
		}
		if _, err := l.Read(11); !errors.Is(err, seglog.ErrNotFound) {
			t.Errorf("Read of a dropped record = %v", err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		var r *seglog.Report
		if l, r = mustOpen(t, dir, o); r.Records != 20 || r.FirstIndex != 10 || r.EndIndex != 200 || len(r.Damage) > 0 || r.Segments > 3 {
			t.Fatalf("round %d: report = %+v", round, r)
		}
	}
	if err := l.Rewrite(func(seglog.Record) bool { return false }); err != nil {
		t.Fatal(err)
	}
	if l.First() != 201 {
		t.Errorf("First of an emptied log = %d, want 201", l.First())
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l, _ = mustOpen(t, dir, o)
	defer l.Close()
	if got := mustAppend(t, l, "next"); got != 201 {
		t.Errorf("index after dropping all = %d, want 201", got)
	}
}
