package fold

import (
	"iter"
	"slices"
	"strings"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/scope"
)

// StreamInfo is what is held of a stream.
type StreamInfo struct {
	Stream     ident.Stream
	Head       uint64
	Lamport    uint64 // highest stamp
	Record     string // run record, "" when its first event does not tell or is not held
	Run        uint64
	Succeeded  bool // by a later run of its record that is held
	Damaged    bool // an event that matters was skipped
	Incomplete bool // a checkpoint names an event that is not held
	Opaque     int  // events of kinds that this build does not know
	Unreadable int  // events and checkpoints that this build cannot read
}

// SessionState says whether a session goes on, by events alone.
type SessionState string

const (
	SessionOpen   SessionState = "open"
	SessionClosed SessionState = "closed"
	SessionEnded  SessionState = "ended" // its run was succeeded without it
)

// Session is the view of a session. Info and Opened are empty while its opening
// is not held: a later run listed it.
type Session struct {
	ID       ident.SessionID
	Info     event.SessionInfo // of the latest opening
	State    SessionState
	Reason   string       // of the close
	Opened   event.Key    // the opening since which it is open without a break
	OpenedAt int64        // Unix seconds, its author's clock
	Stream   ident.Stream // the run it lives in now, or in which it was last heard of
	Claims   int          // live
}

// Claim is the view of a claim. It is live while it is neither Released nor Ended.
type Claim struct {
	Key       event.Key
	Session   ident.SessionID
	Stream    ident.Stream     // the run its session lives in now; its own once it has ended
	Checkout  ident.CheckoutID // of its session when it was acquired, "" while that is not known
	Scope     scope.Set
	Mode      event.Mode
	Intent    string
	Issue     string
	Reason    string
	Epoch     uint64 // the stamp of its event
	At        int64  // Unix seconds, its author's clock
	Fences    []event.Key
	Breaks    []event.Key
	FencedBy  []event.Key // claims whose fence of this one counts, in order
	Released  bool        // by an event of its session that names it
	Ended     bool        // with its session, and not released
	EndReason string      // of the release, else of the session's end
}

// Live reports whether the claim is unreleased and its session goes on.
func (c *Claim) Live() bool { return !c.Released && !c.Ended }

// Publication is one offer of a handover.
type Publication struct {
	Key       event.Key
	Session   ident.SessionID
	To        string // "" for anybody
	From      string // the person or program that its session names
	At        int64
	Withdrawn bool
	Taken     bool
}

// Taking is a session that took a handover, in the publications that it names.
type Taking struct {
	Key          event.Key
	Session      ident.SessionID
	Publications []event.Key
	At           int64
}

// Decline is a session that declined a handover.
type Decline struct {
	Key          event.Key
	Session      ident.SessionID
	Publications []event.Key
	Reason       string
	At           int64
}

// Handover is the view of one text: its lists are in the order of events.
type Handover struct {
	ID           string
	Body         event.Handover // as its first publication tells it
	Publications []Publication
	Takings      []Taking
	Declines     []Decline
	Open         bool // some publication is neither taken nor withdrawn
}

// Answer is one answer to a review request.
type Answer struct {
	Key     event.Key
	Session ident.SessionID
	Verdict event.Verdict
	Note    string
	Commit  string
	Tree    string
	At      int64
}

// Review is the view of a review request. Answers of its own session do not
// count and are not listed; several stand side by side.
type Review struct {
	Key       event.Key
	Session   ident.SessionID
	Request   event.ReviewRequested
	Answers   []Answer
	Open      bool
	EndReason string
	At        int64
}

// Head returns the highest place of a stream that is held or skipped, 0 for an unknown one.
func (s *State) Head(id ident.Stream) uint64 {
	if st := s.streams[id]; st != nil {
		return st.head
	}
	return 0
}

// Streams yields what is held, by stream id.
func (s *State) Streams() iter.Seq[StreamInfo] {
	return sorted(s.held(), func(st *stream) StreamInfo {
		i := StreamInfo{
			Stream: st.id, Head: st.head, Lamport: st.lamport, Succeeded: len(st.later()) > 0,
			Damaged: st.damaged(), Incomplete: st.incomplete(),
			Opaque: st.opaque, Unreadable: st.unreadable + st.badCheckpoints(),
		}
		if st.run != nil {
			i.Record, i.Run = st.run.record, st.run.run
		}
		return i
	})
}

// held are the streams of which something is held or skipped, by id.
func (s *State) held() []*stream {
	var all []*stream
	for _, st := range s.streams {
		if st.head > 0 {
			all = append(all, st)
		}
	}
	slices.SortFunc(all, func(a, b *stream) int { return strings.Compare(string(a.id), string(b.id)) })
	return all
}

// sorted yields the views of xs, made one by one.
func sorted[X, V any](xs []X, view func(X) V) iter.Seq[V] {
	return func(yield func(V) bool) {
		for _, x := range xs {
			if !yield(view(x)) {
				return
			}
		}
	}
}

// Session returns a session that an event opened, closed or listed.
func (s *State) Session(id ident.SessionID) (Session, bool) {
	rt := s.runtimes[id.Runtime]
	if rt == nil || rt.sessions[id.SID] == nil {
		return Session{}, false
	}
	return rt.sessions[id.SID].view()
}

// Sessions yields all sessions, also closed ones, in the order of their ids.
func (s *State) Sessions() iter.Seq[Session] { return s.sessions(func(*session) bool { return true }) }

// OpenSessions yields the open ones, in the order of their ids. It costs what they are.
func (s *State) OpenSessions() iter.Seq[Session] {
	var all []*session
	for _, rt := range s.runtimes {
		for x := range rt.active {
			if x.open {
				all = append(all, x)
			}
		}
	}
	return views(all)
}

func (s *State) sessions(want func(*session) bool) iter.Seq[Session] {
	var all []*session
	for _, rt := range s.runtimes {
		for _, x := range rt.sessions {
			if x.known() && want(x) {
				all = append(all, x)
			}
		}
	}
	return views(all)
}

func views(all []*session) iter.Seq[Session] {
	slices.SortFunc(all, func(a, b *session) int { return a.id().Compare(b.id()) })
	return sorted(all, func(x *session) Session {
		v, _ := x.view()
		return v
	})
}

// known tells whether an event in effect opened, closed or listed the session.
func (x *session) known() bool {
	return x.lists > 0 || slices.ContainsFunc(x.lines, func(ln *line) bool { return len(ln.marks) > 0 })
}

func (x *session) view() (Session, bool) {
	if !x.known() {
		return Session{}, false
	}
	l := x.state()
	v := Session{ID: x.id(), Info: l.info(), State: SessionEnded, Claims: x.claims()}
	if l.opening != nil {
		first := x.since(l.opening)
		v.Opened, v.OpenedAt, v.Stream = first.key(), first.at, l.opening.ln.st.id
	}
	switch {
	case l.open != nil:
		v.State, v.Stream = SessionOpen, l.open.id
	case l.latest != nil && l.latest.info == nil:
		v.State, v.Reason, v.Stream = SessionClosed, l.latest.reason, l.latest.ln.st.id
	}
	return v, true
}

func (x *session) claims() (n int) {
	for _, t := range x.live {
		if _, ok := t.self.(*claim); ok {
			n++
		}
	}
	return n
}

// Claim returns a claim whose event is held and not removed by a checkpoint,
// also a released or ended one.
func (s *State) Claim(k event.Key) (Claim, bool) {
	c := s.claim(k)
	if c == nil {
		return Claim{}, false
	}
	return c.view(), true
}

func (s *State) claim(k event.Key) *claim {
	if st := s.streams[k.Stream]; st != nil {
		if t := st.target(k.Seq); t != nil && t.held {
			c, _ := t.self.(*claim)
			return c
		}
	}
	return nil
}

func (c *claim) view() Claim {
	w := c.words()
	v := Claim{
		Key: c.key(), Session: c.session(), Stream: c.ln.st.id, Scope: c.scope, Mode: modes[c.mode],
		Intent: w.intent, Issue: w.issue, Reason: w.reason, Epoch: c.lamport, At: c.at,
		Fences: keysOf(c.fencesOf()), Breaks: keysOf(c.breaksOf()),
	}
	if c.where != nil {
		v.Checkout = c.where.info.Checkout
	}
	for _, by := range c.fencers() {
		v.FencedBy = append(v.FencedBy, by.key())
	}
	if c.live {
		v.Stream = c.ln.st.now().id
		return v
	}
	if r := c.released(); r != nil {
		v.Released, v.EndReason = true, r.reason
		return v
	}
	v.Ended, v.EndReason = true, c.ended()
	return v
}

// Claims yields the live claims, by key.
func (s *State) Claims() iter.Seq[Claim] {
	var all []*claim
	for c := range s.index.all() {
		all = append(all, c)
	}
	return claimViews(all)
}

// ClaimsOf returns the live claims of a session, by key.
func (s *State) ClaimsOf(id ident.SessionID) []Claim {
	rt := s.runtimes[id.Runtime]
	if rt == nil || rt.sessions[id.SID] == nil {
		return nil
	}
	var all []*claim
	for _, t := range rt.sessions[id.SID].live {
		if c, ok := t.self.(*claim); ok {
			all = append(all, c)
		}
	}
	return slices.Collect(claimViews(all))
}

func claimViews(all []*claim) iter.Seq[Claim] {
	slices.SortFunc(all, func(a, b *claim) int { return a.key().Compare(b.key()) })
	return sorted(all, (*claim).view)
}

// Meeting yields the live claims of any mode that set meets, by key.
func (s *State) Meeting(set scope.Set) iter.Seq[Claim] {
	return claimViews(slices.Collect(s.index.meeting(set)))
}

// Handover returns a handover of which a publication is held.
func (s *State) Handover(id string) (Handover, bool) {
	h := s.handovers[id]
	if h == nil || len(h.pubs) == 0 {
		return Handover{}, false
	}
	return h.view(), true
}

// Handovers yields every handover of which a publication is held, by id.
func (s *State) Handovers() iter.Seq[Handover] {
	var all []*handover
	for _, h := range s.handovers {
		if len(h.pubs) > 0 {
			all = append(all, h)
		}
	}
	return handoverViews(all)
}

// OpenHandovers yields those that are open, by id. It costs what they are.
func (s *State) OpenHandovers() iter.Seq[Handover] {
	var all []*handover
	for h := range s.offers {
		all = append(all, h)
	}
	return handoverViews(all)
}

func handoverViews(all []*handover) iter.Seq[Handover] {
	slices.SortFunc(all, func(a, b *handover) int { return strings.Compare(a.id, b.id) })
	return sorted(all, (*handover).view)
}

func (h *handover) view() Handover {
	v := Handover{ID: h.id, Open: h.open}
	taken := map[event.Key]bool{}
	for _, t := range inOrder(h.takings, func(t *taking) *act { return &t.act }) {
		keys := keysOf(t.of)
		if t.declined {
			v.Declines = append(v.Declines, Decline{Key: t.key(), Session: t.session(), Publications: keys, Reason: t.reason, At: t.at})
			continue
		}
		v.Takings = append(v.Takings, Taking{Key: t.key(), Session: t.session(), Publications: keys, At: t.at})
		for _, k := range keys {
			taken[k] = true
		}
	}
	for i, p := range inOrder(h.pubs, func(p *publication) *act { return &p.act }) {
		if i == 0 {
			v.Body = p.what
		}
		info := p.ln.sess.state().info()
		from := info.By
		if from == "" {
			from = info.Client
		}
		v.Publications = append(v.Publications, Publication{
			Key: p.key(), Session: p.session(), To: p.to, From: from, At: p.at,
			Withdrawn: p.withdrawn(), Taken: taken[p.key()],
		})
	}
	return v
}

func inOrder[X any](xs []X, of func(X) *act) []X {
	xs = slices.Clone(xs)
	slices.SortFunc(xs, func(a, b X) int { return of(a).order(of(b)) })
	return xs
}

// Review returns a review request whose event is held and not removed by a
// checkpoint, also an ended one.
func (s *State) Review(k event.Key) (Review, bool) {
	if st := s.streams[k.Stream]; st != nil {
		if t := st.target(k.Seq); t != nil && t.held {
			if r, ok := t.self.(*review); ok {
				return r.view(), true
			}
		}
	}
	return Review{}, false
}

// Reviews yields every review request that is held, by key.
func (s *State) Reviews() iter.Seq[Review] {
	var all []*review
	for _, st := range s.held() {
		for i := range st.entries {
			if r, ok := st.entries[i].fact.(*review); ok && r.held {
				all = append(all, r)
			}
		}
	}
	return sorted(all, (*review).view)
}

// OpenReviews yields those that are open, by key. It costs what lives.
func (s *State) OpenReviews() iter.Seq[Review] {
	var all []*review
	for _, rt := range s.runtimes {
		for x := range rt.active {
			for _, t := range x.live {
				if r, ok := t.self.(*review); ok {
					all = append(all, r)
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b *review) int { return a.key().Compare(b.key()) })
	return sorted(all, (*review).view)
}

func (r *review) view() Review {
	v := Review{Key: r.key(), Session: r.session(), Request: r.request, Open: r.live, At: r.at}
	var answers []*answer
	for _, f := range r.refs {
		if a, ok := f.(*answer); ok && !r.own(&a.act) {
			answers = append(answers, a)
		}
	}
	for _, a := range inOrder(answers, func(a *answer) *act { return &a.act }) {
		v.Answers = append(v.Answers, Answer{
			Key: a.key(), Session: a.session(), Verdict: a.verdict, Note: a.note, Commit: a.commit, Tree: a.tree, At: a.at,
		})
	}
	if !v.Open {
		v.EndReason = r.ended()
		if e := r.closed(); e != nil {
			v.EndReason = e.reason
		}
	}
	return v
}
