package node

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/journal"
	"github.com/comity-dev/comity/internal/clock"
	"github.com/comity-dev/comity/internal/home"
	"github.com/comity-dev/comity/internal/httpapi"
	"github.com/comity-dev/comity/internal/vfs"
)

// newTestNode is a node that serves nobody, whose journals are on disk.
func newTestNode(t *testing.T, c clock.Clock, disk vfs.FS) *node {
	t.Helper()
	key, err := ident.KeyFromSeed(make([]byte, ed25519.SeedSize))
	if err != nil {
		t.Fatal(err)
	}
	n := newNode(withDefaults(Options{Home: home.Home{Dir: t.TempDir()}}), key, c)
	n.openJournal = func(ctx context.Context, cfg journal.Config) (*journal.Journal, error) {
		cfg.Dir = "/" + string(cfg.Repo)
		return journal.OpenOn(ctx, cfg, disk, c)
	}
	t.Cleanup(n.rooms.stop)
	return n
}

func newClock() *clock.Fake { return clock.NewFake(time.Unix(1_800_000_000, 0), time.Hour, "boot") }

// newRepo is a repository with one commit.
func newRepo(t *testing.T) (top string) {
	t.Helper()
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	top = realDir(t)
	runGit(t, top, "init", "-q")
	commit(t, top)
	return top
}

func commit(t *testing.T, top string) {
	t.Helper()
	runGit(t, top, "-c", "user.name=ada", "-c", "user.email=ada@example.org", "commit", "-q", "--allow-empty", "-m", "in "+top)
}

func realDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func runGit(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
}

// call asks an operation as the API does, without a socket in between.
func call[Rep any](t *testing.T, n *node, c httpapi.Caller, op string, req any) (Rep, error) {
	t.Helper()
	body, err := json.Marshal(req)
	if err != nil {
		t.Fatal(err)
	}
	ops, _ := n.operations()
	rep, err := ops[op](t.Context(), c, body)
	if err != nil {
		var none Rep
		return none, err
	}
	return rep.(Rep), nil
}

func mustCall[Rep any](t *testing.T, n *node, c httpapi.Caller, op string, req any) Rep {
	t.Helper()
	rep, err := call[Rep](t, n, c, op, req)
	if err != nil {
		t.Fatalf("%s: %v", op, err)
	}
	return rep
}

var nobody httpapi.Caller

func openSession(t *testing.T, n *node, dir, name string) {
	t.Helper()
	mustCall[api.SessionOpenReply](t, n, nobody, api.OpSessionOpen, api.SessionOpenRequest{Where: api.Where{Dir: dir}, Name: name})
}
