package node

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/journal"
	"github.com/comity-dev/comity/internal/clock"
	"github.com/comity-dev/comity/internal/home"
	"github.com/comity-dev/comity/internal/vfs"
)

// nodeIn is a daemon on a state folder that is on this machine's disk.
func nodeIn(t *testing.T, dir string, c clock.Clock) *node {
	t.Helper()
	key, err := ident.KeyFromSeed(make([]byte, ed25519.SeedSize))
	if err != nil {
		t.Fatal(err)
	}
	n := newNode(withDefaults(Options{Home: home.Home{Dir: dir}}), key, c)
	n.folder = cmp.Or(n.folder, dir) // where the disk of the tests tells no folder from its copies
	n.machine = "m"
	n.openJournal = func(ctx context.Context, cfg journal.Config) (*journal.Journal, error) {
		return journal.OpenOn(ctx, cfg, vfs.OS(), c)
	}
	t.Cleanup(n.rooms.stop)
	return n
}

func checkNamed(t *testing.T, n *node, dir, name string) api.Check {
	t.Helper()
	rep := mustCall[api.Report](t, n, nobody, api.OpDoctor, api.DoctorRequest{Where: api.Where{Dir: dir}})
	for _, c := range rep.Checks {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("doctor has no row %q", name)
	return api.Check{}
}

// A state folder that was copied on this machine while no daemon ran begins a
// record of its own: it takes over no session and no claim. What it was copied
// from goes on as if nothing had been.
func TestACopiedStateFolderDoesNotGoOnAsTheOriginal(t *testing.T) {
	top, c := newRepo(t), newClock()
	dir, copied := t.TempDir(), t.TempDir()
	where := func(session string) api.Where { return api.Where{Dir: top, Session: session} }

	n := nodeIn(t, dir, c)
	openSession(t, n, top, "ada")
	held := mustCall[api.ClaimReply](t, n, nobody, api.OpClaim, api.ClaimRequest{Where: where("ada"), Scope: []string{"src/"}})
	n.rooms.stop()
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}

	n = nodeIn(t, copied, c)
	if n.folder == "" {
		t.Fatal("no folder")
	}
	st := mustCall[api.Status](t, n, nobody, api.OpStatus, api.StatusRequest{Where: where("")})
	if len(st.Sessions) != 1 || st.Sessions[0].Live == api.LiveOwn || st.Sessions[0].Owner != "" {
		t.Errorf("the copy has %+v; want ada's session, not as its own", st.Sessions)
	}
	if row := checkNamed(t, n, top, "key"); row.State != api.CheckFail || !strings.Contains(row.Detail, "second user") {
		t.Errorf("the copy's doctor says %+v; want a second user of the key", row)
	}
	openSession(t, n, top, "eve")
	_, err := call[api.ClaimReply](t, n, nobody, api.OpClaim, api.ClaimRequest{Where: where("eve"), Scope: []string{"src/"}})
	if !errors.Is(err, api.ErrConflict) {
		t.Errorf("the copy lets eve claim what ada may still hold: %v", err)
	}
	for range 4 { // nobody is heard of, and the daemon runs all the time
		c.Advance(11 * time.Second)
		mustCall[api.CheckReply](t, n, nobody, api.OpCheck, api.CheckRequest{Where: where("eve"), Paths: []string{"a.go"}})
	}
	got := mustCall[api.ClaimReply](t, n, nobody, api.OpClaim, api.ClaimRequest{Where: where("eve"), Scope: []string{"src/"}})
	if len(got.Fenced) != 1 || got.Fenced[0].Session != "ada" {
		t.Errorf("in the copy eve's claim fences %+v, want ada's", got.Fenced)
	}
	n.rooms.stop()
	n = nodeIn(t, copied, c)
	if s := mustCall[api.Status](t, n, nobody, api.OpStatus, api.StatusRequest{Where: where("eve")}); s.Session != "eve" {
		t.Errorf("the copy does not go on as itself: %+v", s.Sessions)
	}
	n.rooms.stop()

	n = nodeIn(t, dir, c)
	st = mustCall[api.Status](t, n, nobody, api.OpStatus, api.StatusRequest{Where: where("ada")})
	if len(st.Sessions) != 1 || st.Sessions[0].State != api.SessionOpen || st.Sessions[0].Live != api.LiveOwn {
		t.Errorf("the original has %+v; want ada's session open, its own", st.Sessions)
	}
	if len(st.Claims) != 1 || st.Claims[0].Claim != held.Claim.Claim || st.Claims[0].Epoch != held.Epoch || st.Claims[0].Standing != api.StandingHeld {
		t.Errorf("the original has claims %+v; want the one of before, held", st.Claims)
	}
	if row := checkNamed(t, n, top, "key"); row.State != api.CheckOK {
		t.Errorf("the original's doctor says %+v; want nothing", row)
	}
	mustCall[api.ClaimReply](t, n, nobody, api.OpClaim, api.ClaimRequest{Where: where("ada"), Scope: []string{"docs/"}})
}
