package seglog_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/comity-dev/comity/internal/seglog"
	"github.com/comity-dev/comity/internal/vfs"
)

// A loss of power under ext4: the file system is shut down without writing
// anything back, and mounted again. What was acknowledged is there, and all that
// is there was submitted.
func TestPowerLossOnExt4(t *testing.T) {
	mnt, loop := mountLoop(t)
	dir := filepath.Join(mnt, "log")
	o := &seglog.Options{FirstSegmentBytes: 64 << 10, MaxSegmentBytes: 256 << 10}
	acked := map[uint64]bool{}
	for life := range 3 {
		l, report, err := seglog.Open(vfs.OS(), dir, o)
		if err != nil {
			t.Fatal(err)
		}
		if len(report.Damage) > 0 {
			t.Fatalf("life %d: damage %+v", life, report.Damage)
		}
		there := map[uint64]bool{}
		for r, err := range l.From(1) {
			if err != nil || !isRecord(r.Data) {
				t.Fatalf("life %d: record %d: %v", life, r.Index, err)
			}
			there[r.Index] = true
		}
		for index := range acked {
			if !there[index] {
				t.Fatalf("life %d: record %d was acknowledged and is lost", life, index)
			}
		}
		appendUntilPowerLoss(t, l, mnt, acked)
		l.Close()
		sh(t, "umount", mnt)
		sh(t, "mount", loop, mnt)
	}
	t.Logf("%d records acknowledged", len(acked))
}

// appendUntilPowerLoss appends from several goroutines, and shuts the file
// system down in the middle.
func appendUntilPowerLoss(t *testing.T, l *seglog.Log, mnt string, acked map[uint64]bool) {
	t.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	half := make(chan struct{})
	var once sync.Once
	for w := range uint64(8) {
		wg.Go(func() {
			for n := uint64(0); ; n++ {
				first, err := l.Append(t0, record(n*8+w))
				if err != nil {
					return
				}
				mu.Lock()
				acked[first] = true
				mu.Unlock()
				if n == 200 {
					once.Do(func() { close(half) })
				}
			}
		})
	}
	<-half
	shutdown(t, mnt)
	wg.Wait()
	if l.Err() == nil {
		t.Error("the log took appends all along, though its disk was gone")
	}
}

// shutdown takes the file system away without a flush of its journal.
func shutdown(t *testing.T, mnt string) {
	t.Helper()
	const ioctlShutdown, noLogFlush = 0x8004587d, 2 // _IOR('X', 125, __u32)
	d, err := os.Open(mnt)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	flags := uint32(noLogFlush)
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, d.Fd(), ioctlShutdown, uintptr(unsafe.Pointer(&flags))); errno != 0 {
		t.Fatalf("shut the file system down: %v", errno)
	}
}

// mountLoop mounts a new ext4, or skips the test and says why.
func mountLoop(t *testing.T) (mnt, loop string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root to mount a loop device")
	}
	for _, program := range []string{"mkfs.ext4", "losetup", "mount", "umount"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("needs the program %s", program)
		}
	}
	dir := t.TempDir()
	img := filepath.Join(dir, "img")
	mnt = filepath.Join(dir, "mnt")
	if err := os.Mkdir(mnt, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(img, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(img, 256<<20); err != nil {
		t.Fatal(err)
	}
	sh(t, "mkfs.ext4", "-q", img)
	out, err := exec.Command("losetup", "-f", "--show", img).CombinedOutput()
	if err != nil {
		t.Skipf("no loop device: %v: %s", err, out)
	}
	loop = strings.TrimSpace(string(out))
	t.Cleanup(func() { exec.Command("losetup", "-d", loop).Run() })
	if out, err := exec.Command("mount", loop, mnt).CombinedOutput(); err != nil {
		t.Skipf("cannot mount: %v: %s", err, out)
	}
	t.Cleanup(func() { exec.Command("umount", mnt).Run() })
	return mnt, loop
}

func sh(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v: %s", args, err, out)
	}
}
