package sim

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/cryptotest"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/journal"
	"github.com/comity-dev/comity/internal/vfs/vfstest"
)

// A history is a world in which a test says what happens.
type history struct {
	*testing.T
	*World
	a, b, c *machine
}

// tell plays a history on three machines that are up and not linked, once with
// links by messages and once with links by the protocol. What an invariant says is
// the test's failure, by its name.
func tell(t *testing.T, play func(h *history)) {
	t.Helper()
	t.Run("messages", func(t *testing.T) { tellOver(t, false, play) })
	t.Run("cables", func(t *testing.T) { tellOver(t, true, play) })
}

func tellOver(t *testing.T, cables bool, play func(h *history)) {
	cryptotest.SetGlobalRandom(t, 1)
	w := NewWorld(1, 3)
	w.cables = cables
	for _, m := range w.machines {
		m.ppm = 0
	}
	defer func() {
		p := recover()
		if v, ok := p.(*Violation); ok {
			t.Errorf("invariant: %v", v)
		} else if p != nil {
			panic(p)
		}
		if t.Failed() {
			t.Log(strings.Join(tail(w.trace.lines, 100), "\n"))
		}
	}()
	h := &history{T: t, World: w, a: w.machines[0], b: w.machines[1], c: w.machines[2]}
	play(h)
	h.check()
	for _, m := range w.machines {
		if m.running() {
			m.checkModel()
		}
	}
}

// meet links two machines and lets them finish their first exchange.
func (h *history) meet(a, b *machine) {
	h.connect(h.link(a, b))
	h.wait(time.Second)
}

func (h *history) wait(d time.Duration) {
	h.pass(d)
	h.World.check()
}

func (h *history) open(m *machine, sid string) {
	h.Helper()
	h.at(m, func() {
		if _, err := m.room.SessionOpen(context.Background(), m.actor(sid), api.SessionOpenRequest{Name: sid, TTLMS: (29 * 24 * time.Hour).Milliseconds()}, nil); err != nil {
			h.Fatal(err)
		}
	})
}

// claims is what a session of m has got, whatever stands.
func (h *history) claims(m *machine, sid string, words ...string) event.Key {
	h.Helper()
	var key event.Key
	h.at(m, func() {
		reply, err := m.claim(m.actor(sid), api.ClaimRequest{Scope: words})
		if err != nil {
			h.Fatalf("%s claims %v: %v", sid, words, err)
		}
		if key, err = event.ParseKey(reply.Claim.Claim); err != nil {
			h.Fatal(err)
		}
	})
	return key
}

func (h *history) refused(m *machine, sid string, want error, words ...string) {
	h.Helper()
	h.at(m, func() {
		if reply, err := m.claim(m.actor(sid), api.ClaimRequest{Scope: words}); !errors.Is(err, want) {
			h.Fatalf("%s claims %v = %s, %v, want %v", sid, words, reply.Claim.Claim, err, want)
		}
	})
}

func (h *history) releases(m *machine, sid string) {
	h.Helper()
	h.at(m, func() {
		if _, err := m.room.Release(context.Background(), m.actor(sid), api.ReleaseRequest{All: true}); err != nil {
			h.Fatal(err)
		}
	})
}

func (h *history) closes(m *machine, sid string) {
	h.Helper()
	h.at(m, func() {
		if _, err := m.room.SessionClose(context.Background(), m.actor(sid), api.SessionCloseRequest{}); err != nil {
			h.Fatal(err)
		}
	})
}

// powerLoss keeps of what was not synced nothing at all.
func (m *machine) powerLoss() {
	m.die("loses power", func(d *vfstest.Disk) *vfstest.Disk { return d.Crash(func(n int) int { return n - 1 }) })
	m.reboot()
}

// checks is what m says to a session that wants to write a path.
func (h *history) checks(m *machine, sid, path string) string {
	h.Helper()
	var verdict string
	h.at(m, func() {
		reply, err := m.room.Check(context.Background(), m.actor(sid), api.CheckRequest{Paths: []string{path}})
		m.check(m.actor(sid), path)
		if verdict = reply.Verdict; err != nil {
			verdict = string(api.AsError(err).Code)
		}
	})
	return verdict
}

func (h *history) live(m *machine, k event.Key, want journal.Liveness) {
	h.Helper()
	m.sync()
	if got, _ := m.j.Liveness(k.Stream); got != want {
		h.Errorf("%s judges the run of %s %v, want %v", m.name, k, got, want)
	}
}

func (h *history) stands(m *machine, k event.Key, want fold.StandingState) {
	h.Helper()
	var got fold.StandingState
	m.j.View(func(v journal.View) { got = v.State().Standing(k, nil).State })
	if got != want {
		h.Errorf("%s sees %s %s, want %s", m.name, k, got, want)
	}
}
