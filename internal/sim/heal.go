package sim

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/journal"
)

// healing is the time in which a healed core has to agree: first exchanges, and
// what they brought, over as many links as there are.
func healing(w *World) time.Duration { return 3 * w.limits.Expiry }

// heal makes a core of machines sound: their disks, daemons, and the links
// between them. What links them to the rest stays as it is.
func (w *World) heal(core []*machine) {
	for _, m := range core {
		if m.state != running {
			m.wake()
		}
		m.repair()
		if m.up && m.j.Broken() != nil {
			m.kill()
		}
		if !m.up {
			m.start()
		}
		for _, node := range slices.Sorted(maps.Keys(m.distrusts)) {
			if m.up && m.distrusts[node] {
				m.changeTrust(node, false)
			}
		}
		if !m.up {
			fail(Works, "%s does not start on a sound disk", m.name)
		}
	}
	for _, l := range w.links {
		if slices.Contains(core, l.a) && slices.Contains(core, l.b) {
			l.set(0, 0, 0, nil, [2]bool{})
			w.connect(l)
		}
	}
}

// agree holds the core to one state over what honest machines wrote.
func (w *World) agree(core []*machine) {
	var streams []ident.Stream
	for _, m := range core {
		for s := range m.held.heads {
			if w.honest(s) && !slices.Contains(streams, s) {
				streams = append(streams, s)
			}
		}
	}
	slices.Sort(streams)
	first := core[0]
	for _, m := range core[1:] {
		for _, s := range streams {
			if a, b := first.held.heads[s], m.held.heads[s]; a != b && !first.held.gone(s) && !m.held.gone(s) {
				fail(Converges, "after %v %s holds %s up to %d and %s up to %d; %s is blocked at %v", healing(w), first.name, s, a, m.name, b, m.name, m.j.Health().Blocked)
			}
		}
		both := slices.DeleteFunc(slices.Clone(streams), func(s ident.Stream) bool { return first.held.heads[s] == 0 || m.held.heads[s] == 0 })
		if a, b := first.digest(both), m.digest(both); a != b {
			fail(EqualDigests, "%s has %s and %s has %s over the same streams", first.name, a, m.name, b)
		}
	}
}

func (m *machine) digest(streams []ident.Stream) (d string) {
	m.j.View(func(v journal.View) { d = v.State().Digest(streams) })
	return d
}

// quiet: a core in which nobody says anything new has no event on a link.
func (w *World) quiet(core []*machine) {
	before, carried := len(w.facts.signed), w.carried(core)
	w.pass(4 * w.limits.Heartbeat)
	if n := w.carried(core) - carried; n > 0 && len(w.facts.signed) == before {
		fail(QuietLinks, "%d events on links of machines that agree", n)
	}
}

func (w *World) carried(core []*machine) (n int) {
	for _, l := range w.links {
		if slices.Contains(core, l.a) && slices.Contains(core, l.b) {
			n += l.carried
		}
	}
	return n
}

// useful: each machine of the core can take what nobody holds, and the others see
// it.
func (w *World) useful(core []*machine) {
	w.hostile.block(core)
	for _, m := range core {
		m.sync()
		a := m.actor(m.name + "-end")
		if _, err := m.room.SessionOpen(context.Background(), a, api.SessionOpenRequest{Name: a.Session}, nil); err != nil {
			fail(Converges, "%s cannot open a session: %v", m.name, err)
		}
		m.noteWrites()
		m.changed()
		w.pass(time.Second) // the claim is news of its own: what was said of the opening must not keep it back
		reply, err := m.room.Claim(context.Background(), a, api.ClaimRequest{Scope: []string{"@end/" + m.name}})
		if err != nil {
			fail(Converges, "%s cannot claim what nobody holds: %v", m.name, err)
		}
		m.noteWrites()
		m.changed()
		w.pass(2 * w.limits.Heartbeat)
		for _, p := range core {
			found := false
			for _, c := range append(p.claims(true), p.claims(false)...) {
				found = found || c.Key.String() == reply.Claim.Claim
			}
			if !found {
				fail(Converges, "%s does not hear of a claim of %s", p.name, m.name)
			}
		}
	}
	w.check()
}

// gone tells that a stream was dropped and has not come back.
func (h *holdings) gone(s ident.Stream) bool {
	_, ok := h.tombs[s]
	return ok
}
