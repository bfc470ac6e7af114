package client_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/client"
	"github.com/comity-dev/comity/internal/httpapi"
)

var errSeen = errors.New("seen enough")

// Whatever ends the stream in between, each change is told once and in order.
func TestWatchGoesOnWhereItWas(t *testing.T) {
	p := newPlace(t)
	calls := 0
	p.here(newer, nil, func(ctx context.Context, _ httpapi.Caller, req api.WatchRequest, emit func(api.Change) error) error {
		calls++
		from := 0
		fmt.Sscanf(req.After, "c%d", &from)
		for i := from + 1; i <= from+2; i++ {
			if err := emit(api.Change{Cursor: fmt.Sprintf("c%d", i)}); err != nil {
				return err
			}
		}
		return nil // the stream ends after two
	})
	var got []string
	err := p.client(&client.Options{NoStart: true}).Watch(t.Context(), api.WatchRequest{}, func(ch api.Change) error {
		if got = append(got, ch.Cursor); len(got) == 5 {
			return errSeen
		}
		return nil
	})
	if !errors.Is(err, errSeen) || fmt.Sprint(got) != "[c1 c2 c3 c4 c5]" {
		t.Errorf("saw %v, %v", got, err)
	}
	if calls != 3 {
		t.Errorf("%d streams, want 3", calls)
	}
}

func TestWatchTellsARefusal(t *testing.T) {
	p := newPlace(t)
	early := true
	p.here(newer, nil, func(_ context.Context, _ httpapi.Caller, _ api.WatchRequest, emit func(api.Change) error) error {
		if !early {
			if err := emit(api.Change{Cursor: "c1"}); err != nil {
				return err
			}
		}
		return api.ErrCursor
	})
	for _, early = range []bool{true, false} {
		n := 0
		err := p.client(&client.Options{NoStart: true}).Watch(t.Context(), api.WatchRequest{After: "x"}, func(api.Change) error {
			if n++; n > 3 {
				return errSeen
			}
			return nil
		})
		if !errors.Is(err, api.ErrCursor) {
			t.Errorf("early %v: err = %v, want ErrCursor", early, err)
		}
	}
}

func TestWatchEndsWithItsContext(t *testing.T) {
	p := newPlace(t)
	p.here(newer, nil, func(ctx context.Context, _ httpapi.Caller, _ api.WatchRequest, emit func(api.Change) error) error {
		if err := emit(api.Change{Cursor: "c1"}); err != nil {
			return err
		}
		<-ctx.Done()
		return ctx.Err()
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := p.client(&client.Options{NoStart: true}).Watch(ctx, api.WatchRequest{}, func(api.Change) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v, want Canceled", err)
	}
}

// A daemon that stops hands its followers to the next one.
func TestWatchGoesOnWithTheNextDaemon(t *testing.T) {
	p := newPlace(t)
	t.Setenv("TEST_DAEMON_BUILD", newer)
	var stop func()
	stop = p.here(newer, nil, func(ctx context.Context, _ httpapi.Caller, _ api.WatchRequest, emit func(api.Change) error) error {
		if err := emit(api.Change{Cursor: "c1"}); err != nil {
			return err
		}
		go stop()
		return api.ErrStopping
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	c := p.client(&client.Options{Build: newer})
	go func() {
		ended <- c.Watch(ctx, api.WatchRequest{}, func(api.Change) error { return nil })
	}()
	for {
		v, err := p.client(&client.Options{NoStart: true}).Version(t.Context(), api.Empty{})
		if err == nil && v.PID != os.Getpid() {
			break // started by the watch alone
		}
		select {
		case err := <-ended:
			t.Fatalf("the watch ended: %v", err)
		default:
		}
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v, want Canceled", err)
	}
}
