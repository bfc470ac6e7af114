package process_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/comity-dev/comity/api"
)

const (
	fsShutdown = 0x8004587d // _IOR('X', 125, __u32)
	noLogFlush = 2          // neither data nor the file system's own journal is written back
)

// A plug is an ext4 file system of its own, under the state folder, that can
// lose its power.
type plug struct {
	*stage
	loop   string
	daemon int // pid of the one under which the power went; 0 for none
}

func plugIn(t *testing.T) *plug {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can mount a file system to cut its power")
	}
	for _, tool := range []string{"losetup", "mkfs.ext4"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("there is no %s to make a file system with", tool)
		}
	}
	s := newStage(t, 1)
	image := filepath.Join(filepath.Dir(s.home), "image")
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(image, 64<<20); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mkfs.ext4", "-q", image).CombinedOutput(); err != nil {
		t.Fatalf("mkfs.ext4: %v\n%s", err, out)
	}
	out, err := exec.Command("losetup", "-f", "--show", image).CombinedOutput()
	if err != nil {
		t.Skipf("no loop device can be had here: %v\n%s", err, out)
	}
	p := &plug{stage: s, loop: strings.TrimSpace(string(out))}
	t.Cleanup(func() {
		if out, err := exec.Command("losetup", "-d", p.loop).CombinedOutput(); err != nil {
			t.Errorf("give back %s: %v\n%s", p.loop, err, out)
		}
	})
	if err := os.Mkdir(s.home, 0o700); err != nil {
		t.Fatal(err)
	}
	p.mount()
	t.Cleanup(func() {
		if p.daemon != 0 {
			p.again()
		}
		s.stop()
		s.unmount(s.home)
	})
	if err := os.RemoveAll(filepath.Join(s.home, "lost+found")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(s.home, 0o700); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *plug) mount() {
	p.Helper()
	if err := unix.Mount(p.loop, p.home, "ext4", 0, ""); err != nil {
		p.Fatalf("mount %s: %v", p.loop, err)
	}
}

// cut takes the power away: what was not synced is gone.
func (p *plug) cut() {
	p.Helper()
	info, ok := p.stage.daemon()
	if !ok {
		p.Fatal("no daemon runs to lose its power")
	}
	p.daemon = info.PID
	dir, err := os.Open(p.home)
	if err != nil {
		p.Fatal(err)
	}
	defer dir.Close()
	flags := uint32(noLogFlush)
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, dir.Fd(), fsShutdown, uintptr(unsafe.Pointer(&flags))); errno != 0 {
		p.Skipf("the file system cannot be shut down here: %v", errno)
	}
}

// again brings the machine up after a cut: its processes are gone.
func (p *plug) again() {
	p.Helper()
	if err := unix.Kill(p.daemon, unix.SIGKILL); err != nil {
		p.Fatal(err)
	}
	p.daemon = 0
	p.unmount(p.home)
	p.mount()
}

// Writers are acknowledged until the power goes. Afterwards every acknowledged
// event is there, once, and everything goes on; twice over, so that what a
// recovery leaves is cut too.
func TestPowerLoss(t *testing.T) {
	t.Parallel()
	p := plugIn(t)
	acknowledged := map[string]string{}
	for round := range 3 {
		p.writeUntilCut(round, acknowledged)
		p.again()
		p.allIn(acknowledged, p.events())
		if rep, code := p.report("verify"); code != 0 {
			t.Errorf("round %d: verify: exit %d, %+v", round, code, rep)
		}
		if st := p.status(); st.Damage != 0 {
			t.Errorf("round %d: %d damaged places", round, st.Damage)
		}
		if n := len(p.status().Sessions); n != writersOfPower*(round+1) {
			t.Errorf("round %d: %d sessions are open, want %d", round, n, writersOfPower*(round+1))
		}
	}
	t.Logf("%d acknowledged events", len(acknowledged))
	p.goesOn("later")
}

const writersOfPower = 4

// writeUntilCut runs writers, and cuts the power under them.
func (p *plug) writeUntilCut(round int, acknowledged map[string]string) {
	p.Helper()
	var mu sync.Mutex
	before := len(acknowledged)
	take := func(event, kind string) {
		mu.Lock()
		defer mu.Unlock()
		acknowledged[event] = kind
	}
	var wg sync.WaitGroup
	for i := range writersOfPower {
		name := fmt.Sprintf("r%dw%d", round, i)
		p.open(name)
		wg.Go(func() { p.writeOn(name, take) })
	}
	p.eventually(waitLong, "writers are acknowledged", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(acknowledged) >= before+100
	})
	p.cut()
	wg.Wait()
}

// writeOn claims and releases until the first failure.
func (p *plug) writeOn(name string, take func(event, kind string)) {
	c, where := p.client(), api.Where{Dir: p.trees[0], Session: name}
	for i := 0; ; i++ {
		claim, err := c.Claim(p.Context(), api.ClaimRequest{Where: where, Scope: []string{fmt.Sprintf("%s/%d.go", name, i)}})
		if err != nil {
			return
		}
		take(claim.Written.Event, "claim_acquired")
		if i%2 == 0 {
			continue
		}
		released, err := c.Release(p.Context(), api.ReleaseRequest{Where: where, Claims: []string{claim.Claim.Claim}})
		if err != nil {
			return
		}
		for _, w := range released.Events {
			take(w.Event, "claim_released")
		}
	}
}
