package httpapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/internal/httpapi"
)

func post(t testing.TB, c *http.Client, path, body string) (int, string) {
	t.Helper()
	resp, err := c.Post("http://comity"+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// code is the code of a failure.
func code(t testing.TB, body string) api.Code {
	t.Helper()
	var f api.Failure
	if err := json.Unmarshal([]byte(body), &f); err != nil || f.Error == nil {
		t.Fatalf("no failure in %q", body)
	}
	return f.Error.Code
}

func TestRequestReachesItsOperationAndTheReplyComesBack(t *testing.T) {
	var got api.ClaimRequest
	var caller httpapi.Caller
	c := serve(t, map[string]httpapi.Func{
		api.OpClaim: httpapi.Handle(func(_ context.Context, who httpapi.Caller, req api.ClaimRequest) (api.ClaimReply, error) {
			got, caller = req, who
			return api.ClaimReply{Claim: api.Claim{Claim: "k/1", Epoch: 7, Standing: api.StandingHeld}}, nil
		}),
	}, quiet, nil)
	status, body := post(t, c, "/v1/claim", `{"dir":"/src","session":"s-1","scope":["a/"],"later_field":{"x":1}}`)
	if status != 200 {
		t.Fatalf("status %d: %s", status, body)
	}
	if got.Dir != "/src" || got.Session != "s-1" || len(got.Scope) != 1 || got.Scope[0] != "a/" {
		t.Errorf("the operation got %+v", got)
	}
	if caller.PID != 0 && caller.PID != os.Getpid() {
		t.Errorf("caller pid = %d, want this process %d", caller.PID, os.Getpid())
	}
	var rep api.ClaimReply
	if err := json.Unmarshal([]byte(body), &rep); err != nil || rep.Claim.Claim != "k/1" || rep.Epoch != 7 {
		t.Errorf("reply %s: %v", body, err)
	}
	if strings.Contains(body, "null") {
		t.Errorf("a list in the reply is null: %s", body)
	}
	if strings.Contains(body, "waited_ms") {
		t.Errorf("a zero field marked omitempty is in the reply: %s", body)
	}
}

// Every code arrives with its status, and as an error whose sentinel is found
// by errors.Is: what branches on the daemon's side branches on the client's.
func TestEverySentinelCrossesTheWire(t *testing.T) {
	sentinels := []error{
		api.ErrUsage, api.ErrScope, api.ErrOutside, api.ErrBound, api.ErrNoSession, api.ErrConflict, api.ErrNotOwn,
		api.ErrFenced, api.ErrUntrusted, api.ErrSessionClosed, api.ErrWaitedOut, api.ErrCycle, api.ErrGap, api.ErrCursor,
		api.ErrUnknownSession, api.ErrUnknownClaim, api.ErrUnknownHandover, api.ErrUnknownReview, api.ErrAmbiguous,
		api.ErrNoRepository, api.ErrEmptyRepository, api.ErrShallow, api.ErrDamagedKey, api.ErrDiskFull, api.ErrReadOnly,
		api.ErrNewerFormat, api.ErrPoisoned, api.ErrUnreachable, api.ErrOlderDaemon, api.ErrHeld, api.ErrSocketPath,
		api.ErrNetworkHome, api.ErrStopping, api.ErrInternal,
	}
	var now error
	c := serve(t, map[string]httpapi.Func{
		api.OpCheck: func(context.Context, httpapi.Caller, []byte) (any, error) { return nil, now },
	}, quiet, nil)
	for _, sentinel := range sentinels {
		now = fmt.Errorf("check a.go: %w", sentinel)
		status, body := post(t, c, "/v1/check", `{}`)
		var f api.Failure
		if err := json.Unmarshal([]byte(body), &f); err != nil || f.Error == nil {
			t.Errorf("%v: answer %q", sentinel, body)
			continue
		}
		if !errors.Is(f.Error, sentinel) || f.Error.Message != now.Error() {
			t.Errorf("%v arrived as %v, %q", sentinel, f.Error.Code, f.Error.Message)
		}
		if status != f.Error.Status() {
			t.Errorf("%v: status %d, want %d", sentinel, status, f.Error.Status())
		}
	}
}

func TestConflictsHintAndDetailCrossTheWire(t *testing.T) {
	e := api.Errorf(api.CodeConflict, "src/ is held").WithHint("wait")
	e.Detail = map[string]any{"limit": 5}
	e.Conflicts = []api.Conflict{{Claim: "k/1", Session: "s-1", Meets: "src/a"}}
	c := serve(t, map[string]httpapi.Func{
		api.OpClaim: func(context.Context, httpapi.Caller, []byte) (any, error) { return nil, fmt.Errorf("claim: %w", e) },
	}, quiet, nil)
	status, body := post(t, c, "/v1/claim", "")
	var f api.Failure
	if err := json.Unmarshal([]byte(body), &f); err != nil {
		t.Fatal(err)
	}
	if status != 409 || f.Error.Hint != "wait" || len(f.Error.Conflicts) != 1 || f.Error.Conflicts[0].Meets != "src/a" || fmt.Sprint(f.Error.Detail["limit"]) != "5" {
		t.Errorf("%d %+v", status, f.Error)
	}
}

func TestMalformedRequestsNeverReachTheOperation(t *testing.T) {
	called := false
	c := serve(t, map[string]httpapi.Func{
		api.OpCheck: httpapi.Handle(func(context.Context, httpapi.Caller, api.CheckRequest) (api.CheckReply, error) {
			called = true
			return api.CheckReply{}, nil
		}),
	}, quiet, nil)
	for _, tt := range []struct {
		name, body string
		want       api.Code
	}{
		{"cut", `{"dir":`, api.CodeUsage},
		{"no object", `"dir"`, api.CodeUsage},
		{"wrong type", `{"dir":1}`, api.CodeUsage},
		{"a second value", `{} {}`, api.CodeUsage},
		{"repeated name", `{"dir":"/a","dir":"/b"}`, api.CodeUsage},
		{"broken UTF-8", "{\"dir\":\"\xff\"}", api.CodeUsage},
		{"fraction for a whole number", `{"epoch":1.5}`, api.CodeUsage},
		{"negative epoch", `{"epoch":-1}`, api.CodeUsage},
		{"too deep", `{"x":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}`, api.CodeBound},
		{"too large", `{"dir":"` + strings.Repeat("a", httpapi.MaxRequestBytes) + `"}`, api.CodeBound},
	} {
		if status, body := post(t, c, "/v1/check", tt.body); code(t, body) != tt.want || status != 400 {
			t.Errorf("%s: %d %s, want 400 %s", tt.name, status, body, tt.want)
		}
		if called {
			t.Fatalf("%s: the operation was called", tt.name)
		}
	}
	if _, body := post(t, c, "/v1/check", " \n"); !called {
		t.Errorf("an empty body did not reach the operation: %s", body)
	}
}

func TestLargestRequestIsTaken(t *testing.T) {
	c := serve(t, nil, quiet, nil)
	const frame = len(`{"dir":""}`)
	body := `{"dir":"` + strings.Repeat("a", httpapi.MaxRequestBytes-frame) + `"}`
	if status, answer := post(t, c, "/v1/check", body); status != 200 {
		t.Errorf("%d bytes: %d %s", len(body), status, answer)
	}
}

func TestOtherRoutesAndMethodsAreTypedRefusals(t *testing.T) {
	c := serve(t, nil, quiet, nil)
	if status, body := post(t, c, "/v1/nothing", "{}"); status != 404 || code(t, body) != api.CodeUsage {
		t.Errorf("unknown route: %d %s", status, body)
	}
	for _, path := range []string{"/v1/check", "/v1/watch"} {
		resp, err := c.Get("http://comity" + path)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != 405 || resp.Header.Get("Allow") != "POST" {
			t.Errorf("GET %s: %d, Allow %q", path, resp.StatusCode, resp.Header.Get("Allow"))
		}
	}
}

// A bug in one operation costs that call; the next one is served.
func TestPanicCostsOneCall(t *testing.T) {
	first := true
	c := serve(t, map[string]httpapi.Func{
		api.OpStatus: func(context.Context, httpapi.Caller, []byte) (any, error) {
			if first {
				first = false
				panic("nil map")
			}
			return api.Status{}, nil
		},
	}, quiet, nil)
	if status, body := post(t, c, "/v1/status", "{}"); status != 500 || code(t, body) != api.CodeInternal {
		t.Errorf("panic: %d %s", status, body)
	}
	if status, body := post(t, c, "/v1/status", "{}"); status != 200 {
		t.Errorf("after it: %d %s", status, body)
	}
}

func TestSecretsDoNotLeaveInErrors(t *testing.T) {
	token := "ghp_" + strings.Repeat("a1B2", 9)
	shared := api.Errorf(api.CodeInternal, "git says %s", token).WithHint("use %s", token)
	shared.Detail = map[string]any{"remote": "https://" + token + "@host"}
	c := serve(t, map[string]httpapi.Func{
		api.OpStatus: func(context.Context, httpapi.Caller, []byte) (any, error) { return nil, shared },
	}, quiet, nil)
	if _, body := post(t, c, "/v1/status", "{}"); strings.Contains(body, token) {
		t.Errorf("the secret left: %s", body)
	}
	if !strings.Contains(shared.Message, token) {
		t.Error("the operation's own error was changed")
	}
}

// An older daemon does nothing for a caller that is ready to replace it, so
// that the call can be made again without being done twice.
func TestOlderDaemonYieldsBeforeItActs(t *testing.T) {
	for _, tt := range []struct {
		name, daemon, caller, path string
		yields                     bool
	}{
		{"same build", "20260102T000000-a", "20260102T000000-a", "/v1/claim", false},
		{"newer caller", "20260102T000000-a", "20260103T000000-b", "/v1/claim", true},
		{"older caller", "20260102T000000-a", "20260101T000000-b", "/v1/claim", false},
		{"silent caller", "20260102T000000-a", "", "/v1/claim", false},
		{"unknown daemon", "", "20260103T000000-b", "/v1/claim", false},
		{"stop", "20260102T000000-a", "20260103T000000-b", "/v1/stop", false},
		{"version", "20260102T000000-a", "20260103T000000-b", "/v1/version", false},
		{"watch", "20260102T000000-a", "20260103T000000-b", "/v1/watch", true},
	} {
		acted := false
		act := func(context.Context, httpapi.Caller, []byte) (any, error) { acted = true; return api.Empty{}, nil }
		c := serve(t, map[string]httpapi.Func{api.OpClaim: act, api.OpStop: act, api.OpVersion: act},
			func(context.Context, httpapi.Caller, api.WatchRequest, func(api.Change) error) error {
				acted = true
				return nil
			},
			&httpapi.Options{Build: tt.daemon})
		req, err := http.NewRequest("POST", "http://comity"+tt.path, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		if tt.caller != "" {
			req.Header.Set(httpapi.HeaderBuild, tt.caller)
		}
		resp, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.Header.Get(httpapi.HeaderBuild) != tt.daemon || resp.Header.Get(httpapi.HeaderPID) == "" {
			t.Errorf("%s: headers %v", tt.name, resp.Header)
		}
		if acted == tt.yields {
			t.Errorf("%s: acted = %v", tt.name, acted)
		}
		if tt.yields && code(t, string(b)) != api.CodeOlderDaemon {
			t.Errorf("%s: %s", tt.name, b)
		}
	}
}

func TestHandlerNeedsExactlyTheOperations(t *testing.T) {
	some := func(context.Context, httpapi.Caller, []byte) (any, error) { return nil, nil }
	missing := operations(nil)
	delete(missing, api.OpCheck)
	if _, err := httpapi.Handler(missing, quiet, nil); err == nil || !strings.Contains(err.Error(), api.OpCheck) {
		t.Errorf("without check: %v", err)
	}
	if _, err := httpapi.Handler(operations(map[string]httpapi.Func{"chekc": some}), quiet, nil); err == nil || !strings.Contains(err.Error(), "chekc") {
		t.Errorf("with chekc: %v", err)
	}
	if _, err := httpapi.Handler(operations(map[string]httpapi.Func{api.OpWatch: some}), quiet, nil); err == nil {
		t.Error("a function for watch was taken")
	}
	if _, err := httpapi.Handler(operations(nil), nil, nil); err == nil {
		t.Error("no watch was taken")
	}
}

// An operation learns when its caller has hung up: a queued claim of a dead
// process must not stay in the queue.
func TestHangingUpEndsTheOperation(t *testing.T) {
	begun, ended := make(chan bool), make(chan error, 1)
	c := serve(t, map[string]httpapi.Func{
		api.OpClaim: func(ctx context.Context, _ httpapi.Caller, _ []byte) (any, error) {
			close(begun)
			<-ctx.Done()
			ended <- ctx.Err()
			return nil, ctx.Err()
		},
	}, quiet, nil)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-begun
		cancel()
	}()
	req, err := http.NewRequestWithContext(ctx, "POST", "http://comity/v1/claim", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	if resp, err := c.Do(req); err == nil {
		resp.Body.Close()
		t.Error("the call was answered")
	}
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the operation ended with %v", err)
	}
}
