package node

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/comity-dev/comity/internal/clock"
	"github.com/comity-dev/comity/internal/home"
)

// A running is a daemon at a real socket, whose time the test moves.
type running struct {
	home  home.Home
	clock *clock.Fake
	ended chan error
	over  chan struct{} // closed behind ended
}

func startDaemon(t *testing.T) *running {
	t.Helper()
	dir, err := os.MkdirTemp("", "n") // short: a socket's path has to be
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	r := &running{home: home.Home{Dir: filepath.Join(dir, "state"), Socket: filepath.Join(dir, "run", "s")}, clock: newClock(), ended: make(chan error, 1), over: make(chan struct{})}
	ready := make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		// Its time may run far ahead of it, which is no reason to leave.
		r.ended <- serve(ctx, Options{Home: r.home, Build: "b", Idle: -1, Ready: func() { close(ready) }}, r.clock)
		close(r.over)
	}()
	select {
	case <-ready:
	case err := <-r.ended:
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		<-r.over
	})
	return r
}

// until moves the daemon's time until done says so.
func (r *running) until(t *testing.T, done func() bool) {
	t.Helper()
	for !done() {
		select {
		case <-r.over:
			if !done() {
				t.Fatal("the daemon has ended")
			}
			return
		default:
		}
		r.clock.Advance(glance)
		runtime.Gosched()
	}
}

// ask makes one request over c.
func ask(t *testing.T, c *http.Client) (status int, err error) {
	t.Helper()
	resp, err := c.Post("http://comity/v1/version", "application/json", strings.NewReader("{}"))
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}

func (r *running) caller() *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", r.home.Socket)
	}}}
}

func TestASocketThatWasRemovedIsMadeAgain(t *testing.T) {
	for name, remove := range map[string]func(r *running) error{
		"the file":   func(r *running) error { return os.Remove(r.home.Socket) },
		"its folder": func(r *running) error { return os.RemoveAll(filepath.Dir(r.home.Socket)) },
		"the file, and another's socket in its place": func(r *running) error {
			if err := os.Remove(r.home.Socket); err != nil {
				return err
			}
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: r.home.Socket})
			if err != nil {
				return err
			}
			l.SetUnlinkOnClose(false)
			return l.Close() // nobody answers there
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := startDaemon(t)
			before := r.caller() // its connection stays open
			if status, err := ask(t, before); status != http.StatusOK || err != nil {
				t.Fatalf("before: %d, %v", status, err)
			}
			for range 2 { // it happens again
				if err := remove(r); err != nil {
					t.Fatal(err)
				}
				r.until(t, func() bool {
					status, err := ask(t, r.caller())
					return err == nil && status == http.StatusOK
				})
				if status, err := ask(t, before); status != http.StatusOK || err != nil {
					t.Errorf("a connection that was made before: %d, %v", status, err)
				}
			}
			if info, err := os.Stat(r.home.Socket); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
				t.Errorf("the socket is %v, %v; want it for its user only", info, err)
			}
		})
	}
}

// What is in the way is not removed, and the next client shall start a daemon
// that says what is wrong.
func TestADaemonThatCannotListenAgainStops(t *testing.T) {
	r := startDaemon(t)
	if err := os.Remove(r.home.Socket); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.home.Socket, []byte("notes"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.untilEnded(t)
	if b, err := os.ReadFile(r.home.Socket); string(b) != "notes" || err != nil {
		t.Errorf("the file in the socket's place is %q, %v", b, err)
	}
	if _, running, err := r.home.Running(); running || err != nil {
		t.Errorf("Running = %v, %v; want nobody", running, err)
	}
}

// A daemon whose state folder was removed would acknowledge what is lost.
func TestADaemonWithoutItsStateFolderStops(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("open files are not removed there")
	}
	r := startDaemon(t)
	if err := os.RemoveAll(r.home.Dir); err != nil {
		t.Fatal(err)
	}
	r.untilEnded(t)
	if _, err := os.Stat(r.home.Dir); !os.IsNotExist(err) {
		t.Errorf("the state folder is there again: %v", err)
	}
	if _, err := os.Stat(r.home.Socket); !os.IsNotExist(err) {
		t.Errorf("the socket of a daemon that has ended: %v", err)
	}
}

func (r *running) untilEnded(t *testing.T) {
	t.Helper()
	r.until(t, func() bool {
		select {
		case err := <-r.ended:
			if err != nil {
				t.Errorf("serve = %v, want nil", err)
			}
			return true
		default:
			return false
		}
	})
}
