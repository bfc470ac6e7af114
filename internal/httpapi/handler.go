package httpapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/comity-dev/comity/api"
)

// Options of a handler; nil and zero mean the defaults.
type Options struct {
	Build string       // build of this daemon; "" = unknown, replaced by nobody
	Log   *slog.Logger // where failures of the daemon itself go; nil = nowhere
}

// Handler serves ops, one function for each of [api.Operations] but watch, and
// watch itself. It is an error when a function is missing or is of no operation,
// so that description and daemon cannot disagree.
func Handler(ops map[string]Func, watch Watch, o *Options) (http.Handler, error) {
	if o == nil {
		o = new(Options)
	}
	log := o.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	if watch == nil {
		return nil, fmt.Errorf("httpapi: no function for %s", api.OpWatch)
	}
	doc, err := OpenAPI()
	if err != nil {
		return nil, fmt.Errorf("httpapi: describe the operations: %w", err)
	}
	s := &server{build: o.Build, log: log, watch: watch, doc: doc, routes: make(map[string]route)}
	if err := s.add(ops); err != nil {
		return nil, err
	}
	return s, nil
}

// Route is the path of an operation.
func Route(op string) string { return "/v1/" + strings.ReplaceAll(op, ".", "/") }

const openAPIPath = "/v1/openapi.json"

type server struct {
	build  string
	log    *slog.Logger
	watch  Watch
	doc    []byte
	routes map[string]route // by path
}

type route struct {
	op   string
	call Func // nil: watch
}

func (s *server) add(ops map[string]Func) error {
	left := make(map[string]bool, len(ops))
	for op := range ops {
		left[op] = true
	}
	for _, op := range api.Operations() {
		delete(left, op.Name)
		f := ops[op.Name]
		if f == nil && op.Name != api.OpWatch {
			return fmt.Errorf("httpapi: no function for operation %s", op.Name)
		}
		if f != nil && op.Name == api.OpWatch {
			return fmt.Errorf("httpapi: %s is a stream and has no function", op.Name)
		}
		s.routes[Route(op.Name)] = route{op: op.Name, call: f}
	}
	for op := range left {
		return fmt.Errorf("httpapi: a function for %s, which is no operation", op)
	}
	return nil
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.build != "" {
		w.Header().Set(HeaderBuild, s.build)
	}
	w.Header().Set(HeaderPID, strconv.Itoa(os.Getpid()))
	w.Header().Set("Cache-Control", "no-store")
	who := peerOf(r.Context())
	if who.stranger {
		s.fail(w, r, 0, api.Errorf(api.CodeUntrusted, "this daemon serves only the user that runs it"))
		return
	}
	if r.URL.Path == openAPIPath {
		s.describe(w, r)
		return
	}
	rt, ok := s.routes[r.URL.Path]
	if !ok {
		s.fail(w, r, http.StatusNotFound, api.Errorf(api.CodeUsage, "no operation %q", r.URL.Path).
			WithHint("GET %s lists the operations of this build", openAPIPath))
		return
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		s.fail(w, r, http.StatusMethodNotAllowed, api.Errorf(api.CodeUsage, "%s takes POST, not %s", r.URL.Path, r.Method))
		return
	}
	s.serve(w, r, rt, who.Caller)
}

func (s *server) serve(w http.ResponseWriter, r *http.Request, rt route, c Caller) {
	if err := s.yields(rt.op, r.Header.Get(HeaderBuild)); err != nil {
		s.fail(w, r, 0, err)
		return
	}
	body, err := read(w, r)
	if err != nil {
		s.fail(w, r, 0, err)
		return
	}
	if rt.call == nil {
		s.stream(w, r, c, body)
		return
	}
	rep, err := s.call(r.Context(), rt, c, body)
	if err != nil {
		s.fail(w, r, 0, err)
		return
	}
	s.reply(w, r, rep)
}

// yields refuses a call of a newer build before anything of it is done: the
// caller then asks this daemon to stop, starts its own and calls again.
func (s *server) yields(op, build string) error {
	if op == api.OpStop || op == api.OpVersion || op == api.OpDoctor || !newer(build, s.build) {
		return nil
	}
	e := api.Errorf(api.CodeOlderDaemon, "daemon pid %d is build %s, older than %s", os.Getpid(), s.build, build)
	e.Detail = map[string]any{"pid": os.Getpid(), "build": s.build}
	return e
}

// newer reports whether build a may replace the running build b. A build id
// begins with a time of one width, so the later one sorts last; two builds that
// are installed side by side do not replace each other for ever.
func newer(a, b string) bool { return a != "" && b != "" && a > b }

// read takes the whole body before the call: from then on the request's context
// ends when the caller hangs up.
func read(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxRequestBytes))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		e := api.Errorf(api.CodeBound, "request is over %d bytes", MaxRequestBytes)
		e.Detail = map[string]any{"limit": MaxRequestBytes}
		return nil, e
	}
	if err != nil {
		return nil, api.Errorf(api.CodeUsage, "request ended early: %v", err)
	}
	return body, nil
}

// call runs the operation; a panic in it costs this call and not the daemon.
func (s *server) call(ctx context.Context, rt route, c Caller, body []byte) (rep any, err error) {
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("operation panicked", "op", rt.op, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = api.Errorf(api.CodeInternal, "%s stopped on an error of comity itself: %v", rt.op, p).
				WithHint("the daemon's log has the details: daemon.log in the state folder")
		}
	}()
	return rt.call(ctx, c, body)
}

func (s *server) describe(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		s.fail(w, r, http.StatusMethodNotAllowed, api.Errorf(api.CodeUsage, "%s takes GET, not %s", openAPIPath, r.Method))
		return
	}
	s.write(w, r, http.StatusOK, s.doc)
}

func (s *server) reply(w http.ResponseWriter, r *http.Request, rep any) {
	b, err := encode(rep)
	if err != nil {
		s.fail(w, r, 0, api.Errorf(api.CodeInternal, "encode the reply: %v", err))
		return
	}
	s.write(w, r, http.StatusOK, b)
}

// fail answers with err; status 0 means the one of its code.
func (s *server) fail(w http.ResponseWriter, r *http.Request, status int, err error) {
	e := outgoing(err)
	if status == 0 {
		status = e.Status()
	}
	if e.Code == api.CodeInternal {
		s.log.Error("operation failed", "path", r.URL.Path, "error", e.Message)
	}
	b, err := encode(api.Failure{Error: e})
	if err != nil { // a detail that is no JSON
		b, _ = encode(api.Failure{Error: &api.Error{Code: e.Code, Message: e.Message, Hint: e.Hint}})
	}
	s.write(w, r, status, b)
}

func (s *server) write(w http.ResponseWriter, r *http.Request, status int, b []byte) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(WriteTimeout)) // not every writer has deadlines
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(b)+1))
	w.WriteHeader(status)
	if _, err := w.Write(append(bytes.Clone(b), '\n')); err != nil {
		s.log.Debug("reply not delivered", "path", r.URL.Path, "error", err)
	}
}

// outgoing is err as it leaves the process: typed, and without secrets that a
// path or a command's output may have carried into its words.
func outgoing(err error) *api.Error {
	from := api.AsError(err)
	e := *from
	e.Message, e.Hint = redacted(e.Message), redacted(e.Hint)
	e.Conflicts = slices.Clone(e.Conflicts)
	if len(e.Detail) > 0 {
		e.Detail = make(map[string]any, len(from.Detail))
		for k, v := range from.Detail {
			if s, ok := v.(string); ok {
				v = redacted(s)
			}
			e.Detail[k] = v
		}
	}
	return &e
}
