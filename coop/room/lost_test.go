package room_test

import (
	"bytes"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/internal/vfs/vfstest"
)

// A session outlives the loss of the event that opened it: it is listed by a
// later run. It claims, and says anew what was lost.
func TestASessionWhoseOpeningIsLostGoesOn(t *testing.T) {
	disk := vfstest.New()
	f := newFixtureOn(t, disk, nil)
	ada := actor("", "a")
	f.openSession(ada, api.SessionOpenRequest{Name: "ada", Task: "lost words"}, nil)
	ada.Session = "ada"
	f.claim(ada, "x.go")
	f.openSession(actor("", "a"), api.SessionOpenRequest{Name: "bob", Task: "lost words"}, nil)
	for _, name := range []string{"ada", "bob"} { // who owns them is written once more
		if _, err := f.SessionRenew(t.Context(), actor(name, "a"), api.SessionRenewRequest{TTLMS: 3_600_000}); err != nil {
			t.Fatal(err)
		}
	}
	f.reopen() // its run lists them
	f.shut()
	spoil(t, disk, "lost words")
	f.open()
	for _, name := range []string{"ada", "bob"} {
		if s := f.session(name); s.State != api.SessionOpen || s.Client != "" || s.OpenedAt != 0 || s.AgeMS != 0 {
			t.Fatalf("%s = %+v; want it open, and nothing known of its opening", name, s)
		}
	}
	f.claim(ada, "y.go")
	f.clock.Advance(time.Minute)
	if _, err := f.SessionRenew(t.Context(), actor("bob", "b"), api.SessionRenewRequest{Intent: "new words"}); err != nil {
		t.Fatalf("renew the session with an intent: %v", err)
	}
	for name, intent := range map[string]string{"ada": "", "bob": "new words"} {
		if s := f.session(name); s.Client != "unknown" || s.Intent != intent || s.OpenedAt == 0 || s.AgeMS > 60_000 {
			t.Errorf("%s = %+v; want the client unknown, the intent %q and a time just now", name, s, intent)
		}
	}
	if st := f.status(ada); len(st.Claims) != 2 {
		t.Errorf("ada holds %d claims, want both", len(st.Claims))
	}
}

// What else a session wrote stands though the event that opened it is lost before
// any later run has listed it.
func TestALostOpeningCostsNoClaim(t *testing.T) {
	disk := vfstest.New()
	f := newFixtureOn(t, disk, nil)
	ann := actor("", "a")
	f.openSession(ann, api.SessionOpenRequest{Name: "ann", Task: "lost words"}, nil)
	ann.Session = "ann"
	held := f.claim(ann, "docs/")
	bo := f.join("bo")
	f.shut()
	spoil(t, disk, "lost words")
	f.open()
	e := f.refused(bo, api.ClaimRequest{Scope: []string{"docs/x.md"}}, api.ErrConflict)
	if e.Conflicts[0].Claim != held.Claim.Claim || e.Conflicts[0].Session != "ann" {
		t.Errorf("conflict = %+v, want ann's claim", e.Conflicts[0])
	}
	if got := f.claim(ann, "docs/"); !got.Already || got.Claim.Claim != held.Claim.Claim {
		t.Errorf("ann claims again: %+v, want her claim as it was", got)
	}
	if s := f.session("ann"); s.State != api.SessionOpen {
		t.Errorf("ann = %+v, want her session open", s)
	}
}

// spoil flips a bit in every place of the journal where word stands.
func spoil(t *testing.T, disk *vfstest.Disk, word string) {
	t.Helper()
	names, err := disk.List("/journal")
	if err != nil {
		t.Fatal(err)
	}
	spoilt := 0
	for _, name := range names {
		if !strings.HasSuffix(name, ".seg") {
			continue
		}
		name = path.Join("/journal", name)
		for at, data := 0, disk.Bytes(name); ; spoilt++ {
			i := bytes.Index(data[at:], []byte(word))
			if i < 0 {
				break
			}
			at += i + 1
			disk.FlipBit(name, 8*at)
		}
	}
	if spoilt == 0 {
		t.Fatalf("%q is not in the journal", word)
	}
}
