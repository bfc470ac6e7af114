package proc

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const statTail = " 10 20 30 34816 40 0 1 2 3 4 5 6 7 8 9 10 7 0 123456 99 88"

func TestParseStat(t *testing.T) {
	for _, name := range []string{"sh", "", "a b", "a) R 1 2", "((", "))", "a\nb", "\x01\xff"} {
		line := fmt.Sprintf("42 (%s) S%s\n", name, statTail)
		got, err := parseStat([]byte(line))
		want := facts{name: name, state: 'S', parent: 10, session: 30, tty: 34816, threads: 7, start: "123456"}
		if err != nil || got != want {
			t.Errorf("parseStat(%q) = %+v, %v, want %+v", line, got, err, want)
		}
	}
}

func TestParseStatRefuses(t *testing.T) {
	for _, line := range []string{
		"", "42", "42 (sh", "42 sh) S" + statTail, ") (", "42 (sh) S 1 2 3",
		"42 (sh) SS" + statTail,
		"42 (sh) S" + strings.Replace(statTail, " 10 20", " x 20", 1),
		"42 (sh) S" + strings.Replace(statTail, "123456", "-1", 1),
		"42 (sh) S" + strings.Replace(statTail, "123456", "soon", 1),
	} {
		if got, err := parseStat([]byte(line)); err == nil {
			t.Errorf("parseStat(%q) = %+v, want an error", line, got)
		}
	}
}

func TestEnded(t *testing.T) {
	for _, tt := range []struct {
		state   byte
		threads int
		want    bool
	}{
		{'R', 1, false}, {'S', 1, false}, {'D', 1, false}, {'T', 1, false}, {'t', 1, false}, {'I', 1, false},
		{'Z', 1, true}, {'Z', 0, true}, {'Z', 2, false}, {'X', 1, true}, {'X', 2, true}, {'x', 1, true},
	} {
		if got := (facts{state: tt.state, threads: tt.threads}).ended(); got != tt.want {
			t.Errorf("state %c with %d threads: ended = %v, want %v", tt.state, tt.threads, got, tt.want)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("42 (sh) S" + statTail))
	f.Add([]byte("42 (a) R (b) S" + statTail))
	f.Add([]byte(") S ("))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := parseStat(b)
		if err == nil && (got.start == "" || got.state == 0) {
			t.Errorf("parseStat(%q) = %+v: accepted without a start or a state", b, got)
		}
	})
}

// Where the system announces no end, looking every half second finds it: not
// before it happened, and not much later.
func TestPollFindsTheEnd(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", "read x")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	id, err := Of(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan struct{})
		go func() {
			if poll(id, make(chan struct{})) {
				close(ended)
			}
		}()
		time.Sleep(10 * pollEvery) // virtual
		select {
		case <-ended:
			t.Error("poll reports an end while the process runs")
		default:
		}
		in.Close()
		cmd.Wait()
		time.Sleep(pollEvery)
		synctest.Wait()
		select {
		case <-ended:
		default:
			t.Error("poll reports no end half a second after it")
		}
	})
}

// A look that fails says nothing about the process; stopping is no end.
func TestPollIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop, got := make(chan struct{}), make(chan bool, 1)
		go func() { got <- poll(ID{PID: os.Getpid()}, stop) }() // incomplete: each look is an error
		time.Sleep(3 * pollEvery)
		select {
		case v := <-got:
			t.Fatalf("poll = %v after looks that failed, want it to go on", v)
		default:
		}
		close(stop)
		if <-got {
			t.Error("poll = true after it was stopped, want false")
		}
	})
}
