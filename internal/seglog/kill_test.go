//go:build unix

package seglog_test

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/comity-dev/comity/internal/seglog"
	"github.com/comity-dev/comity/internal/vfs"
)

const childEnv = "SEGLOG_TEST_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		appendForever(dir)
	}
	os.Exit(m.Run())
}

// record is the record of a number: its bytes tell whether it is whole.
func record(n uint64) []byte {
	b := make([]byte, 20+n*7919%900)
	for i := range b {
		b[i] = byte(n * uint64(i+1))
	}
	binary.LittleEndian.PutUint64(b[4:], n)
	binary.LittleEndian.PutUint32(b, crc32.ChecksumIEEE(b[4:]))
	return b
}

func isRecord(b []byte) bool {
	return len(b) >= 20 && binary.LittleEndian.Uint32(b) == crc32.ChecksumIEEE(b[4:])
}

// appendForever appends from several goroutines, rewrites now and then, and
// tells on stdout each index once it is acknowledged.
func appendForever(dir string) {
	l, _, err := seglog.Open(vfs.OS(), dir, &seglog.Options{FirstSegmentBytes: 64 << 10, MaxSegmentBytes: 128 << 10})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for w := range 4 {
		go func() {
			for n := uint64(w); ; n += 4 {
				first, err := l.Append(t0, record(n), record(n+1))
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
				fmt.Fprintf(os.Stdout, "%d\n", first)
			}
		}()
	}
	for {
		time.Sleep(20 * time.Millisecond)
		if err := l.Rewrite(func(r seglog.Record) bool { return r.Index%7 != 0 }); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// A process that is killed at any moment has lost nothing that it acknowledged,
// and what it leaves is always opened.
func TestKilledProcess(t *testing.T) {
	kills := 12
	if long {
		kills = 1000
	}
	dir := t.TempDir()
	acked := map[uint64]bool{}
	rnd := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	for k := range kills {
		wait := time.Duration(rnd.IntN(120)) * time.Millisecond
		for _, index := range killed(t, dir, wait, k%2 == 1) {
			acked[index], acked[index+1] = true, true
		}
		l, report := mustOpen(t, dir, nil)
		if len(report.Damage) > 0 {
			t.Fatalf("kill %d after %v: damage %+v", k, wait, report.Damage)
		}
		there := map[uint64]bool{}
		for r, err := range l.From(1) {
			if err != nil || !isRecord(r.Data) {
				t.Fatalf("kill %d after %v: record %d: %v", k, wait, r.Index, err)
			}
			there[r.Index] = true
		}
		for index := range acked {
			if !there[index] && index%7 != 0 {
				t.Fatalf("kill %d after %v: record %d was acknowledged and is lost", k, wait, index)
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if len(acked) == 0 {
		t.Error("nothing was acknowledged in all these lives")
	}
	t.Logf("%d kills, %d records acknowledged", kills, len(acked))
}

// killed runs a child on dir and kills it after wait: from its start, while it opens
// the log perhaps, or from when it first acknowledged something. It returns what was
// acknowledged.
func killed(t *testing.T, dir string, wait time.Duration, fromFirst bool) (acked []uint64) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := func() { cmd.Process.Kill() }
	var timer *time.Timer
	if !fromFirst {
		timer = time.AfterFunc(wait, kill)
	}
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if err != nil { // a line without its end was not told
			if err != io.EOF {
				t.Fatal(err)
			}
			break
		}
		var index uint64
		if _, err := fmt.Sscan(line, &index); err != nil {
			t.Fatal(err)
		}
		acked = append(acked, index)
		if timer == nil {
			timer = time.AfterFunc(wait, kill)
		}
	}
	cmd.Wait()
	return acked
}
