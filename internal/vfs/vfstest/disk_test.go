package vfstest_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/comity-dev/comity/internal/vfs"
	"github.com/comity-dev/comity/internal/vfs/vfstest"
)

func TestContract(t *testing.T) {
	t.Run("os", func(t *testing.T) { vfstest.TestFS(t, vfs.OS(), t.TempDir()) })
	t.Run("disk", func(t *testing.T) { vfstest.TestFS(t, vfstest.New(), "/") })
}

// states returns all states that a crash of d may leave of the file f, "-" for
// none.
func states(d *vfstest.Disk, f string) []string {
	found := map[string]bool{}
	vfstest.Every(func(choose func(int) int) bool {
		c := d.Crash(choose)
		s := "-"
		if _, err := c.Stat(f); err == nil {
			s = fmt.Sprintf("%q", c.Bytes(f))
		}
		found[s] = true
		return true
	})
	return slices.Sorted(maps.Keys(found))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestCrashStates(t *testing.T) {
	d := vfstest.New()
	f, err := d.Open("f", os.O_RDWR|os.O_CREATE, 0o600)
	must(t, err)
	write := func(s string, off int64) { _, err := f.WriteAt([]byte(s), off); must(t, err) }
	expect := func(what string, want ...string) {
		t.Helper()
		if got := states(d, "f"); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	write("ab", 0)
	expect("created and written", `""`, `"\x00\x00"`, `"\x00b"`, `"a"`, `"ab"`, "-")
	must(t, d.SyncDir("/"))
	expect("folder synced", `""`, `"\x00\x00"`, `"\x00b"`, `"a"`, `"ab"`)
	must(t, f.Sync())
	expect("synced", `"ab"`)
	write("x", 0)
	write("y", 1)
	expect("two writes", `"ab"`, `"ay"`, `"xb"`, `"xy"`)
	must(t, f.Sync())
	must(t, f.Truncate(1))
	expect("cut", `"x"`, `"xy"`)
	must(t, f.Sync())
	must(t, d.Rename("f", "g"))
	must(t, d.Remove("g"))
	expect("renamed and removed", `"x"`, "-")
}

func TestFailedSyncLosesWhatARetryDoesNotBringBack(t *testing.T) {
	for _, kept := range []bool{false, true} {
		d := vfstest.New()
		must(t, vfs.WriteFile(d, "f", []byte("old")))
		f, err := d.Open("f", os.O_RDWR, 0)
		must(t, err)
		_, err = f.WriteAt([]byte("new"), 0)
		must(t, err)
		d.Fail(vfstest.Fault{At: d.Ops(), Err: vfstest.EIO, Kept: kept})
		if err := f.Sync(); !errors.Is(err, vfstest.EIO) {
			t.Fatalf("Sync = %v, want EIO", err)
		}
		must(t, f.Sync())
		if got := string(d.Bytes("f")); got != "new" {
			t.Errorf("seen = %q, want new", got)
		}
		want := map[bool]string{false: `"old"`, true: `"new"`}[kept]
		if got := states(d, "f"); len(got) != 1 || got[0] != want {
			t.Errorf("kept %v: after a crash = %v, want %s", kept, got, want)
		}
	}
}

func TestFaultsLostKeptAndShort(t *testing.T) {
	for _, tt := range []struct {
		fault vfstest.Fault
		want  string
	}{
		{vfstest.Fault{}, ""},
		{vfstest.Fault{Kept: true}, "data"},
		{vfstest.Fault{Short: true}, "da"},
	} {
		d := vfstest.New()
		f, err := d.Open("f", os.O_RDWR|os.O_CREATE, 0o600)
		must(t, err)
		tt.fault.At, tt.fault.Err = d.Ops(), vfstest.ENOSPC
		d.Fail(tt.fault)
		if _, err := f.WriteAt([]byte("data"), 0); !vfs.IsNoSpace(err) {
			t.Errorf("WriteAt = %v, want no space", err)
		}
		if got := string(d.Bytes("f")); got != tt.want {
			t.Errorf("%+v: content = %q, want %q", tt.fault, got, tt.want)
		}
	}
}

// A rename between folders may be forgotten in one of them: the file is in both
// then, or in none.
func TestRenameBetweenFolders(t *testing.T) {
	d := vfstest.New()
	for _, dir := range []string{"a", "b"} {
		must(t, d.Mkdir(dir, 0o700))
	}
	must(t, d.SyncDir("/"))
	must(t, vfs.WriteFile(d, "a/f", []byte("x")))
	must(t, d.Rename("a/f", "b/f"))
	found := map[string]bool{}
	vfstest.Every(func(choose func(int) int) bool {
		c := d.Crash(choose)
		found[fmt.Sprint(c.Bytes("a/f") != nil, c.Bytes("b/f") != nil)] = true
		return true
	})
	if len(found) != 4 {
		t.Errorf("states = %v, want all four", found)
	}
}

func TestKillKeepsWhatWasNotSynced(t *testing.T) {
	d := vfstest.New()
	must(t, vfs.WriteFile(d, "f", []byte("old")))
	f, err := d.Open("f", os.O_RDWR, 0)
	must(t, err)
	_, err = f.WriteAt([]byte("new"), 0)
	must(t, err)
	_, err = d.Lock("lock")
	must(t, err)
	k := d.Kill()
	if got := string(k.Bytes("f")); got != "new" {
		t.Errorf("after the kill = %q, want new", got)
	}
	if _, err := k.Lock("lock"); err != nil {
		t.Errorf("Lock after the kill: %v", err)
	}
	if got := len(states(k, "f")); got < 2 {
		t.Errorf("the kill made the write durable")
	}
}
