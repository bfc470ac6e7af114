package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/client"
	"github.com/comity-dev/comity/internal/home"
	"github.com/comity-dev/comity/internal/httpapi"
)

const (
	older = "20260101T000000-old"
	newer = "20260201T000000-new"
)

func TestRefusalIsTheSameErrorAsInTheDaemon(t *testing.T) {
	p := newPlace(t)
	refusal := api.Errorf(api.CodeConflict, "src/ is held by s-1").WithHint("wait")
	refusal.Conflicts = []api.Conflict{{Claim: "k/1", Session: "s-1", Epoch: 9}}
	p.here(newer, map[string]httpapi.Func{
		api.OpClaim: func(context.Context, httpapi.Caller, []byte) (any, error) { return nil, refusal },
	}, nil)
	_, err := p.client(&client.Options{NoStart: true}).Claim(t.Context(), api.ClaimRequest{Scope: []string{"src/"}})
	var e *api.Error
	if !errors.Is(err, api.ErrConflict) || errors.Is(err, api.ErrNotOwn) || !errors.As(err, &e) {
		t.Fatalf("err = %v", err)
	}
	if e.Message != refusal.Message || e.Hint != "wait" || len(e.Conflicts) != 1 || e.Conflicts[0].Epoch != 9 {
		t.Errorf("arrived as %+v", e)
	}
}

func TestRawReplyKeepsFieldsOfANewerDaemon(t *testing.T) {
	p := newPlace(t)
	p.here(newer, map[string]httpapi.Func{
		api.OpStatus: func(context.Context, httpapi.Caller, []byte) (any, error) {
			return map[string]any{"repository": "r", "new_field": 1}, nil
		},
	}, nil)
	c := p.client(&client.Options{NoStart: true})
	var raw json.RawMessage
	if err := c.Do(t.Context(), api.OpStatus, api.StatusRequest{}, &raw); err != nil || !strings.Contains(string(raw), `"new_field":1`) {
		t.Errorf("%s, %v", raw, err)
	}
	if st, err := c.Status(t.Context(), api.StatusRequest{}); err != nil || st.Repository != "r" {
		t.Errorf("%+v, %v", st, err)
	}
}

func TestWithoutADaemonNoStartIsUnreachable(t *testing.T) {
	p := newPlace(t)
	_, err := p.client(&client.Options{NoStart: true}).Status(t.Context(), api.StatusRequest{})
	var e *api.Error
	if !errors.Is(err, api.ErrUnreachable) || !errors.As(err, &e) || e.Hint == "" || e.Code.Exit() != 13 {
		t.Errorf("err = %v", err)
	}
	if _, running, _ := p.home().Running(); running {
		t.Error("a daemon was started")
	}
}

// Where others can write, whoever answers may be one of them: it is not called.
func TestNobodyIsCalledWhereAStrangerCouldAnswer(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes say nothing there")
	}
	p := newPlace(t)
	calls := 0
	p.here(newer, map[string]httpapi.Func{
		api.OpStatus: func(context.Context, httpapi.Caller, []byte) (any, error) {
			calls++
			return api.Status{}, nil
		},
	}, nil)
	c := p.client(&client.Options{NoStart: true})
	folder := filepath.Dir(p.home().Socket)
	for _, tt := range []struct {
		mode os.FileMode
		ok   bool
	}{{0o777, false}, {0o770, false}, {0o755, true}, {0o700, true}} {
		if err := os.Chmod(folder, tt.mode); err != nil {
			t.Fatal(err)
		}
		before := calls
		_, err := c.Status(t.Context(), api.StatusRequest{})
		if (err == nil) != tt.ok || (calls > before) != tt.ok || !tt.ok && !errors.Is(err, api.ErrUnreachable) {
			t.Errorf("folder of mode %o: %v, called %v; want it called = %v", tt.mode, err, calls > before, tt.ok)
		}
	}
}

func TestFirstCallStartsTheDaemon(t *testing.T) {
	p := newPlace(t)
	t.Setenv("TEST_DAEMON_BUILD", newer)
	v, err := p.client(&client.Options{Build: newer}).Version(t.Context(), api.Empty{})
	if err != nil || v.PID == os.Getpid() || v.Build != newer {
		t.Fatalf("%+v, %v", v, err)
	}
	again, err := p.client(&client.Options{Build: newer}).Version(t.Context(), api.Empty{})
	if err != nil || again.PID != v.PID {
		t.Errorf("the second call was answered by pid %d, want %d; %v", again.PID, v.PID, err)
	}
}

// However many commands come at once, one daemon answers them all.
func TestManyFirstCallsStartOneDaemon(t *testing.T) {
	p := newPlace(t)
	t.Setenv("TEST_DAEMON_BUILD", newer)
	pids := make([]int, 8)
	var wg sync.WaitGroup
	for i := range pids {
		c := p.client(&client.Options{Build: newer})
		wg.Go(func() {
			v, err := c.Version(t.Context(), api.Empty{})
			if err != nil {
				t.Error(err)
			}
			pids[i] = v.PID
		})
	}
	wg.Wait()
	for _, pid := range pids {
		if pid != pids[0] || pid == 0 {
			t.Fatalf("answered by pids %v, want one", pids)
		}
	}
}

func TestDaemonThatCannotServeIsNamedWithItsLastLine(t *testing.T) {
	p := newPlace(t)
	t.Setenv("TEST_DAEMON_FAILS", "the key file is damaged")
	_, err := p.client(nil).Status(t.Context(), api.StatusRequest{})
	if !errors.Is(err, api.ErrUnreachable) || !strings.Contains(err.Error(), "the key file is damaged") {
		t.Errorf("err = %v", err)
	}
}

// `comity stop` holds against hooks and gives way to a person.
func TestHoldIsLiftedByAPersonOnly(t *testing.T) {
	p := newPlace(t)
	if err := p.home().SetHeld(true); err != nil {
		t.Fatal(err)
	}
	if _, err := p.client(nil).Status(t.Context(), api.StatusRequest{}); !errors.Is(err, api.ErrHeld) {
		t.Errorf("a hook's call: %v, want ErrHeld", err)
	}
	if _, running, _ := p.home().Running(); running {
		t.Fatal("the hook's call started a daemon")
	}
	if _, err := p.client(&client.Options{Person: true}).Status(t.Context(), api.StatusRequest{}); err != nil {
		t.Errorf("a person's call: %v", err)
	}
	if held, err := p.home().Held(); held || err != nil {
		t.Errorf("held = %v, %v after a person's call", held, err)
	}
}

// The older daemon ends, ours takes over, and the call is done once, by ours.
func TestOlderDaemonIsReplaced(t *testing.T) {
	p := newPlace(t)
	acted := false
	p.here(older, map[string]httpapi.Func{
		api.OpClaim: func(context.Context, httpapi.Caller, []byte) (any, error) { acted = true; return api.ClaimReply{}, nil },
	}, nil)
	t.Setenv("TEST_DAEMON_BUILD", newer)
	c := p.client(&client.Options{Build: newer})
	if _, err := c.Claim(t.Context(), api.ClaimRequest{}); err != nil {
		t.Fatal(err)
	}
	if acted {
		t.Error("the older daemon did the call too")
	}
	if v, err := c.Version(t.Context(), api.Empty{}); err != nil || v.Build != newer {
		t.Errorf("now answers %+v, %v", v, err)
	}
}

func TestNewerDaemonServesAnOlderClient(t *testing.T) {
	p := newPlace(t)
	p.here(newer, nil, nil)
	c := p.client(&client.Options{Build: older})
	if _, err := c.Claim(t.Context(), api.ClaimRequest{}); err != nil {
		t.Error(err)
	}
	if v, err := c.Version(t.Context(), api.Empty{}); err != nil || v.PID != os.Getpid() {
		t.Errorf("now answers %+v, %v", v, err)
	}
}

func TestNoStartUsesAnOlderDaemonAsItIs(t *testing.T) {
	p := newPlace(t)
	p.here(older, nil, nil)
	if _, err := p.client(&client.Options{Build: newer, NoStart: true}).Claim(t.Context(), api.ClaimRequest{}); err != nil {
		t.Error(err)
	}
}

// A daemon that refuses to go is named with its pid and both builds.
func TestOlderDaemonThatDoesNotYield(t *testing.T) {
	p := newPlace(t)
	p.here(older, map[string]httpapi.Func{
		api.OpStop: func(context.Context, httpapi.Caller, []byte) (any, error) { return nil, api.ErrInternal },
	}, nil)
	_, err := p.client(&client.Options{Build: newer}).Claim(t.Context(), api.ClaimRequest{})
	var e *api.Error
	if !errors.As(err, &e) || e.Code != api.CodeOlderDaemon || e.Code.Exit() != 13 {
		t.Fatalf("err = %v", err)
	}
	for _, want := range []string{older, newer, "pid "} {
		if !strings.Contains(e.Message, want) {
			t.Errorf("%q does not name %q", e.Message, want)
		}
	}
}

// What was started in the older one's place may be as old: that is told, and not
// tried for ever.
func TestReplacementIsTriedOnce(t *testing.T) {
	p := newPlace(t)
	p.here(older, nil, nil)
	t.Setenv("TEST_DAEMON_BUILD", older)
	_, err := p.client(&client.Options{Build: newer}).Claim(t.Context(), api.ClaimRequest{})
	if !errors.Is(err, api.ErrOlderDaemon) || !strings.Contains(err.Error(), "no newer") {
		t.Errorf("err = %v", err)
	}
}

// A daemon that stops under a call says so, and the call is made again on the
// next one.
func TestCallGoesOnWithTheNextDaemon(t *testing.T) {
	p := newPlace(t)
	var stop func()
	stop = p.here(newer, map[string]httpapi.Func{
		api.OpClaim: func(context.Context, httpapi.Caller, []byte) (any, error) {
			go stop()
			return nil, api.ErrStopping
		},
	}, nil)
	t.Setenv("TEST_DAEMON_BUILD", newer)
	c := p.client(&client.Options{Build: newer})
	if _, err := c.Claim(t.Context(), api.ClaimRequest{}); err != nil {
		t.Fatal(err)
	}
	if v, err := c.Version(t.Context(), api.Empty{}); err != nil || v.PID == os.Getpid() {
		t.Errorf("answered by %+v, %v", v, err)
	}
}

// A daemon that dies in a call may have done it: only what changes nothing the
// second time is done again.
func TestDroppedCallIsRepeatedOnlyWhereThatIsHarmless(t *testing.T) {
	for _, tt := range []struct {
		op       string
		req      any
		repeated bool
	}{
		{api.OpStatus, api.StatusRequest{}, true},
		{api.OpClaim, api.ClaimRequest{}, true},
		{api.OpReviewRequest, api.ReviewRequestRequest{}, false},
		{api.OpHandoverPublish, api.HandoverPublishRequest{}, false},
	} {
		t.Run(tt.op, func(t *testing.T) {
			p := newPlace(t)
			dropped := p.dropsOne()
			t.Setenv("TEST_DAEMON_BUILD", newer)
			err := p.client(&client.Options{Build: newer}).Do(t.Context(), tt.op, tt.req, nil)
			dropped()
			if tt.repeated && err != nil {
				t.Errorf("err = %v, want an answer of the next daemon", err)
			}
			if !tt.repeated && (!errors.Is(err, api.ErrUnreachable) || !strings.Contains(err.Error(), "not known")) {
				t.Errorf("err = %v, want that the outcome is not known", err)
			}
			if _, running, _ := p.home().Running(); running != tt.repeated {
				t.Errorf("a daemon runs: %v, want %v", running, tt.repeated)
			}
		})
	}
}

// Started from another environment, a daemon listens elsewhere; its lock says
// where.
func TestDaemonIsFoundByItsLock(t *testing.T) {
	p := newPlace(t)
	p.hereAt(elsewhere(t), newer, nil, nil)
	v, err := p.client(&client.Options{NoStart: true}).Version(t.Context(), api.Empty{})
	if err != nil || v.PID != os.Getpid() {
		t.Errorf("%+v, %v", v, err)
	}
}

// A stopped or stuck daemon does not keep its callers.
func TestSilentDaemonIsUnreachable(t *testing.T) {
	p := newPlace(t)
	p.here(newer, map[string]httpapi.Func{
		api.OpStatus: func(ctx context.Context, _ httpapi.Caller, _ []byte) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
	}, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := p.client(&client.Options{NoStart: true}).Status(ctx, api.StatusRequest{}); !errors.Is(err, api.ErrUnreachable) {
		t.Errorf("err = %v, want ErrUnreachable", err)
	}
}

func TestInterruptedCallIsCanceled(t *testing.T) {
	p := newPlace(t)
	ctx, cancel := context.WithCancel(t.Context())
	p.here(newer, map[string]httpapi.Func{
		api.OpClaim: func(ctx context.Context, _ httpapi.Caller, _ []byte) (any, error) {
			cancel()
			<-ctx.Done()
			return nil, ctx.Err()
		},
	}, nil)
	if _, err := p.client(&client.Options{NoStart: true}).Claim(ctx, api.ClaimRequest{}); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v, want Canceled", err)
	}
}

func TestErrorsOfTheHomeHaveCodes(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want api.Code
	}{
		{&home.SocketError{Path: "/long", Err: home.ErrTooLong}, api.CodeSocketPath},
		{&home.FolderError{Dir: "/n", Err: home.ErrNetwork, Next: "x"}, api.CodeNetworkHome},
		{&home.FolderError{Dir: "/n", Err: home.ErrReadOnly, Next: "x"}, api.CodeReadOnly},
		{&home.FolderError{Dir: "/n", Err: home.ErrTooOpen, Next: "x"}, api.CodeUnreachable},
		{&home.LockedError{Info: home.Info{PID: 7, Build: "b"}}, api.CodeUnreachable},
		{&home.StartError{What: "ended", Line: "why"}, api.CodeUnreachable},
		{fs.ErrPermission, api.CodeUnreachable},
	} {
		var e *api.Error
		if err := client.HomeError(tt.err); !errors.As(err, &e) || e.Code != tt.want {
			t.Errorf("HomeError(%v) = %v, want code %s", tt.err, err, tt.want)
		}
	}
	if err := client.HomeError(&home.LockedError{Dir: "/state"}); strings.Contains(err.Error(), "pid 0") || !strings.Contains(err.Error(), "/state") {
		t.Errorf("a holder that has not said who it is: %v", err)
	}
	if client.HomeError(nil) != nil {
		t.Error("HomeError(nil) is an error")
	}
	if _, err := client.New(&client.Options{Getenv: func(string) string { return "" }}); err == nil {
		t.Error("a client without any place for its state was made")
	}
}

// However many clients of a newer build come at once, the older daemon is
// replaced once.
func TestManyReplaceOnce(t *testing.T) {
	p := newPlace(t)
	p.here(older, nil, nil)
	t.Setenv("TEST_DAEMON_BUILD", newer)
	pids := make([]int, 8)
	var wg sync.WaitGroup
	for i := range pids {
		c := p.client(&client.Options{Build: newer})
		wg.Go(func() {
			if _, err := c.Claim(t.Context(), api.ClaimRequest{}); err != nil {
				t.Error(err)
			}
			v, err := c.Version(t.Context(), api.Empty{})
			if err != nil {
				t.Error(err)
			}
			pids[i] = v.PID
		})
	}
	wg.Wait()
	for _, pid := range pids {
		if pid != pids[0] || pid == os.Getpid() || pid == 0 {
			t.Fatalf("answered by pids %v, want one new one", pids)
		}
	}
}

// Who was waiting when a person stopped the daemon does not start it again, not
// even for a person.
func TestStopEndsTheCallsOfPeopleToo(t *testing.T) {
	p := newPlace(t)
	var stop func()
	stop = p.here(newer, map[string]httpapi.Func{
		api.OpClaim: func(context.Context, httpapi.Caller, []byte) (any, error) {
			if err := p.home().SetHeld(true); err != nil {
				return nil, err
			}
			go stop()
			return nil, api.ErrStopping
		},
	}, nil)
	_, err := p.client(&client.Options{Build: newer, Person: true}).Claim(t.Context(), api.ClaimRequest{WaitMS: 60_000})
	if !errors.Is(err, api.ErrHeld) {
		t.Errorf("err = %v, want ErrHeld", err)
	}
	if held, err := p.home().Held(); !held || err != nil {
		t.Errorf("held = %v, %v", held, err)
	}
}
