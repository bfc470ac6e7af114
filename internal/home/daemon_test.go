package home_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/comity-dev/comity/internal/home"
	"github.com/comity-dev/comity/internal/vfs"
)

// The test binary is also the daemons and clients of the tests: its first
// argument says which.
func TestMain(m *testing.M) {
	if len(os.Args) < 2 || !strings.HasPrefix(os.Args[1], "role:") {
		os.Exit(m.Run())
	}
	// Should a test end without ending us.
	time.AfterFunc(time.Minute, func() { os.Exit(3) })
	if err := play(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func play(role string) error {
	switch role {
	case "role:serve":
		return serve(func() error { return nil })
	case "role:slow": // holds the lock, and serves only when its input ends
		return serve(func() error {
			fmt.Println("locked")
			_, err := io.Copy(io.Discard, os.Stdin)
			return err
		})
	case "role:start": // a client
		h, err := home.Locate(os.Getenv)
		if err != nil {
			return err
		}
		if err := home.Start(context.Background(), h, os.Args[0], []string{"role:serve"}); err != nil {
			return err
		}
		r, err := ask(h)
		if err != nil {
			return err
		}
		fmt.Println(r.PID)
	case "role:fail":
		fmt.Println("first line")
		return errors.New("the last line")
	case "role:mute":
		os.Exit(1)
	case "role:hang": // never ready; goes on until the test has its pid
		fmt.Println(os.Getpid())
		select {}
	default:
		return fmt.Errorf("unknown role %s", role)
	}
	return nil
}

// A report is what a daemon of these tests says of itself to who connects.
type report struct {
	PID, Parent int
	Session     int // session of the terminal, unix only
	Dir         string
	Env         []string
	Files       []string // what its open files are, Linux only
}

func serve(before func() error) error {
	h, err := home.Locate(os.Getenv)
	if err != nil {
		return err
	}
	l, err := h.Lock(vfs.OS(), home.Info{Build: "test", Socket: h.Socket, API: 1})
	if err != nil {
		return err
	}
	defer l.Close()
	if err := before(); err != nil {
		return err
	}
	os.Remove(h.Socket) // of one that was killed
	listener, err := net.Listen("unix", h.Socket)
	if err != nil {
		return err
	}
	fmt.Println("serving") // to the log
	home.Ready()
	home.Ready() // does nothing
	for {
		conn, err := listener.Accept()
		if err != nil {
			return err
		}
		r := report{PID: os.Getpid(), Parent: os.Getppid(), Env: os.Environ()}
		r.Dir, _ = os.Getwd()
		r.describe()
		json.NewEncoder(conn).Encode(r) // who only knocks does not read
		conn.Close()
	}
}

func ask(h home.Home) (report, error) {
	var r report
	conn, err := net.Dial("unix", h.Socket)
	if err != nil {
		return r, err
	}
	defer conn.Close()
	return r, json.NewDecoder(conn).Decode(&r)
}

// deadline bounds waits that a right implementation ends at once.
const deadline = 20 * time.Second

// reap ends the daemon of h, whoever started it.
func reap(t *testing.T, h home.Home) {
	t.Cleanup(func() {
		info, running, err := h.Running()
		if err != nil || !running || info.PID == 0 || info.PID == os.Getpid() {
			return
		}
		if p, err := os.FindProcess(info.PID); err == nil {
			p.Kill()
		}
	})
}

// startDaemon starts a daemon as a child, and returns once it holds the lock.
func startDaemon(t *testing.T, h home.Home) *slowDaemon {
	t.Helper()
	cmd := exec.Command(os.Args[0], "role:slow")
	cmd.Env = append(os.Environ(), "COMITY_HOME="+h.Dir, "XDG_RUNTIME_DIR=")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // a second Wait is harmless
		cmd.Process.Kill()
		cmd.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "locked\n" {
		t.Fatalf("the daemon says %q, %v", line, err)
	}
	return &slowDaemon{cmd, in}
}

type slowDaemon struct {
	*exec.Cmd
	serve io.Closer // closed, the daemon begins to serve
}
