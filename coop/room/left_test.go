package room_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/journal"
)

func trustAll(ident.NodeID) bool { return true }

// What a stream kept others from is free once the stream has left, whoever saw to
// that, and both who waits and who lost are told.
func TestStreamsThatLeave(t *testing.T) {
	ways := map[string]func(f *fixture, far *peer) error{
		"untrusted": func(f *fixture, _ *peer) error { return f.SetTrust(f.Context(), nil) },
		"untrusted by the journal": func(f *fixture, _ *peer) error {
			return f.j.SetTrust(f.Context(), nil) // Run hears of it
		},
		"forgotten": func(f *fixture, far *peer) error {
			rep, err := f.Forget(f.Context(), far.at.Stream.Runtime())
			if len(rep.Streams) != 1 || rep.Events != 4 {
				f.Errorf("Forget = %+v, want one stream of 4 events", rep)
			}
			return err
		},
		"forgotten by the journal": func(f *fixture, far *peer) error {
			_, err := f.j.Forget(f.Context(), far.at.Stream.Runtime())
			return err
		},
	}
	for name, leave := range ways {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, far, life := beside(t)
				*life = journal.Live
				f.live = true
				ada, bob := f.join("ada"), f.join("bob")
				for i := range 5 { // stamps rise
					f.claim(ada, fmt.Sprint("pad", i))
				}
				mine := f.claim(ada, "src/")
				lib := f.claim(ada, "lib/")
				far.at.Stream = nextTo(t, lib.Claim.Claim, far.at.Stream)
				// Of zoe's two claims on what ada claimed either is enough to win.
				f.hear(far.opens("zoe"), far.claims(2, "zoe", "dir:src"), far.claims(3, "zoe", "dir:docs"), far.claims(4, "zoe", "path:src/a.go"))
				w := f.wait(bob, time.Hour, "docs/a.go")
				w.want(t, "waits")
				before := f.notices(ada)
				if short := f.claim(ada, "lib/").Short; len(short) < 16 {
					t.Errorf("the key %s does not tell ada's run from zoe's", short)
				}

				if err := leave(f, far); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				w.want(t, "has it")
				notes := f.notices(ada)[len(before):]
				if len(notes) != 1 || notes[0].Kind != api.NoticeHeld || notes[0].Claim != mine.Claim.Claim {
					t.Errorf("ada is told %+v; want once that it holds src/ now", notes)
				}
				st := f.status(ada)
				for _, c := range st.Claims {
					if c.Standing != api.StandingHeld || c.Session == "zoe" {
						t.Errorf("claim of %s on %v is %s", c.Session, c.Scope, c.Standing)
					}
				}
				for _, s := range st.Sessions {
					if s.Session == "zoe" {
						t.Errorf("zoe's session is listed: %+v", s)
					}
				}
				if got := f.claim(ada, "lib/"); !got.Already || got.Claim.Claim != lib.Claim.Claim || len(got.Short) > 10 {
					t.Errorf("ada's other claim is %+v; want it as it was, and its key short again", got)
				}
				if confirmed := f.claim(ada, "new/").Confirmed; confirmed != (len(f.j.Peers()) == 0) {
					t.Errorf("confirmed = %v with %d peers", confirmed, len(f.j.Peers()))
				}
			})
		})
	}
}

// nextTo is a stream whose instance is that of a claim but for its last digits.
func nextTo(t *testing.T, claim string, s ident.Stream) ident.Stream {
	t.Helper()
	key, err := event.ParseKey(claim)
	if err != nil {
		t.Fatal(err)
	}
	instance := string(key.Stream.Instance())
	return ident.NewStream(s.Node(), s.Runtime().ID, ident.InstanceID(instance[:len(instance)-1]+string("0123456789abcdef"[(strings.IndexByte("0123456789abcdef", instance[len(instance)-1])+1)%16])))
}

// A key that is believed again is heard anew: its claims stand as they did, and the
// loser is told again, however long ago it was told before.
func TestStreamsThatComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, far, life := beside(t)
		*life = journal.Live
		f.live = true
		ada := f.join("ada")
		for i := range 5 {
			f.claim(ada, fmt.Sprint("pad", i))
		}
		f.claim(ada, "src/")
		f.hear(far.opens("zoe"), far.claims(2, "zoe", "dir:src"))
		for range 3 {
			for _, step := range []struct {
				trust func(ident.NodeID) bool
				kind  string
			}{{nil, api.NoticeHeld}, {trustAll, api.NoticeConflicted}} {
				n := f.notices(ada)
				if len(n) > 0 {
					f.ack(ada, n[len(n)-1].ID)
				}
				if err := f.SetTrust(t.Context(), step.trust); err != nil {
					t.Fatal(err)
				}
				if n := f.notices(ada); len(n) != 1 || n[0].Kind != step.kind {
					t.Fatalf("ada is told %+v, want %s once", n, step.kind)
				}
			}
			if s := f.session("zoe"); s.State != api.SessionOpen {
				t.Errorf("zoe's session is %+v", s)
			}
		}
		synctest.Wait()
		*life = journal.Expired // then its claims take nothing from anybody
		f.pass(5 * time.Second)
		n := f.notices(ada)
		f.ack(ada, n[len(n)-1].ID)
		for _, trust := range []func(ident.NodeID) bool{nil, trustAll} {
			if err := f.SetTrust(t.Context(), trust); err != nil {
				t.Fatal(err)
			}
			f.pass(5 * time.Second)
			if n := f.notices(ada); len(n) != 0 {
				t.Errorf("ada is told %+v of a machine that is not heard", n)
			}
		}
	})
}

// Changing the trust without changing what counts tells nobody anything.
func TestTrustThatChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, far, life := beside(t)
		*life = journal.Live
		f.live = true
		ada, bob := f.join("ada"), f.join("bob")
		f.claim(ada, "src/")
		f.hear(far.opens("zoe"), far.claims(1000, "zoe", "dir:src"))
		w := f.wait(bob, time.Hour, "src/a.go")
		before, wrote := f.notices(ada), len(f.kinds())
		for _, trust := range []func(ident.NodeID) bool{trustAll, nil, trustAll} {
			if err := f.SetTrust(t.Context(), trust); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		if n := f.notices(ada); len(n) != len(before) {
			t.Errorf("ada is told %+v, want %+v", n, before)
		}
		w.want(t, "waits")
		if n := len(f.kinds()); n != wrote {
			t.Errorf("%d events, want %d", n, wrote)
		}
		if err := f.SetTrust(canceled(), nil); err == nil {
			t.Error("SetTrust under an ended context = nil")
		}
	})
}

func canceled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
