package client_test

import (
	"bufio"
	"context"
	"errors"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/client"
	"github.com/comity-dev/comity/internal/home"
	"github.com/comity-dev/comity/internal/httpapi"
	"github.com/comity-dev/comity/internal/vfs"
)

// The test binary is also the daemon that the client starts.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "serve" && os.Args[2] == "--background" {
		if err := daemon(); err != nil {
			log.Fatal(err)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// daemon is one that does nothing but name its build, and that ends when it is
// asked to. It ends by itself should a test forget it.
func daemon() error {
	h, err := home.Locate(os.Getenv)
	if err != nil {
		return err
	}
	if line := os.Getenv("TEST_DAEMON_FAILS"); line != "" {
		return errors.New(line)
	}
	build := os.Getenv("TEST_DAEMON_BUILD")
	lock, err := h.Lock(vfs.OS(), home.Info{Build: build, Socket: h.Socket, API: api.Version})
	if err != nil {
		return err
	}
	defer lock.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return serving(ctx, cancel, h.Socket, build, nil, nil, home.Ready)
}

// serving serves ops at socket until ctx ends; the stop operation cancels it.
func serving(ctx context.Context, cancel func(), socket, build string, ops map[string]httpapi.Func, watch httpapi.Watch, ready func()) error {
	all := map[string]httpapi.Func{}
	for _, op := range api.Operations() {
		if op.Name != api.OpWatch {
			all[op.Name] = func(context.Context, httpapi.Caller, []byte) (any, error) { return op.Reply, nil }
		}
	}
	all[api.OpVersion] = func(context.Context, httpapi.Caller, []byte) (any, error) {
		return api.VersionReply{Daemon: api.Daemon{PID: os.Getpid(), Build: build, Socket: socket}}, nil
	}
	all[api.OpStop] = func(context.Context, httpapi.Caller, []byte) (any, error) {
		defer cancel()
		return api.Empty{}, nil
	}
	for name, f := range ops {
		all[name] = f
	}
	if watch == nil {
		watch = func(ctx context.Context, _ httpapi.Caller, _ api.WatchRequest, _ func(api.Change) error) error {
			<-ctx.Done()
			return nil
		}
	}
	h, err := httpapi.Handler(all, watch, &httpapi.Options{Build: build})
	if err != nil {
		return err
	}
	l, err := httpapi.Listen(socket)
	if err != nil {
		return err
	}
	srv := httpapi.NewServer(h, nil)
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(l) }()
	ready()
	<-ctx.Done()
	err = srv.Shutdown(context.Background()) // the answer to stop is still to be written
	if serr := <-ended; !errors.Is(serr, http.ErrServerClosed) {
		err = serr
	}
	return err
}

// A place is a state folder of one test.
type place struct {
	t   *testing.T
	dir string
}

func newPlace(t *testing.T) place {
	t.Helper()
	dir, err := os.MkdirTemp("", "c")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("COMITY_HOME", dir) // for daemons that are started
	t.Setenv("XDG_RUNTIME_DIR", "")
	p := place{t, dir}
	t.Cleanup(func() {
		p.client(&client.Options{NoStart: true}).Stop(context.Background(), api.StopRequest{})
		p.free()
		os.RemoveAll(dir)
	})
	return p
}

func (p place) getenv(name string) string {
	if name == "COMITY_HOME" {
		return p.dir
	}
	return ""
}

func (p place) home() home.Home {
	p.t.Helper()
	h, err := home.Locate(p.getenv)
	if err != nil {
		p.t.Fatal(err)
	}
	return h
}

// client is a client of the place that starts this test binary as the daemon.
func (p place) client(o *client.Options) *client.Client {
	p.t.Helper()
	if o == nil {
		o = new(client.Options)
	}
	o.Getenv = p.getenv
	c, err := client.New(o)
	if err != nil {
		p.t.Fatal(err)
	}
	return c
}

// free waits until no daemon holds the lock.
func (p place) free() {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	t := time.NewTicker(5 * time.Millisecond)
	defer t.Stop()
	for {
		if _, running, err := p.home().Running(); err == nil && !running {
			return
		}
		select {
		case <-ctx.Done():
			p.t.Fatal("the daemon does not end")
		case <-t.C:
		}
	}
}

// here serves ops in this process, with the lock of the place.
func (p place) here(build string, ops map[string]httpapi.Func, watch httpapi.Watch) (stop func()) {
	p.t.Helper()
	return p.hereAt(p.home().Socket, build, ops, watch)
}

func (p place) hereAt(socket, build string, ops map[string]httpapi.Func, watch httpapi.Watch) (stop func()) {
	p.t.Helper()
	lock, err := p.home().Lock(vfs.OS(), home.Info{Build: build, Socket: socket, API: api.Version})
	if err != nil {
		p.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan bool), make(chan error, 1)
	go func() {
		err := serving(ctx, cancel, socket, build, ops, watch, func() { close(ready) })
		ended <- errors.Join(err, lock.Close())
	}()
	select {
	case <-ready:
	case err := <-ended:
		p.t.Fatal(err)
	}
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := <-ended; err != nil {
				p.t.Errorf("daemon: %v", err)
			}
		})
	}
	p.t.Cleanup(stop)
	return stop
}

// dropsOne is a daemon that takes one request and dies of it.
func (p place) dropsOne() (done func()) {
	p.t.Helper()
	h := p.home()
	lock, err := h.Lock(vfs.OS(), home.Info{Build: newer, Socket: h.Socket, API: api.Version})
	if err != nil {
		p.t.Fatal(err)
	}
	l, err := httpapi.Listen(h.Socket)
	if err != nil {
		p.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		conn, err := l.Accept()
		if err == nil {
			_, err = http.ReadRequest(bufio.NewReader(conn))
			err = errors.Join(err, l.Close(), lock.Close(), conn.Close())
		}
		ended <- err
	}()
	return func() {
		if err := <-ended; err != nil {
			p.t.Errorf("daemon: %v", err)
		}
	}
}

func elsewhere(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "c")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "s")
}
