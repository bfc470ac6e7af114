package sim

import (
	"context"
	"maps"
	"slices"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/journal"
)

// A message is what machines say to each other: marks, with what the receiver
// lacks by its own last ones, a question that the next answer names, and an
// answer to one.
type message struct {
	marks  event.Marks
	events [][]byte
	ask    uint64
	answer uint64
	beat   *event.Beat // made for the answer
}

// batchBytes is the most that one message carries of events.
const batchBytes = 64 << 10

// A mate is what one machine knows of another that it has a link to.
type mate struct {
	marks  event.Marks // how far it is, as it said and as it was sent since
	asked  uint64      // a question that is out, 0 for none
	target event.Marks // what the first exchange, or the one after a gap, has to bring
	join   func()      // ends the first exchange, nil when that is over
}

// meet is that a link came up.
func (m *machine) meet(p *machine) {
	m.sync()
	m.mate[p.n] = &mate{marks: event.Marks{}, join: m.j.Joining(p.runtime())}
	m.begin()
	mate, life := m.mate[p.n], m.life
	m.w.in(m.w.limits.Expiry, func() { // the first exchange is bounded in time
		if m.life == life && m.mate[p.n] == mate {
			mate.joined()
		}
	})
	m.ask(p)
}

// begin writes the run's first event: without it a machine has no beat.
func (m *machine) begin() {
	if m.j.Stream() != "" {
		return
	}
	if _, err := m.j.Decide(context.Background(), func(tx *journal.Tx) error { return tx.Begin() }); err != nil {
		m.log("cannot begin its run: %v", err)
	}
	m.noteWrites()
}

// joining tells that the first exchange with p is under way.
func (m *machine) joining(p *machine) bool {
	if e := m.end(p); e != nil {
		return e.core.Up() && !e.core.Stats().Joined
	}
	t := m.mate[p.n]
	return t != nil && t.join != nil
}

// end is m's side of the cable to p, nil for none.
func (m *machine) end(p *machine) *end {
	l := m.w.link(m, p)
	if l == nil || l.cable == nil {
		return nil
	}
	if l.a == m {
		return l.cable.ends[0]
	}
	return l.cable.ends[1]
}

func (t *mate) joined() {
	if t.join != nil {
		t.join()
		t.join = nil
	}
}

// leave is that a link went down.
func (m *machine) leave(p *machine) {
	t := m.mate[p.n]
	if t == nil {
		return
	}
	if m.j != nil {
		t.joined()
	}
	delete(m.mate, p.n)
}

// ask tells p where m is and wants to know where p is, and p's time.
func (m *machine) ask(p *machine) {
	if e := m.end(p); e != nil {
		e.ask()
		return
	}
	t := m.mate[p.n]
	m.w.asked++
	t.asked, t.target = m.w.asked, nil
	m.w.send(m, p, message{marks: m.marks(), ask: t.asked})
}

// marks are m's, with a beat of its own.
func (m *machine) marks() event.Marks {
	marks := m.j.Marks()
	if b := m.beat(); b != nil {
		marks[b.Stream] = event.Mark{Seq: marks[b.Stream].Seq, Beat: b}
	}
	return marks
}

// tell sends p the marks, and what it lacks.
func (m *machine) tell(p *machine) {
	if m.end(p) != nil {
		return // its ticks do
	}
	t := m.mate[p.n]
	if t.asked != 0 || m.w.chance(3) { // the answer may be lost; and the peer's clock is asked for
		m.ask(p)
		return
	}
	m.w.send(m, p, message{marks: m.marks(), events: m.lacks(p)})
}

// push sends all peers what they lack, as soon as there is something new.
func (m *machine) push() {
	if !m.running() {
		return
	}
	for _, p := range m.peers() {
		if e := m.end(p); e != nil {
			e.core.News()
			e.pump()
			continue
		}
		if all := m.lacks(p); len(all) > 0 {
			m.w.send(m, p, message{events: all})
		}
	}
}

// lacks are the next events that p lacks, which count as sent from here on, until
// p says otherwise.
func (m *machine) lacks(p *machine) [][]byte {
	t := m.mate[p.n]
	all, err := m.j.Missing(t.marks, batchBytes, nil)
	if err != nil {
		m.log("has nothing to send: %v", err)
		return nil
	}
	var raws [][]byte
	size := 0
	for _, s := range all {
		size += len(s.Raw)
		raws = append(raws, s.Raw)
		t.marks[s.Key.Stream] = event.Mark{Seq: max(s.Key.Seq, t.marks[s.Key.Stream].Seq)}
	}
	if size > batchBytes && len(raws) > 1 {
		fail(Bounded, "%s sends %d bytes of events at once, at most %d are asked for", m.name, size, batchBytes)
	}
	return raws
}

// receive takes a message. direct is that nobody stood between.
func (m *machine) receive(p *machine, msg message, direct bool) {
	t := m.mate[p.n]
	if t == nil {
		return
	}
	m.sync()
	if len(msg.events) > 0 {
		m.ingest(p.name, msg.events)
	}
	m.hear(msg.marks)
	if direct && msg.answer != 0 && msg.answer == t.asked && msg.beat != nil {
		m.noteHeard(msg.beat)
		m.j.Answered(msg.beat)
	}
	if msg.marks != nil {
		t.marks = event.Marks{}
		for s, mark := range msg.marks {
			t.marks[s] = event.Mark{Seq: mark.Seq}
		}
	}
	if msg.answer != 0 && msg.answer == t.asked {
		t.asked, t.target = 0, msg.marks
	}
	m.round(p, t)
	if msg.ask != 0 {
		marks := m.marks()
		m.w.send(m, p, message{events: m.lacks(p), marks: marks, answer: msg.ask, beat: marks[m.j.Stream()].Beat})
		return
	}
	if all := m.lacks(p); len(all) > 0 {
		m.w.send(m, p, message{events: all})
	}
}

// round ends the exchange under way with p when all is here that p had when it
// answered.
func (m *machine) round(p *machine, t *mate) {
	if t.target == nil {
		return
	}
	have := m.j.Marks()
	for s, want := range t.target {
		if want.Seq > have[s].Seq && !m.w.facts.refused(m, s) {
			return
		}
	}
	t.target = nil
	t.joined()
	delete(m.gap.left, p.n)
}

// hear takes the beats of marks, as they came.
func (m *machine) hear(marks event.Marks) {
	m.noteBeats(marks)
	m.j.MergeMarks(marks)
}

func (m *machine) noteBeats(marks event.Marks) {
	for _, s := range slices.Sorted(maps.Keys(marks)) {
		if b := marks[s].Beat; b != nil {
			m.noteHeard(b)
		}
	}
}

func (m *machine) noteHeard(b *event.Beat) {
	made, ok := m.w.facts.beats[beatName{b.Stream, b.Uptime}]
	if !ok {
		return
	}
	m.heard[made.by.n] = max(m.heard[made.by.n], made.at)
	if _, known := m.held.knew[b.Stream]; !known {
		m.held.knew[b.Stream] = m.w.now
	}
}

// ingest hands in what came from somebody.
func (m *machine) ingest(from string, batch [][]byte) event.IngestReport {
	r := m.j.Ingest(context.Background(), batch)
	m.log("takes %d of %s: %s", len(batch), from, short(r))
	m.checkReport(batch, r)
	m.noteTaken(batch, r)
	if r.Accepted+r.Released > 0 {
		m.changed()
	}
	return r
}

// changed lets everybody know what is new.
func (m *machine) changed() {
	life := m.life
	m.w.in(m.w.between(0, 5e6), func() {
		if m.life == life && m.running() {
			m.sync()
			m.push()
		}
	})
}

// trusts are all machines, and one that is hostile all the same.
func (w *World) trusts(n ident.NodeID) bool { return w.keys[n] }
