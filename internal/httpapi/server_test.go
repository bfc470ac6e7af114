package httpapi_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/internal/httpapi"
)

// A pipeListener hands out one connection of a pipe, so that time can be virtual.
type pipeListener struct {
	conns chan net.Conn
	done  chan struct{}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}
func (l *pipeListener) Close() error   { close(l.done); return nil }
func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{} }

// inBubble runs f with the caller's end of a connection to a server.
func inBubble(t *testing.T, ops map[string]httpapi.Func, f func(t *testing.T, conn net.Conn)) {
	synctest.Test(t, func(t *testing.T) {
		h, err := httpapi.Handler(operations(ops), quiet, nil)
		if err != nil {
			t.Fatal(err)
		}
		srv := httpapi.NewServer(h, nil)
		l := &pipeListener{conns: make(chan net.Conn, 1), done: make(chan struct{})}
		ours, theirs := net.Pipe()
		l.conns <- theirs
		ended := make(chan error, 1)
		go func() { ended <- srv.Serve(l) }()
		f(t, ours)
		ours.Close()
		srv.Close()
		<-ended
	})
}

// A caller that stops in the middle of its request does not keep its connection.
func TestSlowCallerIsCutOff(t *testing.T) {
	for _, part := range []string{
		"POST /v1/check HTTP/1.1\r\nHost: com",
		"POST /v1/check HTTP/1.1\r\nHost: comity\r\nContent-Length: 100\r\n\r\n{\"dir\":",
	} {
		called := false
		ops := map[string]httpapi.Func{api.OpCheck: func(context.Context, httpapi.Caller, []byte) (any, error) {
			called = true
			return api.CheckReply{}, nil
		}}
		inBubble(t, ops, func(t *testing.T, conn net.Conn) {
			start := time.Now()
			if _, err := io.WriteString(conn, part); err != nil {
				t.Fatal(err)
			}
			io.Copy(io.Discard, conn) // until the server closes
			if took := time.Since(start); took > httpapi.ReadTimeout+time.Second {
				t.Errorf("%.40q: cut off after %v, want about %v", part, took, httpapi.ReadTimeout)
			}
		})
		if called {
			t.Errorf("%.40q: the operation was called", part)
		}
	}
}

// A caller that does not read its reply does not keep the daemon's goroutine.
func TestSlowReaderIsCutOff(t *testing.T) {
	ops := map[string]httpapi.Func{api.OpStatus: func(context.Context, httpapi.Caller, []byte) (any, error) {
		return api.Status{Repository: strings.Repeat("x", 1<<20)}, nil
	}}
	inBubble(t, ops, func(t *testing.T, conn net.Conn) {
		if _, err := io.WriteString(conn, "POST /v1/status HTTP/1.1\r\nHost: comity\r\nContent-Length: 2\r\n\r\n{}"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(httpapi.WriteTimeout + time.Second) // virtual
		if b, err := io.ReadAll(conn); err == nil && len(b) > 1<<20 {
			t.Errorf("the whole reply came after %v", httpapi.WriteTimeout)
		}
	})
}

// A long wait is not a slow caller: nothing bounds it but the operation.
func TestLongWaitIsAnswered(t *testing.T) {
	ops := map[string]httpapi.Func{api.OpClaim: func(ctx context.Context, _ httpapi.Caller, _ []byte) (any, error) {
		time.Sleep(time.Hour) // virtual
		return api.ClaimReply{WaitedMS: 1}, ctx.Err()
	}}
	inBubble(t, ops, func(t *testing.T, conn net.Conn) {
		if _, err := io.WriteString(conn, "POST /v1/claim HTTP/1.1\r\nHost: comity\r\nContent-Length: 2\r\n\r\n{}"); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || resp.StatusCode != 200 {
			t.Fatalf("%v, %v", resp, err)
		}
		resp.Body.Close()
	})
}

func TestSocketIsOnlyForItsUser(t *testing.T) {
	path := socket(t)
	l, err := httpapi.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(info.Mode().Perm()) != "-rw-------" {
		t.Errorf("mode %v", info.Mode())
	}
	l.Close()
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the socket is still there after Close: %v", err)
	}
}

func TestListenReplacesOnlyASocketThatNobodyAnswers(t *testing.T) {
	path := socket(t)
	first, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	if err != nil {
		t.Fatal(err)
	}
	first.SetUnlinkOnClose(false)
	if _, err := httpapi.Listen(path); err == nil {
		t.Error("Listen took the socket of a process that answers")
	}
	first.Close() // as after kill -9: the file stays
	second, err := httpapi.Listen(path)
	if err != nil {
		t.Fatalf("Listen over a stale socket: %v", err)
	}
	second.Close()

	if err := os.WriteFile(path, []byte("notes"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := httpapi.Listen(path); err == nil {
		t.Error("Listen took the place of a file")
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "notes" {
		t.Errorf("the file is now %q, %v", b, err)
	}
}

// The socket of the next daemon is not removed by the end of the last one.
func TestClosingALostListenerLeavesTheFileOfAnother(t *testing.T) {
	path := socket(t)
	first, err := httpapi.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	if first.Lost() {
		t.Error("a listener is lost from the start")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if !first.Lost() {
		t.Error("a listener without its file is not lost")
	}
	second, err := httpapi.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if second.Lost() {
		t.Error("closing the lost listener removed the other's file")
	}
}
