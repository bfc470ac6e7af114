package httpapi_test

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/internal/httpapi"
)

// operations is a function for every operation that answers its zero reply, but
// where with has another.
func operations(with map[string]httpapi.Func) map[string]httpapi.Func {
	ops := make(map[string]httpapi.Func)
	for _, op := range api.Operations() {
		if op.Name != api.OpWatch {
			ops[op.Name] = func(context.Context, httpapi.Caller, []byte) (any, error) { return op.Reply, nil }
		}
	}
	for name, f := range with {
		ops[name] = f
	}
	return ops
}

func quiet(ctx context.Context, _ httpapi.Caller, _ api.WatchRequest, _ func(api.Change) error) error {
	<-ctx.Done()
	return ctx.Err()
}

// socket is a path that fits into a socket's name on every system.
func socket(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "c")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "s")
}

// serve runs a daemon of ops and returns a client of it.
func serve(t testing.TB, ops map[string]httpapi.Func, watch httpapi.Watch, o *httpapi.Options) *http.Client {
	t.Helper()
	h, err := httpapi.Handler(operations(ops), watch, o)
	if err != nil {
		t.Fatal(err)
	}
	path := socket(t)
	l, err := httpapi.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	srv := httpapi.NewServer(h, nil)
	done := make(chan error, 1)
	go func() { done <- srv.Serve(l) }()
	t.Cleanup(func() {
		srv.Close()
		<-done
	})
	tr := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}
