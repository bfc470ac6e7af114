package home_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/comity-dev/comity/internal/home"
)

func openLog(t *testing.T, h home.Home) *home.Log {
	t.Helper()
	l, err := h.OpenLog()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func size(t *testing.T, name string) int64 {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

func TestLogIsBounded(t *testing.T) {
	h := home.Home{Dir: t.TempDir()}
	l := openLog(t, h)
	line := []byte(strings.Repeat("x", 1023) + "\n")
	for range 3 * home.MaxLog / len(line) {
		if n, err := l.Write(line); n != len(line) || err != nil {
			t.Fatalf("Write = %d, %v", n, err)
		}
	}
	now, before := size(t, h.LogFile()), size(t, h.LogFile()+".1")
	if now > home.MaxLog || before > home.MaxLog || before < home.MaxLog/2 {
		t.Errorf("the logs have %d and %d bytes, want at most %d each and the older one full", now, before, home.MaxLog)
	}
}

// What went to the log in the wrong way, by standard error, goes on to the same
// file after it began anew.
func TestLogBeginsAnewInTheSameFile(t *testing.T) {
	h := home.Home{Dir: t.TempDir()}
	stderr, err := os.OpenFile(h.LogFile(), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer stderr.Close()
	l := openLog(t, h)
	fmt.Fprint(stderr, strings.Repeat("a", 3*home.MaxLog), "\nlast of before\n")
	fmt.Fprint(l, "first of now\n")
	fmt.Fprint(stderr, "panic\n")
	got, err := os.ReadFile(h.LogFile())
	if err != nil || string(got) != "first of now\npanic\n" {
		t.Errorf("the log holds %.80q, %v", got, err)
	}
	before, err := os.ReadFile(h.LogFile() + ".1")
	if err != nil || len(before) != home.MaxLog || !bytes.HasSuffix(before, []byte("a\nlast of before\n")) {
		t.Errorf("the log before has %d bytes and ends with %q, %v", len(before), before[max(0, len(before)-20):], err)
	}
}

func TestLogKeepsLinesWhole(t *testing.T) {
	h := home.Home{Dir: t.TempDir()}
	var wg sync.WaitGroup
	for w := range 4 {
		l := openLog(t, h)
		wg.Go(func() {
			for i := range 500 {
				fmt.Fprintf(l, "writer %d line %d end\n", w, i)
			}
		})
	}
	wg.Wait()
	b, err := os.ReadFile(h.LogFile())
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	if len(lines) != 2000 {
		t.Errorf("%d lines, want 2000", len(lines))
	}
	for _, s := range lines {
		if !strings.HasPrefix(s, "writer ") || !strings.HasSuffix(s, " end") {
			t.Fatalf("line %q is not whole", s)
		}
	}
}
