package sim

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// facts are what is so, whatever any machine thinks.
type facts struct {
	signed  map[event.Key][32]byte    // by honest machines, once durable
	writer  map[ident.Stream]*machine // of honest machines
	lost    map[ident.Stream]bool     // runs of a machine that was set back since
	beats   map[beatName]made
	digests map[string]string // by history
	images  int               // by which a journal was opened
}

type beatName struct {
	stream ident.Stream
	uptime time.Duration
}

// made says who made a beat, and at what true time.
type made struct {
	by *machine
	at time.Duration
}

func newFacts() *facts {
	return &facts{
		signed: map[event.Key][32]byte{}, writer: map[ident.Stream]*machine{}, lost: map[ident.Stream]bool{},
		beats: map[beatName]made{}, digests: map[string]string{},
	}
}

// honest tells whose word in a stream counts.
func (w *World) honest(s ident.Stream) bool { return s.Node() != w.hostile.key.Node() }

// refused tells that a stream need not come to be held.
func (f *facts) refused(m *machine, s ident.Stream) bool {
	return !m.w.honest(s) || m.distrusts[s.Node()]
}

// sent looks at what leaves a machine.
func (f *facts) sent(w *World, from *machine, msg message) {
	for _, raw := range msg.events {
		if _, ok := from.held.hashes[sha256.Sum256(raw)]; !ok {
			fail(SyncedBeforeSent, "%s sends an event that it does not hold durably: %s", from.name, name(raw))
		}
	}
}

func name(raw []byte) string {
	e, err := event.Parse(raw)
	if err != nil {
		return err.Error()
	}
	return e.Key().String() + " " + e.Body.Kind()
}

// A tomb is a stream that a machine dropped.
type tomb struct {
	head  uint64
	at    time.Duration // true time
	heard time.Duration // true time of the latest beat of its machine that had been heard
}

// holdings are what a machine showed to be durable: what its disk has to keep,
// whatever becomes of its daemon.
type holdings struct {
	reach    map[ident.Stream]uint64 // the highest head that there was, also of what it dropped
	events   map[event.Key][32]byte
	hashes   map[[32]byte]event.Key
	heads    map[ident.Stream]uint64
	stamp    uint64                                  // the highest of them
	cursor   string                                  // of a follower that has seen all of them
	fenced   map[event.Key][]event.Key               // claims that were seen fenced, and by what
	ended    map[event.Key][]ending                  // claims that events here fence
	knew     map[ident.Stream]time.Duration          // true time at which this run first knew a stream
	tombs    map[ident.Stream]tomb                   // that it dropped and does not hold again
	withheld map[ident.NodeID]map[event.Key][32]byte // of keys that it does not believe
}

// An ending is a claim that fences another, and since when it is held here in true
// time.
type ending struct {
	by event.Key
	at time.Duration
}

func newHoldings() *holdings {
	return &holdings{
		events: map[event.Key][32]byte{}, hashes: map[[32]byte]event.Key{}, heads: map[ident.Stream]uint64{}, reach: map[ident.Stream]uint64{},
		fenced: map[event.Key][]event.Key{}, ended: map[event.Key][]ending{}, knew: map[ident.Stream]time.Duration{},
		tombs: map[ident.Stream]tomb{}, withheld: map[ident.NodeID]map[event.Key][32]byte{},
	}
}

// reopened holds what a daemon finds on its disk against what it had.
func (m *machine) reopened() {
	had := m.held
	m.held = newHoldings()
	m.held.tombs, m.held.withheld = had.tombs, had.withheld
	m.noteWrites()
	for n, all := range m.held.withheld {
		if !m.distrusts[n] {
			clear(all)
		}
	}
	for k, hash := range had.events {
		now, ok := m.held.events[k]
		switch aside := m.held.withheld[k.Stream.Node()]; {
		case m.distrusts[k.Stream.Node()]: // since the folder was copied
			if aside == nil {
				aside = map[event.Key][32]byte{}
				m.held.withheld[k.Stream.Node()] = aside
			}
			aside[k] = hash
		case !ok:
			fail(AckedIsKept, "%s lost %s over a restart", m.name, k)
		case now != hash:
			fail(AckedIsKept, "%s has %s with other bytes after a restart", m.name, k)
		}
	}
	m.held.fenced, m.held.stamp = had.fenced, max(m.held.stamp, had.stamp)
	for k, by := range m.held.fenced { // when the folder is an older one, keys may not be believed any more
		m.held.fenced[k] = slices.DeleteFunc(slices.Clone(by), func(by event.Key) bool { return m.distrusts[by.Stream.Node()] })
	}
	m.held.reached(had)
	for s := range m.held.heads {
		delete(m.held.tombs, s)
	}
	for k, at := range had.ended {
		m.held.ended[k] = at
	}
}

// reached keeps how far earlier holdings were.
func (h *holdings) reached(had *holdings) {
	for s, seq := range had.reach {
		h.reach[s] = max(h.reach[s], seq)
	}
}

// noteWrites follows what arrived in m's journal since.
func (m *machine) noteWrites() {
	for {
		p, err := m.j.Page(m.held.cursor, 1000)
		if err != nil && m.disk.failing {
			return // it cannot be read now
		}
		if err != nil {
			fail(WalkedOnce, "%s: a walk ends: %v", m.name, err)
		}
		for _, a := range p.Arrivals {
			m.arrived(a.Event, a.Again)
		}
		m.held.cursor = p.Next
		if !p.More {
			return
		}
	}
}

func (m *machine) arrived(e *event.Event, again bool) {
	k, h := e.Key(), m.held
	if _, twice := h.events[k]; twice && !again {
		fail(WalkedOnce, "%s: a walk has %s twice", m.name, k)
	}
	h.events[k], h.hashes[e.Hash] = e.Hash, k
	if e.Seq != h.heads[e.Stream]+1 && !again {
		fail(NoHoles, "%s holds %s behind %d", m.name, k, h.heads[e.Stream])
	}
	m.checkReturn(e)
	delete(h.tombs, e.Stream)
	h.heads[e.Stream] = max(h.heads[e.Stream], e.Seq)
	h.reach[e.Stream] = max(h.reach[e.Stream], e.Seq)
	if _, known := h.knew[e.Stream]; !known {
		h.knew[e.Stream] = m.w.now
	}
	if b, ok := e.Body.(event.ClaimAcquired); ok {
		for _, k := range b.Fences {
			if !slices.ContainsFunc(h.ended[k], func(one ending) bool { return one.by == e.Key() }) {
				h.ended[k] = append(slices.Clip(h.ended[k]), ending{e.Key(), m.w.now})
			}
		}
	}
	if before, ok := h.events[event.Key{Stream: e.Stream, Seq: e.Seq - 1}]; ok && e.Prev != hexOf(before) {
		fail(Chained, "%s holds %s behind another event than the one it names", m.name, k)
	}
	if m.w.facts.note(m, e) && e.Lamport <= h.stamp {
		fail(StampsRise, "%s writes %s with stamp %d, and has seen %d", m.name, k, e.Lamport, h.stamp)
	}
	h.stamp = max(h.stamp, e.Lamport)
}

// checkReturn: a stream that was dropped comes back when its author was heard since
// or wrote since, for nothing else.
func (m *machine) checkReturn(e *event.Event) {
	t, dropped := m.held.tombs[e.Stream]
	of := m.w.facts.writer[e.Stream]
	if !dropped || of == nil || m.heard[of.n] > t.heard || of.wrote > t.at || m.w.facts.signed[event.Key{Stream: e.Stream, Seq: t.head + 1}] != [32]byte{} {
		return
	}
	for _, copied := range m.w.machines { // that speaks under its key
		if copied != of && copied.key == of.key && m.heard[copied.n] > t.at {
			return
		}
	}
	fail(DroppedStays, "%s takes %s again, which it dropped at %d; %s has not been heard since", m.name, e.Key(), t.head, of.name)
}

// note takes in an event that is durable at m; it tells whether m has just
// written it.
func (f *facts) note(m *machine, e *event.Event) bool {
	if !m.w.honest(e.Stream) {
		return false
	}
	hash, known := f.signed[e.Key()]
	switch {
	case known && hash == e.Hash:
		return false
	case known:
		fail(OneEvent, "%s holds a second %s", m.name, e.Key())
	case e.Stream.Node() != m.key.Node():
		fail(Authentic, "%s holds %s, which nobody signed", m.name, e.Key())
	}
	f.signed[e.Key()], m.wrote = e.Hash, m.w.now
	if f.writer[e.Stream] == nil {
		f.writer[e.Stream] = m
	}
	if b, ok := e.Body.(event.StreamSucceeded); ok && b.Record != m.record { // no run of it succeeds what it wrote under another
		for s, by := range f.writer {
			f.lost[s] = f.lost[s] || by == m && s != e.Stream
		}
		m.record = b.Record
	}
	m.log("wrote %s/%d at %d: %s", short8(e.Stream), e.Seq, e.Lamport, e.Body.Kind())
	return true
}

func short8(s ident.Stream) string { return string(s[:4]) + ".." + string(s[len(s)-4:]) }

func hexOf(hash [32]byte) string { return hex.EncodeToString(hash[:]) }
