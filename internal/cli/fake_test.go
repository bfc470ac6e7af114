package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/internal/cli"
	"github.com/comity-dev/comity/internal/home"
	"github.com/comity-dev/comity/internal/httpapi"
	"golang.org/x/text/width"
)

// A fake is a daemon that answers what a test says, and the environment in which
// the program finds it.
type fake struct {
	t       *testing.T
	env     map[string]string
	stdin   string
	ops     map[string]httpapi.Func
	watch   httpapi.Watch
	mu      sync.Mutex                 // guards asked
	asked   map[string]json.RawMessage // the last request of each operation
	replies map[string]any
	errs    map[string]error
}

func newFake(t *testing.T) *fake {
	t.Helper()
	dir, err := os.MkdirTemp("", "c")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return &fake{
		t: t, env: map[string]string{"COMITY_HOME": dir}, ops: map[string]httpapi.Func{},
		asked: map[string]json.RawMessage{}, replies: map[string]any{}, errs: map[string]error{},
	}
}

// serve begins to answer.
func (f *fake) serve() *fake {
	f.t.Helper()
	all := map[string]httpapi.Func{}
	for _, op := range api.Operations() {
		if op.Name == api.OpWatch {
			continue
		}
		all[op.Name] = func(ctx context.Context, c httpapi.Caller, body []byte) (any, error) {
			f.mu.Lock()
			f.asked[op.Name] = body
			f.mu.Unlock()
			if g := f.ops[op.Name]; g != nil {
				return g(ctx, c, body)
			}
			if err := f.errs[op.Name]; err != nil {
				return nil, err
			}
			if rep := f.replies[op.Name]; rep != nil {
				return rep, nil
			}
			return op.Reply, nil
		}
	}
	watch := f.watch
	if watch == nil {
		watch = func(ctx context.Context, _ httpapi.Caller, _ api.WatchRequest, _ func(api.Change) error) error {
			<-ctx.Done()
			return nil
		}
	}
	h, err := httpapi.Handler(all, watch, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	place, err := home.Locate(f.getenv)
	if err != nil {
		f.t.Fatal(err)
	}
	l, err := httpapi.Listen(place.Socket)
	if err != nil {
		f.t.Fatal(err)
	}
	srv := httpapi.NewServer(h, nil)
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(l) }()
	f.t.Cleanup(func() {
		srv.Close()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			f.t.Errorf("daemon: %v", err)
		}
	})
	return f
}

func (f *fake) getenv(name string) string { return f.env[name] }

// A result is what one run of the program left.
type result struct {
	code        int
	out, errout string
}

// patient is a context for a test that does not ask how soon a hook is answered.
func patient(t *testing.T) context.Context { return cli.Patient(t.Context(), 30*time.Second) }

// run is one command line. It never starts a daemon, and what it prints for
// people always fits.
func (f *fake) run(args ...string) result {
	f.t.Helper()
	return f.runContext(patient(f.t), args...)
}

func (f *fake) runContext(ctx context.Context, args ...string) result {
	f.t.Helper()
	var out, errout bytes.Buffer
	code := cli.Run(ctx, append([]string{"--no-start"}, args...), strings.NewReader(f.stdin), &out, &errout, f.getenv)
	r := result{code, out.String(), errout.String()}
	if !strings.Contains(strings.Join(args, " "), "--json") {
		if args := strings.Join(args, " "); !strings.Contains(args, "hook claude") { // which speaks JSON
			fits(f.t, []string{args}, r.out)
		}
		fits(f.t, args, r.errout)
	}
	harmless(f.t, args, r.out+r.errout)
	return r
}

// fits says which lines are over 80 columns, by another table than the program's.
func fits(t *testing.T, args []string, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		n := 0
		for _, r := range line {
			n++
			if k := width.LookupRune(r).Kind(); k == width.EastAsianWide || k == width.EastAsianFullwidth {
				n++
			}
		}
		if n > 80 {
			t.Errorf("%v printed a line of %d columns:\n%s", args, n, line)
		}
	}
}

// harmless says when something that a terminal would obey was printed.
func harmless(t *testing.T, args []string, text string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Errorf("%v printed broken UTF-8: %q", args, text)
	}
	for _, r := range text {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			t.Errorf("%v printed %U:\n%q", args, r, text)
			return
		}
	}
}

// request decodes the last request of op.
func request[T any](f *fake, op string) (req T) {
	f.t.Helper()
	f.mu.Lock()
	b, ok := f.asked[op]
	f.mu.Unlock()
	if !ok {
		f.t.Fatalf("%s was not asked for", op)
	}
	if err := json.Unmarshal(b, &req); err != nil {
		f.t.Fatal(err)
	}
	return req
}

const (
	keyA = "12192c67b19625a46849b8487b314522-84040c0a9c0d9bba-972572093d36a033/4"
	keyB = "12192c67b19625a46849b8487b314522-84040c0a9c0d9bba-0aaf172093d36a0e/17"
)

func conflict() api.Conflict {
	return api.Conflict{
		Claim: keyA, Short: "972572/4", Epoch: 4, Session: "s-77", Client: "claude", By: "ada", Intent: "split the lexer",
		Scope: []string{"dir:src"}, Mode: api.ModeExclusive, Meets: "src/a.go", Live: "live", AgeMS: 190_000,
	}
}

// runPlain is the output of a run whose text is for a shell and not for people.
func (f *fake) runPlain(args ...string) string {
	f.t.Helper()
	var out, errout bytes.Buffer
	if code := cli.Run(f.t.Context(), args, strings.NewReader(""), &out, &errout, f.getenv); code != 0 {
		f.t.Errorf("%v: exit %d, %s", args, code, errout.String())
	}
	return out.String()
}
