package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/comity-dev/comity/api"
)

// attacks is how many random inputs of a kind are tried.
func attacks() int {
	if testing.Short() {
		return 20
	}
	return 200
}

// hostile are words and values that nobody types, and some that are right.
var hostile = []string{
	"", " ", "-", "--", "---", "-x", "--x", "=", "--=", ".", "..", "/", "//", "../..", "~", "\\", "*", "**", "***", "[", "]", "[]", "[!]", "{", "}", "{,}", "@", "@/", "@@",
	"\xff", "\xc0\x80", "\x1b[2J", "\n", "\t", "\r\n", "\u202e", "\ufeff", "e\u0301", "%s%d%n", "$(id)", "`id`", "'", "\"", ";", "|", "&", "null", "true", "NaN",
	"0", "-1", "1e9", "0x10", "9223372036854775808", "-9223372036854775809", "1ms", "-1ms", "1e400s", "24h1ns", "src/", "src/a.go", "app/[id]", "@port/3000", "HEAD", "HEAD~99", "HEAD^{tree}", ":/x",
	"--json", "--session", "--session=ada", "--repo", "--repo=/", "--no-start", "--advisory", "--break", "--reason", "--all", "--help", "-h", "--limit", "--after", "--epoch", "--claim",
	strings.Repeat("a", 300), strings.Repeat("*a", 120), strings.Repeat("{a,", 80), strings.Repeat("**/", 80), strings.Repeat("../", 200),
}

// spoken are command lines to begin from.
var spoken = []string{
	"", "status", "status --json", "session open --session x --intent y", "session renew --ttl 1h", "session close x", "session list --all",
	"claim src/ --intent y", "claim src/*.go @port/3000 --wait 1ms", "claim . --break --reason why", "claim x --advisory --json", "claim x --confirm 1ms",
	"release --all", "release src/", "release 3fa2c1/12", "check src/a.go x", "check x --claim 3fa2c1/12 --epoch 4",
	"handover publish src/a.go --to bob", "handover publish - --derive", "handover list --all", "handover show 01234567", "handover take 01234567", "handover decline 0123 --reason no", "handover withdraw 0123",
	"review request look --commit HEAD --scope src/", "review answer 3fa2c1/12 --approve --note n", "review close 3fa2c1/12 --reason done", "review list",
	"log --limit 3", "log --after x", "notices --ack", "doctor", "verify", "version", "help claim", "completion bash", "log dump",
}

// A ground is a repository with a daemon of its own.
type ground struct {
	t         *testing.T
	rng       *rand.Rand
	dir, home string
	env       []string
	program   string
}

func newGround(t *testing.T) *ground {
	seed := uint64(1)
	if s := os.Getenv("COMITY_TEST_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seed = n
	}
	t.Logf("COMITY_TEST_SEED=%d repeats this", seed)
	home, err := os.MkdirTemp("", "c") // short: a socket lives in it
	if err != nil {
		t.Fatal(err)
	}
	program, err := exec.LookPath("comity")
	if err != nil {
		t.Fatal(err)
	}
	g := &ground{t: t, rng: rand.New(rand.NewPCG(seed, 7)), dir: filepath.Join(t.TempDir(), "r"), home: home, program: program}
	g.env = append(os.Environ(), "COMITY_HOME="+home, "HOME="+t.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "COMITY=", "COMITY_SESSION=ada")
	t.Cleanup(func() {
		g.run(t.Context(), "stop")
		os.RemoveAll(home)
	})
	if err := os.MkdirAll(filepath.Join(g.dir, "src"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(g.dir, "src", "a.go"), []byte("text\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=ada", "-c", "user.email=ada@localhost", "commit", "-q", "-m", "first"},
	} {
		cmd := exec.Command("git", append([]string{"-C", g.dir}, args...)...)
		cmd.Env = g.env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	g.must("session", "open", "--session", "ada")
	g.must("session", "open", "--session", "bob")
	g.must("--session", "bob", "claim", "src/", "--intent", "mine")
	return g
}

func (g *ground) run(ctx context.Context, args ...string) (stdout, stderr string, code int) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, g.program, args...)
	cmd.Dir, cmd.Env = g.dir, g.env
	withoutTerminal(cmd)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		g.t.Fatalf("%q: %v", args, err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

func (g *ground) must(args ...string) string {
	g.t.Helper()
	out, errs, code := g.run(g.t.Context(), args...)
	if code != 0 {
		g.t.Fatalf("%q: exit %d: %s%s", args, code, out, errs)
	}
	return out
}

func (g *ground) daemon() api.Daemon {
	g.t.Helper()
	var v struct{ Daemon api.Daemon }
	if err := json.Unmarshal([]byte(g.must("version", "--json")), &v); err != nil || v.Daemon.PID == 0 {
		g.t.Fatalf("no daemon: %v", err)
	}
	return v.Daemon
}

// unharmed: the daemon that was there is there, its log verifies, and git sees
// nothing new.
func (g *ground) unharmed(was api.Daemon) {
	g.t.Helper()
	if now := g.daemon(); now.PID != was.PID {
		g.t.Errorf("daemon %d has become %d", was.PID, now.PID)
	}
	g.must("verify")
	g.must("doctor")
	log, err := os.ReadFile(filepath.Join(g.home, "daemon.log"))
	if err != nil {
		g.t.Fatal(err)
	}
	if i := bytes.Index(log, []byte("panic")); i >= 0 {
		g.t.Errorf("the daemon's log: %s", log[i:min(i+2000, len(log))])
	}
	out, err := exec.Command("git", "-C", g.dir, "status", "--porcelain", "--ignored").Output()
	if err != nil || len(out) > 0 {
		g.t.Errorf("git status: %s (%v)", out, err)
	}
}

// exits are those of the table.
var exits = []int{0, 1, 2, 10, 11, 12, 13}

// Whatever stands in the arguments, the program ends with a code of the table and
// a reason; it never panics, and no input is an internal error.
func TestRandomArguments(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	was := g.daemon()
	for range attacks() {
		args := g.mutated(strings.Fields(spoken[g.rng.IntN(len(spoken))]))
		out, errs, code := g.run(t.Context(), args...)
		switch {
		case !slices.Contains(exits, code):
			t.Errorf("%q: exit %d\n%s%s", args, code, out, errs)
		case strings.Contains(out+errs, "goroutine ") || strings.Contains(out+errs, `"internal"`) || strings.Contains(out+errs, "error of comity itself"):
			t.Errorf("%q: %s%s", args, out, errs)
		case code != 0 && code != 12 && out == "" && !strings.HasPrefix(errs, "comity: "):
			t.Errorf("%q: exit %d without a reason: %q", args, code, errs)
		}
	}
	g.unharmed(was)
}

// mutated is args after one to four changes.
func (g *ground) mutated(args []string) []string {
	args = slices.Clone(args)
	for range 1 + g.rng.IntN(4) {
		word := hostile[g.rng.IntN(len(hostile))]
		at := g.rng.IntN(len(args) + 1)
		switch g.rng.IntN(5) {
		case 0:
			args = slices.Insert(args, at, word)
		case 1:
			if at < len(args) {
				args[at] = word
			}
		case 2:
			if at < len(args) {
				args = slices.Delete(args, at, at+1)
			}
		case 3:
			if at < len(args) {
				args[at] += word
			}
		case 4:
			if at < len(args) {
				args[at] = strings.ReplaceAll(string(g.scrambled([]byte(args[at]))), "\x00", "")
			}
		}
	}
	return args
}

// scrambled is b with a few bytes changed, lost, doubled or added.
func (g *ground) scrambled(b []byte) []byte {
	b = slices.Clone(b)
	for range 1 + g.rng.IntN(4) {
		at, n := g.rng.IntN(len(b)+1), g.rng.IntN(8)
		end := min(at+n, len(b))
		switch g.rng.IntN(4) {
		case 0:
			if at < len(b) {
				b[at] ^= 1 << g.rng.IntN(8)
			}
		case 1:
			b = slices.Delete(b, at, end)
		case 2:
			b = slices.Insert(b, at, slices.Clone(b[at:end])...)
		case 3:
			b = slices.Insert(b, at, []byte(hostile[g.rng.IntN(len(hostile))])...)
		}
	}
	return b
}

// Whatever bytes come over the socket, the answer is JSON with a code that is
// known and not the daemon's own fault, and the daemon lives on.
func TestRandomBodies(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	was := g.daemon()
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", was.Socket)
	}
	c := &http.Client{Transport: &http.Transport{DialContext: dial}}
	defer c.CloseIdleConnections()
	bodies := g.bodies()
	for range attacks() {
		op := bodies[g.rng.IntN(len(bodies))]
		fixed := op.place
		if g.rng.IntN(8) == 0 {
			fixed = 0
		}
		g.post(c, op.path, append(slices.Clone(op.body[:fixed]), g.scrambled(op.body[fixed:])...))
	}
	for range 20 { // and what is no HTTP
		conn, err := dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
		_, _ = conn.Write(g.scrambled([]byte("POST /v1/status HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nnull")))
		_ = conn.(*net.UnixConn).CloseWrite()
		_, _ = io.Copy(io.Discard, conn)
		conn.Close()
	}
	g.unharmed(was)
}

type posted struct {
	path  string
	body  []byte
	place int // bytes of body that say where; what follows is mostly what changes
}

// bodies are right requests of every operation that neither stops the daemon nor
// streams.
func (g *ground) bodies() []posted {
	where := fmt.Sprintf(`{"dir":%q,"session":"ada"`, g.dir)
	known := map[string]string{
		api.OpSessionOpen: `,"name":"cy","client":"cli","intent":"i","ttl_ms":1000`, api.OpSessionRenew: `,"name":"ada","ttl_ms":60000`, api.OpSessionClose: `,"name":"cy","reason":"done"`,
		api.OpClaim:           `,"scope":["src/a.go","lib/","*.md","@port/1"],"mode":"exclusive","intent":"i","issue":"1","wait_ms":1,"confirm_ms":1,"break":true,"reason":"r"`,
		api.OpRelease:         `,"claims":["lib/","3fa2c1/12"],"reason":"done","person":true`,
		api.OpCheck:           `,"paths":["src/a.go","x"],"claim":"3fa2c1/12","epoch":3`,
		api.OpLog:             `,"after":"","limit":10,"last":true`,
		api.OpNotices:         `,"ack":1`,
		api.OpHandoverPublish: `,"body":"text","derive":true,"to":"bob","name":"n","task":"t"`,
		api.OpHandoverShow:    `,"handover":"0123"`, api.OpHandoverTake: `,"handover":"0123","again":true`, api.OpHandoverDecline: `,"handover":"0123","reason":"no"`, api.OpHandoverWithdraw: `,"handover":"0123"`,
		api.OpReviewRequest: `,"subject":"s","branch":"HEAD","commit":"HEAD","scope":["src/"],"body":"b"`, api.OpReviewAnswer: `,"review":"3fa2c1/12","verdict":"approved","note":"n"`, api.OpReviewClose: `,"review":"3fa2c1/12"`,
	}
	var out []posted
	for _, op := range api.Operations() {
		if op.Name == api.OpStop || op.Name == api.OpWatch {
			continue
		}
		out = append(out, posted{"/v1/" + strings.ReplaceAll(op.Name, ".", "/"), []byte(where + known[op.Name] + "}"), len(where)})
	}
	return out
}

func (g *ground) post(c *http.Client, path string, body []byte) {
	ctx, cancel := context.WithTimeout(g.t.Context(), 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://comity"+path, bytes.NewReader(body))
	if err != nil {
		g.t.Fatal(err)
	}
	resp, err := c.Do(req)
	if err != nil {
		g.t.Errorf("%s %q: %v", path, body, err)
		return
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || !json.Valid(b) {
		g.t.Errorf("%s %q: status %d, %q (%v)", path, body, resp.StatusCode, b, err)
		return
	}
	if resp.StatusCode == http.StatusOK {
		return
	}
	var f api.Failure
	if err := json.Unmarshal(b, &f); err != nil || f.Error == nil || f.Error.Message == "" || f.Error.Code == api.CodeInternal || f.Error.Status() != resp.StatusCode {
		g.t.Errorf("%s %q: status %d, %s", path, body, resp.StatusCode, b)
	}
}
