//go:build unix

package filestore_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/comity-dev/comity/storage"
	"github.com/comity-dev/comity/storage/filestore"
)

const childEnv = "FILESTORE_TEST_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		if err := writeForever(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// writeForever writes in all ways, and tells on stdout what is acknowledged.
func writeForever(dir string) error {
	s, err := filestore.Open(dir, &filestore.Options{IndexAfter: 200, MaxSegmentBytes: 64 << 10})
	if err != nil {
		return err
	}
	failed := make(chan error)
	for _, f := range []func(*filestore.Store) error{
		childAppends("a"), childAppends("b"), childAppends("c"), childRows, childGrants, childLives, childBlobs,
	} {
		go func() { failed <- f(s) }()
	}
	go func() {
		for {
			time.Sleep(15 * time.Millisecond)
			if _, err := s.Compact(ctx); err != nil {
				failed <- err
			}
		}
	}()
	return <-failed
}

// content is what record seq of a ledger holds.
func content(name string, seq uint64) string {
	return fmt.Sprint(name, " ", seq, " ", strings.Repeat("x", int(seq*7919%500)))
}

func childAppends(name string) func(*filestore.Store) error {
	return func(s *filestore.Store) error {
		tip, err := s.Ledger().Tip(ctx, name)
		for err == nil {
			if tip, err = s.Ledger().Append(ctx, name, tip, []byte(content(name, tip.Seq+1)), []byte(content(name, tip.Seq+2))); err == nil {
				fmt.Printf("append %s %d\n", name, tip.Seq)
			}
		}
		return err
	}
}

func childRows(s *filestore.Store) error {
	for {
		value, rev, err := s.KV().Get(ctx, "row")
		var none *storage.NotFoundError
		if err != nil && !errors.As(err, &none) {
			return err
		}
		n := 0
		fmt.Sscan(string(value), &n)
		if _, err := s.KV().Put(ctx, "row", rev, fmt.Append(nil, n+1)); err != nil {
			return err
		}
		fmt.Printf("row row %d\n", n+1)
	}
}

func childGrants(s *filestore.Store) error {
	for {
		l, err := s.Leaser().Acquire(ctx, "lease")
		if err != nil {
			return err
		}
		fmt.Printf("grant lease %d\n", l.Epoch())
		if err := l.Release(ctx); err != nil {
			return err
		}
	}
}

// childLives lets a ledger live and die: a life is over with two records.
func childLives(s *filestore.Store) error {
	for {
		tip, err := s.Ledger().Tip(ctx, "lives")
		if err != nil {
			return err
		}
		if tip.Seq >= 2 {
			if err := s.Ledger().Delete(ctx, "lives"); err != nil {
				return err
			}
			fmt.Printf("end lives %d\n", tip.Gen)
			continue
		}
		if tip, err = s.Ledger().Append(ctx, "lives", tip, []byte("x")); err != nil {
			return err
		}
		fmt.Printf("life lives %d\n", tip.Gen)
	}
}

func childBlobs(s *filestore.Store) error {
	for n := rand.Uint64N(1 << 40); ; n++ {
		if _, err := s.Blobs().Put(ctx, "space", storage.Digest{}, strings.NewReader(content("blob", n))); err != nil {
			return err
		}
		fmt.Printf("blob space %d\n", n)
	}
}

// A process that is killed at any moment has lost nothing that it acknowledged.
func TestKilledProcess(t *testing.T) {
	kills := 10
	if testing.Short() {
		kills = 3
	}
	dir := t.TempDir()
	acked := map[string]uint64{}
	blobs := map[uint64]bool{}
	for range kills {
		wait := time.Duration(rand.IntN(150)) * time.Millisecond
		for _, line := range killChild(t, dir, wait) {
			var what, name string
			var n uint64
			if _, err := fmt.Sscan(line, &what, &name, &n); err != nil {
				t.Fatalf("line %q: %v", line, err)
			}
			if what == "blob" {
				blobs[n] = true
			} else {
				acked[what+" "+name] = max(acked[what+" "+name], n)
			}
		}
		checkKilled(t, dir, acked, blobs)
	}
	if acked["append a"] == 0 || acked["row row"] == 0 || acked["end lives"] == 0 || len(blobs) == 0 {
		t.Errorf("too little was acknowledged: %v, %d blobs", acked, len(blobs))
	}
	t.Logf("%d kills: %v, %d blobs", kills, acked, len(blobs))
}

func checkKilled(t *testing.T, dir string, acked map[string]uint64, blobs map[uint64]bool) {
	t.Helper()
	s := mustOpen(t, dir, nil)
	defer s.Close()
	if r := s.Report(); r.Doubt || len(r.Damage) > 0 {
		t.Fatalf("Report = %+v", r)
	}
	for _, name := range []string{"a", "b", "c"} {
		list, err := contents(s, name)
		if n := acked["append "+name]; err != nil || uint64(len(list)) < n || uint64(len(list)) > n+2 || len(list)%2 != 0 {
			t.Fatalf("ledger %s has %d records, %v; %d were acknowledged", name, len(list), err, n)
		}
		for i, rec := range list {
			if rec != content(name, uint64(i+1)) {
				t.Fatalf("record %d of %s is %.40q", i+1, name, rec)
			}
		}
		acked["append "+name] = uint64(len(list))
	}
	value, _, err := s.KV().Get(ctx, "row")
	n := uint64(0)
	fmt.Sscan(string(value), &n)
	if a := acked["row row"]; n != a && n != a+1 {
		t.Fatalf("the row holds %q, %v; %d was acknowledged", value, err, a)
	}
	acked["row row"] = n
	l, err := s.Leaser().Acquire(ctx, "lease")
	if err != nil || l.Epoch() <= acked["grant lease"] {
		t.Fatalf("Acquire = %v, %v; epoch %d was granted before", l, err, acked["grant lease"])
	}
	acked["grant lease"] = l.Epoch()
	tip, err := s.Ledger().Tip(ctx, "lives")
	if err != nil || tip.Seq > 0 && tip.Gen <= acked["end lives"] || tip.Seq > 2 {
		t.Fatalf("Tip = %v, %v; the life %d was over", tip, err, acked["end lives"])
	}
	for n := range blobs {
		if _, err := s.Blobs().Stat(ctx, "space", storage.DigestOf([]byte(content("blob", n)))); err != nil {
			t.Fatalf("blob %d: %v", n, err)
		}
	}
	if r, err := s.Verify(ctx, nil); err != nil || len(r.Findings) > 0 {
		t.Fatalf("Verify = %+v, %v", r, err)
	}
}

// killChild runs a child and kills it. It returns the lines that it told.
func killChild(t *testing.T, dir string, wait time.Duration) (lines []string) {
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
	r := bufio.NewReader(out)
	var timer *time.Timer
	for {
		line, err := r.ReadString('\n')
		if err == io.EOF { // a line without its end was not told
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if lines = append(lines, line); timer == nil { // it is up
			timer = time.AfterFunc(wait, func() { cmd.Process.Kill() })
			defer timer.Stop()
		}
	}
	if err := cmd.Wait(); err == nil || timer == nil {
		t.Fatalf("the child ended by itself: %v", err)
	}
	return lines
}
