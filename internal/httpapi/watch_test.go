package httpapi_test

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/internal/httpapi"
)

func TestWatchSendsChangesAndThenTheReason(t *testing.T) {
	var got api.WatchRequest
	c := serve(t, nil, func(_ context.Context, _ httpapi.Caller, req api.WatchRequest, emit func(api.Change) error) error {
		got = req
		for _, cursor := range []string{"c1", "c2"} {
			if err := emit(api.Change{Cursor: cursor}); err != nil {
				return err
			}
		}
		return api.ErrStopping
	}, nil)
	status, body := post(t, c, "/v1/watch", `{"dir":"/a","after":"c0"}`)
	if status != 200 || got.After != "c0" || got.Dir != "/a" {
		t.Errorf("%d, request %+v", status, got)
	}
	want := "data: {\"cursor\":\"c1\"}\n\ndata: {\"cursor\":\"c2\"}\n\nevent: error\ndata: {\"error\":{\"code\":\"stopping\""
	if !strings.HasPrefix(body, want) || !strings.HasSuffix(body, "\n\n") {
		t.Errorf("stream %q", body)
	}
}

// Before the first event a refusal is an ordinary one, with its status.
func TestWatchIsRefusedWithItsStatus(t *testing.T) {
	c := serve(t, nil, func(context.Context, httpapi.Caller, api.WatchRequest, func(api.Change) error) error {
		return api.ErrCursor
	}, nil)
	if status, body := post(t, c, "/v1/watch", `{}`); status != 410 || code(t, body) != api.CodeCursor {
		t.Errorf("%d %s", status, body)
	}
	if status, body := post(t, c, "/v1/watch", `{"after":1}`); status != 400 || code(t, body) != api.CodeUsage {
		t.Errorf("malformed: %d %s", status, body)
	}
}

func TestWatchEndsWhenTheReaderHangsUp(t *testing.T) {
	ended := make(chan error, 1)
	c := serve(t, nil, func(ctx context.Context, _ httpapi.Caller, _ api.WatchRequest, emit func(api.Change) error) error {
		err := emit(api.Change{Cursor: "c1"})
		if err == nil {
			<-ctx.Done()
			err = ctx.Err()
		}
		ended <- err
		return err
	}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "POST", "http://comity/v1/watch", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if line, err := bufio.NewReader(resp.Body).ReadString('\n'); err != nil || line != "data: {\"cursor\":\"c1\"}\n" {
		t.Fatalf("first line %q, %v", line, err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the watch ended with %v", err)
	}
}

// A quiet stream is commented, so that neither side takes it for dead.
func TestQuietStreamIsKeptAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, err := httpapi.Handler(operations(nil), quiet, nil)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*httpapi.KeepAlive+time.Second)
		defer cancel()
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, "POST", "/v1/watch", strings.NewReader("{}")))
		if got := w.Body.String(); got != ": alive\n\n: alive\n\n" {
			t.Errorf("stream %q, want two comments", got)
		}
		if ct := w.Header().Get("Content-Type"); ct != "text/event-stream" {
			t.Errorf("Content-Type %q", ct)
		}
	})
}
