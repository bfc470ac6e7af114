package sim

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/journal"
	"github.com/comity-dev/comity/coop/room"
	"github.com/comity-dev/comity/coop/scope"
)

// check holds the world against the invariants that can be looked at between two
// steps; the others are looked at where they could be broken.
func (w *World) check() {
	w.raise()
	for _, m := range w.machines {
		if m.running() {
			m.sync()
			m.noteWrites()
			m.checkState()
		}
	}
	for i, a := range w.machines {
		for _, b := range w.machines[i+1:] {
			w.checkPair(a, b)
		}
	}
}

// raise ends the run by what was found while a disk was being synced.
func (w *World) raise() {
	if w.late != nil {
		panic(w.late)
	}
}

// checkState looks at one machine's state.
func (m *machine) checkState() {
	var losers []fold.Claim
	m.j.View(func(v journal.View) {
		s := v.State()
		m.checkDigest(s)
		gone := func(s ident.Stream) bool { return v.Liveness(s) == journal.Expired }
		var held []fold.Claim
		for c := range s.Claims() {
			st := s.Standing(c.Key, gone).State
			if len(c.FencedBy) > 0 {
				m.held.fenced[c.Key] = c.FencedBy
			}
			if len(m.held.fenced[c.Key]) > 0 && s.Standing(c.Key, nil).State == fold.StandingHeld {
				fail(FencedForEver, "%s sees %s held, which was fenced", m.name, c.Key)
			}
			if st == fold.StandingHeld {
				held = append(held, c)
			}
		}
		losers = m.losers(v)
		if a, b, both := meet(held, held); both {
			fail(OneHolder, "%s sees %s of %s and %s of %s held", m.name, a.Key, a.Session, b.Key, b.Session)
		}
	})
	for _, c := range losers {
		m.checkTold(c)
	}
	h := m.j.Health()
	if lim := m.w.limits; h.Waiting > lim.PendingTotal || h.Streams > lim.Streams {
		fail(Bounded, "%s: %d events wait, %d streams are held", m.name, h.Waiting, h.Streams)
	}
}

// losers are the claims of own sessions that somebody took over, and whose end they
// did not write themselves.
func (m *machine) losers(v journal.View) (all []fold.Claim) {
	for k := range m.held.ended {
		c, ok := v.State().Claim(k)
		if !ok || len(c.FencedBy) == 0 || c.Session.Runtime != m.runtime() || !c.Live() && (c.EndReason != "fenced" || m.w.cloned || m.w.revised) {
			continue
		}
		s, _ := v.State().Session(c.Session)
		since := s.Opened.Stream == k.Stream && s.Opened.Seq < k.Seq // it was not closed and opened again
		if s.State == fold.SessionOpen && since && v.Liveness(s.Stream) == journal.Own {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b fold.Claim) int { return a.Key.Compare(b.Key) })
	return all
}

// checkDigest: who holds the same says the same, whenever that was.
func (m *machine) checkDigest(s *fold.State) {
	history, digest := s.History(nil), s.Digest(nil)
	if other, known := m.w.facts.digests[history]; known && other != digest {
		fail(EqualDigests, "%s has digest %s for history %s, which had %s", m.name, digest, history, other)
	}
	m.w.facts.digests[history] = digest
}

// meet finds one of each that exclude one another.
func meet(some, others []fold.Claim) (a, b fold.Claim, both bool) {
	for _, a := range some {
		for _, b := range others {
			if a.Session == b.Session || !excludes(a.Mode, a.Checkout, b.Mode, b.Checkout) {
				continue
			}
			if _, ok := a.Scope.Meets(b.Scope); ok {
				return a, b, true
			}
		}
	}
	return a, b, false
}

// excludes is the rule of the design, said again.
func excludes(a event.Mode, ca ident.CheckoutID, b event.Mode, cb ident.CheckoutID) bool {
	switch {
	case a == event.ModeAdvisory || b == event.ModeAdvisory:
		return false
	case a == event.ModeCheckout || b == event.ModeCheckout:
		return ca != "" && ca == cb
	}
	return true
}

func (m *machine) checkTold(c fold.Claim) {
	n, err := m.room.Notices(context.Background(), m.actor(c.Session.SID), api.NoticesRequest{})
	if err != nil {
		return // the session is over, and about to be closed
	}
	if !slices.ContainsFunc(n.Notices, func(n api.Notice) bool { return n.Kind == api.NoticeFenced && n.Claim == c.Key.String() }) {
		fail(LoserTold, "%s: %s lost %s and has no notice", m.name, c.Session.SID, c.Key)
	}
}

// checkPair: two machines that are linked, with nothing on its way, that hold the
// same and judge the same runs gone, have one holder for each thing.
func (w *World) checkPair(a, b *machine) {
	l := w.link(a, b)
	if l == nil || !l.sound() || l.flying > 0 || !a.running() || !b.running() || a.gapLeft() > 0 || b.gapLeft() > 0 {
		return
	}
	sa, sb := a.sight(), b.sight()
	if sa.history != sb.history || sa.gone != sb.gone {
		return
	}
	if x, y, both := meet(sa.held, sb.held); both {
		fail(OneHolder, "%s sees %s held, and %s sees %s", a.name, x.Key, b.name, y.Key)
	}
}

// A sight is what a machine sees.
type sight struct {
	history string
	gone    string
	held    []fold.Claim
}

func (m *machine) sight() (out sight) {
	m.j.View(func(v journal.View) {
		s := v.State()
		out.history = s.History(nil)
		gone := func(s ident.Stream) bool { return v.Liveness(s) == journal.Expired }
		for c := range s.Claims() {
			if gone(c.Stream) {
				out.gone += c.Key.String() + " "
			}
			if s.Standing(c.Key, gone).State == fold.StandingHeld {
				out.held = append(out.held, c)
			}
		}
	})
	return out
}

// slack is what clocks and their measure may be off within one expiry.
const slack = 100 * time.Millisecond

// A blocker is a claim in the way of another, and whether its run is judged gone.
type blocker struct {
	claim fold.Claim
	gone  bool
}

// blockers are the claims in the way of a request, worked out anew.
func (m *machine) blockers(sid string, req api.ClaimRequest) (all []blocker) {
	var set scope.Set
	var entries []scope.Entry
	for _, word := range req.Scope {
		e, err := scope.Door(tree{}, word, false)
		if err != nil {
			panic(err) // unreachable: the words of this package go through the door
		}
		entries = append(entries, e)
	}
	set, err := scope.NewSet(entries...)
	if err != nil {
		panic(err) // unreachable: as above
	}
	mode := event.Mode(req.Mode)
	if mode == "" {
		mode = event.ModeExclusive
	}
	m.j.View(func(v journal.View) {
		for c := range v.State().Claims() {
			if c.Session == (ident.SessionID{Runtime: m.runtime(), SID: sid}) || len(c.FencedBy) > 0 || !excludes(mode, m.actor(sid).Checkout, c.Mode, c.Checkout) {
				continue
			}
			if _, ok := set.Meets(c.Scope); ok {
				all = append(all, blocker{c, v.Liveness(c.Stream) == journal.Expired})
			}
		}
	})
	return all
}

// checkAdmission holds what became of a request against what was in its way.
func (m *machine) checkAdmission(a room.Actor, req api.ClaimRequest, before []blocker, reply api.ClaimReply, err error) {
	if err != nil {
		return
	}
	if reply.Already {
		return
	}
	fences := map[string]bool{}
	for _, k := range reply.Fences {
		fences[k] = true
	}
	for _, b := range before {
		switch {
		case !b.gone && !req.Break && fences[b.claim.Key.String()]:
			fail(LivingUnfenced, "%s: %s ends %s of %s, which nobody knows to be gone", m.name, a.Session, b.claim.Key, b.claim.Session)
		case !b.gone && !req.Break:
			fail(OneHolder, "%s: %s is admitted over %s of %s", m.name, a.Session, b.claim.Key, b.claim.Session)
		case !fences[b.claim.Key.String()]:
			fail(OneHolder, "%s: %s takes %s without ending %s of %s", m.name, a.Session, reply.Claim.Claim, b.claim.Key, b.claim.Session)
		case b.gone:
			m.checkGone(b.claim)
		}
		delete(fences, b.claim.Key.String())
	}
	for k := range fences {
		fail(LivingUnfenced, "%s: %s ends %s, which is not in its way", m.name, a.Session, k)
	}
}

// checkGone: a claim that a machine takes to be a dead one's was written by a
// machine that it did not hear for one expiry, in all of which it listened.
func (m *machine) checkGone(c fold.Claim) {
	of := m.w.facts.writer[c.Stream]
	if of == nil || m.w.facts.lost[c.Stream] {
		return
	}
	m.log("takes %s of %s for dead and ends %s", short8(c.Stream), of.name, c.Key)
	expiry := m.w.limits.Expiry - slack
	if of.pausedOnce { // it sees a pause that is longer than a heartbeat
		expiry -= m.w.limits.Heartbeat
	}
	heard := m.w.now - m.heard[of.n]
	switch {
	case m.heard[of.n] > 0 && heard < expiry:
		fail(LivingUnfenced, "%s fences %s of %s, a beat of which was made %v ago and heard", m.name, c.Key, of.name, heard)
	case m.w.now-m.listens < expiry:
		fail(LivingUnfenced, "%s fences %s of %s, and listens since %v only", m.name, c.Key, of.name, m.w.now-m.listens)
	case m.w.now-m.held.knew[c.Stream] < expiry:
		fail(LivingUnfenced, "%s fences %s of %s, of which it knows since %v only", m.name, c.Key, of.name, m.w.now-m.held.knew[c.Stream])
	case of.runs(2*expiry) && of != m && m.w.link(m, of).sound() && m.w.now-m.w.link(m, of).since > 2*expiry:
		fail(LivingUnfenced, "%s fences %s of %s, to which it has had a sound link for %v", m.name, c.Key, of.name, m.w.now-m.w.link(m, of).since)
	case of != m && m.joining(of):
		fail(LivingUnfenced, "%s fences %s of %s, with which the first exchange is under way", m.name, c.Key, of.name)
	}
}

// runs tells whether m has done so for a time, never halted.
func (m *machine) runs(d time.Duration) bool { return m.running() && m.w.now-m.woken > d }

// check asks whether a session may write a path. Who was away for so long that
// others may have taken over does not say yours of what a peer took meanwhile, or
// heard to be taken. What a key fences that is not believed here is not fenced.
func (m *machine) check(a room.Actor, path string) {
	reply, err := m.room.Check(context.Background(), a, api.CheckRequest{Paths: []string{path}})
	m.said(fmt.Sprintf("%s asks for %s: %s", a.Session, path, reply.Verdict), err)
	if err != nil || reply.Verdict != api.CheckYours {
		return
	}
	k, err := event.ParseKey(reply.Paths[0].Claim)
	if err != nil {
		fail(Works, "%s: yours by no claim: %+v", m.name, reply)
	}
	for _, p := range m.peers() {
		fenced := slices.ContainsFunc(p.held.ended[k], func(one ending) bool {
			return one.at < m.awake && !m.w.facts.refused(m, one.by.Stream)
		})
		if fenced && m.gap.all[p.n] && m.w.now-m.awake < m.w.limits.Expiry-slack {
			fail(NoStaleYes, "%s says that %s is %s's by %s, which %s fenced while it was away", m.name, path, a.Session, k, p.name)
		}
	}
}

// whileSyncing is called when m has written and its disk has not synced yet.
func (m *machine) whileSyncing() {
	if !m.up || m.j == nil || m.reading {
		return
	}
	m.reading = true
	defer func() {
		m.reading = false
		if v, ok := recover().(*Violation); ok { // on the log's goroutine: the run's own goroutine ends it
			m.w.late = v
		}
	}()
	pending := map[event.Key]bool{}
	m.j.View(func(v journal.View) {
		for _, e := range v.Pending() {
			pending[e.Key()] = true
			if _, ok := v.State().Claim(e.Key()); ok {
				fail(SyncedBeforeSent, "%s shows %s before it is synced", m.name, e.Key())
			}
		}
	})
	m.noteWrites() // of batches before
	theirs := event.Marks{}
	for s, seq := range m.held.heads {
		theirs[s] = event.Mark{Seq: seq}
	}
	all, err := m.j.Missing(theirs, batchBytes, nil)
	if err != nil {
		fail(Works, "%s cannot be read while it syncs: %v", m.name, err)
	}
	for _, s := range all {
		if _, ok := m.held.events[s.Key]; !ok {
			fail(SyncedBeforeSent, "%s has %s for its peers before it is synced", m.name, s.Key)
		}
	}
	for s, mark := range m.j.Marks() {
		if mark.Seq > m.held.reach[s] {
			fail(SyncedBeforeSent, "%s says that it holds %s up to %d before that is synced", m.name, s, mark.Seq)
		}
	}
	for k := range pending {
		if _, ok := m.held.events[k]; ok {
			fail(SyncedBeforeSent, "%s walks over %s before it is synced", m.name, k)
		}
	}
}

// checkReport: each event that was handed in is in one counter.
func (m *machine) checkReport(batch [][]byte, r event.IngestReport) {
	rejected := 0
	for _, n := range r.Rejected {
		rejected += n
	}
	counts := map[event.Status]int{}
	for _, o := range r.Outcomes {
		counts[o.Status]++
	}
	switch {
	case len(r.Outcomes) != len(batch), r.Total() != len(batch), counts[0] > 0,
		counts[event.Accepted] != r.Accepted, counts[event.Duplicate] != r.Duplicate, counts[event.Pending] != r.Pending,
		counts[event.NotStored] != r.NotStored, counts[event.Rejected] != rejected:
		fail(OneCounter, "%s: of %d events the report has %+v", m.name, len(batch), r)
	}
}

// noteTaken: what is called accepted is there.
func (m *machine) noteTaken(batch [][]byte, r event.IngestReport) {
	m.noteWrites()
	for n, o := range r.Outcomes {
		if _, ok := m.held.hashes[sha256.Sum256(batch[n])]; o.Status == event.Accepted && !ok && !m.disk.failing {
			fail(AckedIsKept, "%s accepted %s and does not hold it", m.name, name(batch[n]))
		}
	}
}

func short(r event.IngestReport) string {
	return fmt.Sprintf("%d new, %d held, %d waiting, %d not stored, refused %v, released %d, dropped %d", r.Accepted, r.Duplicate, r.Pending, r.NotStored, r.Rejected, r.Released, r.Dropped)
}
