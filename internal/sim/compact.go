package sim

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/journal"
	"github.com/comity-dev/comity/internal/vfs/vfstest"
)

// compact has a machine drop the streams that were silent for so long. What
// stands does so afterwards.
func (m *machine) compact(silence time.Duration) journal.CompactReport {
	m.sync()
	m.noteWrites()
	before := m.standing()
	r, err := m.j.Compact(context.Background(), journal.Policy{Force: true, Silence: silence})
	m.log("drops %d streams with %d events, %d stay, rewritten %v, %v", len(r.Streams), r.Events, r.Kept, r.Rewritten, err)
	m.dropped(r.Streams)
	if after := m.standing(); !maps.Equal(before, after) {
		fail(StreamStays, "%s sees after a compaction:%s", m.name, differences(before, after))
	}
	return r
}

// forget is a person's word that a runtime is gone.
func (m *machine) forget(p *machine) {
	m.sync()
	m.noteWrites()
	m.reading = true // a walk may have to begin anew
	r, err := m.j.Forget(context.Background(), p.runtime())
	m.reading = false
	m.log("forgets %s: %d streams with %d events, %v", p.name, len(r.Streams), r.Events, err)
	m.dropped(r.Streams)
	if m.distrusts[p.key.Node()] { // what is not believed went from the disk: its absence is another view
		clear(m.held.withheld[p.key.Node()])
		if _, err := m.j.Page(m.held.cursor, 1); err != nil {
			m.rewalk(p.key.Node(), true)
		}
	}
}

// dropped notes that a machine need not have what it dropped.
func (m *machine) dropped(streams []ident.Stream) {
	for _, s := range streams {
		t := tomb{head: m.held.heads[s], at: m.w.now}
		if of := m.w.facts.writer[s]; of != nil {
			t.heard = m.heard[of.n]
		}
		m.held.tombs[s] = t
		m.held.drop(s)
	}
}

func (h *holdings) drop(s ident.Stream) {
	delete(h.heads, s)
	for k, hash := range h.events {
		if k.Stream == s {
			delete(h.events, k)
			delete(h.hashes, hash)
		}
	}
}

// standing is what stands, in words.
func (m *machine) standing() map[string]string {
	out := map[string]string{}
	m.j.View(func(v journal.View) {
		s := v.State()
		for c := range s.Claims() {
			st := s.Standing(c.Key, nil)
			out["claim "+c.Key.String()] = fmt.Sprint(c.Session, " ", st.State, " by ", st.By, " fenced by ", c.FencedBy)
		}
		for one := range s.OpenSessions() {
			out["session "+one.ID.String()] = fmt.Sprint(one.Info, one.Claims)
		}
		for r := range s.OpenReviews() {
			out["review "+r.Key.String()] = fmt.Sprint(r.Session, len(r.Answers))
		}
		for h := range s.OpenHandovers() {
			for _, p := range h.Publications {
				if !p.Taken && !p.Withdrawn {
					out["handover "+p.Key.String()] = h.ID
				}
			}
		}
	})
	return out
}

func differences(a, b map[string]string) (out string) {
	all := maps.Clone(a)
	maps.Copy(all, b)
	for _, k := range slices.Sorted(maps.Keys(all)) {
		if a[k] != b[k] {
			out += fmt.Sprintf("\n%s: %q, before %q", k, b[k], a[k])
		}
	}
	return out
}

// A snapshot is the state folder of a machine at some time.
type snapshot struct {
	disk *vfstest.Disk
	held *holdings
}

func (m *machine) snapshot() *snapshot {
	m.noteWrites()
	return &snapshot{m.disk.Clone(), m.held.clone()}
}

// setBack puts an older state folder in a machine's place, whose daemon is
// killed. Runs that began since are nobody's.
func (m *machine) setBack(s *snapshot) {
	for stream := range m.held.heads {
		if m.w.facts.writer[stream] == m && s.held.heads[stream] == 0 {
			m.w.facts.lost[stream] = true
		}
	}
	m.w.cloned = true // two runs may count under one number
	m.die("is set back", func(*vfstest.Disk) *vfstest.Disk { return s.disk })
	m.held = s.held
	m.start()
}

func (h *holdings) clone() *holdings {
	c := *h
	c.events, c.hashes, c.heads = maps.Clone(h.events), maps.Clone(h.hashes), maps.Clone(h.heads)
	c.reach = maps.Clone(h.reach)
	c.withheld = map[ident.NodeID]map[event.Key][32]byte{}
	for n, all := range h.withheld {
		c.withheld[n] = maps.Clone(all)
	}
	c.fenced, c.ended, c.knew, c.tombs = maps.Clone(h.fenced), maps.Clone(h.ended), maps.Clone(h.knew), maps.Clone(h.tombs)
	return &c
}

// distrust has m believe a machine's key no more, or again.
func (m *machine) distrust(p *machine, distrusted bool) { m.changeTrust(p.key.Node(), distrusted) }

func (m *machine) changeTrust(node ident.NodeID, distrusted bool) {
	m.sync()
	m.noteWrites()
	m.distrusts[node], m.w.revised = distrusted, true
	m.reading = true // a walk may have to begin anew
	err := m.j.SetTrust(context.Background(), m.trusts())
	if m.reading = false; err != nil {
		fail(Works, "%s cannot change its trust: %v", m.name, err)
	}
	m.log("trusts %.4s: %v", node, !distrusted)
	for _, q := range m.peers() {
		if e := m.end(q); e != nil {
			e.core.TrustChanged()
			e.pump()
		}
	}
	changes := false
	for s := range m.held.heads {
		changes = changes || distrusted && s.Node() == node
	}
	if m.held.withheld[node] == nil {
		m.held.withheld[node] = map[event.Key][32]byte{}
	}
	changes = changes || !distrusted && len(m.held.withheld[node]) > 0
	_, err = m.j.Page(m.held.cursor, 1)
	if err == nil && changes {
		fail(WalkedOnce, "%s: a walk goes on though it goes over other events since the trust changed", m.name)
	}
	if err != nil {
		m.rewalk(node, distrusted)
	}
}

// rewalk begins the walk anew: what m held is there, but for what it does not
// believe any more and with what it believes again.
func (m *machine) rewalk(node ident.NodeID, distrusted bool) {
	had, aside := m.held, m.held.withheld[node]
	m.held = newHoldings()
	m.held.tombs, m.held.withheld, m.held.stamp, m.held.knew = had.tombs, had.withheld, had.stamp, had.knew
	m.held.reached(had) // who was fenced may not be, by what is believed now
	if !distrusted {
		maps.Copy(had.events, aside)
		clear(aside)
	}
	m.noteWrites()
	for k, hash := range had.events {
		_, ok := m.held.events[k]
		switch of := k.Stream.Node() == node; {
		case of && distrusted && ok:
			fail(WalkedOnce, "%s still walks over %s, whose key it does not believe", m.name, k)
		case of && distrusted:
			aside[k] = hash
		case !ok:
			fail(AckedIsKept, "%s lost %s by a change of trust", m.name, k)
		}
	}
}

// trusts is whose events m believes now; the answers do not change.
func (m *machine) trusts() func(ident.NodeID) bool {
	not := maps.Clone(m.distrusts)
	return func(n ident.NodeID) bool { return !not[n] && m.w.trusts(n) }
}
