package fold

import (
	"strings"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/scope"
)

// Version is the fold version: two runtimes promise equal state for equal
// streams only under the same one. It opens the input of every digest.
const Version = 1

// A State is what a set of streams says, kept up to date event by event. It is
// not safe for concurrent use: it has one owner, who holds a lock around it.
// Views are copies, but for what events hold for ever (scopes, lists of files),
// which callers must not change. What yields views must be through before the
// next change.
type State struct {
	streams   map[ident.Stream]*stream
	runtimes  map[ident.Runtime]*runtime
	handovers map[string]*handover
	offers    map[*handover]struct{} // those that are open
	index     scope.Index[*claim]    // live claims, by what they cover
	words     map[string]*string     // reasons, each held once
	whos      map[string]*who        // by text
	whys      map[*string]*why       // by reason, those that say no more
	winners   map[*claim]*claim      // who beats a claim that is beaten
	scopes    scopes
	text      []byte // what is being packed
	work      work
	version   uint64
	digest    string // of all streams at this version, "" when not computed
}

// New returns the state of no streams.
func New() *State {
	return &State{
		streams:   map[ident.Stream]*stream{},
		runtimes:  map[ident.Runtime]*runtime{},
		handovers: map[string]*handover{},
		offers:    map[*handover]struct{}{},
		words:     map[string]*string{},
		whos:      map[string]*who{},
		whys:      map[*string]*why{},
		winners:   map[*claim]*claim{},
		scopes:    newScopes(),
	}
}

// Version counts the changes of s: a view taken at the same version is still true.
func (s *State) Version() uint64 { return s.version }

// Apply folds the next event of its stream as held: the one after the head, or
// one that fills a place skipped before. An event that is held already changes
// nothing. Places passed over count as skipped, as if Skip had been told.
// Streams may interleave in any way.
func (s *State) Apply(e *event.Event) Changes {
	h := head{seq: e.Seq, lamport: e.Lamport, at: e.At, hash: e.Hash}
	st := s.stream(e.Stream)
	if e.Seq == 0 || st.holds(e.Seq) {
		return Changes{}
	}
	if e.Seq > st.head+1 {
		s.Skip(e.Stream, st.head+1, e.Seq-1)
	}
	s.hold(st, h, e.Body)
	return s.settle()
}

// hold puts an event in its place in the stream, and its effect in the state
// unless a checkpoint has removed it.
func (s *State) hold(st *stream, h head, b event.Body) {
	f := s.read(st, h, b)
	filled := st.put(h, f)
	if h.seq == 1 {
		s.begin(st, f, filled)
	}
	if st.masked(h.seq, f) {
		st.remove(h.seq)
	} else {
		f.on(s)
	}
	if c, ok := f.(*checkpoint); ok {
		s.cover(c)
	}
	s.arrived(st, h.seq)
	if filled {
		s.rescan(st)
	}
}

// Skip steps over events of stream that are lost to disk damage: first to last,
// those of them that are not held. The stream is damaged, and left out of
// digests, until they are applied after all or a checkpoint removes them.
func (s *State) Skip(stream ident.Stream, first, last uint64) {
	st := s.stream(stream)
	if last <= st.head {
		return
	}
	st.skip(max(first, st.head+1), last)
	s.version++
	s.digest = ""
}

// A fact is what one event of a stream says, as the state keeps it. on and off
// join it to what it names and take it out again; neither depends on which
// facts came before. body is what it was read from.
type fact interface {
	pos() *spot
	on(s *State)
	off(s *State)
	body() event.Body
}

// A spot is the place of an event in its stream, and its stamp.
type spot struct{ seq, lamport uint64 }

func (p *spot) pos() *spot { return p }

func (h head) spot() spot { return spot{h.seq, h.lamport} }

// A silent fact says nothing to the fold.
type silent struct{ spot }

func (*silent) on(*State)        {}
func (*silent) off(*State)       {}
func (*silent) body() event.Body { return nil }

// read makes the fact of an event.
func (s *State) read(st *stream, h head, b event.Body) fact {
	switch b := b.(type) {
	case event.SessionOpened:
		return s.readOpened(st, h, b)
	case event.SessionClosed:
		return s.readClosed(st, h, b)
	case event.ClaimAcquired:
		return s.readClaim(st, h, b)
	case event.ClaimReleased:
		return s.readRelease(st, h, b)
	case event.HandoverPublished:
		return s.readPublication(st, h, b)
	case event.HandoverConsumed:
		return &taking{act: s.act(st, h, b.Session), id: b.Handover, of: s.refs(b.Publications)}
	case event.HandoverDeclined:
		return &taking{act: s.act(st, h, b.Session), id: b.Handover, of: s.refs(b.Publications), declined: true, reason: s.word(b.Reason)}
	case event.HandoverWithdrawn:
		return &withdrawal{act: s.act(st, h, b.Session), of: s.ref(b.Publication)}
	case event.ReviewRequested:
		return s.readReview(st, h, b)
	case event.ReviewAnswered:
		return &answer{act: s.act(st, h, b.Session), of: s.ref(b.Request), verdict: b.Verdict, note: b.Note, commit: b.Commit, tree: b.Tree}
	case event.ReviewClosed:
		return &reviewEnd{act: s.act(st, h, b.Session), of: s.ref(b.Request), reason: s.word(b.Reason)}
	case event.StreamSucceeded:
		if h.seq == 1 {
			return s.readSuccession(st, h, b)
		}
	case event.StreamCheckpoint:
		return s.readCheckpoint(st, h, b)
	case event.Opaque:
		return &uncounted{spot: h.spot(), st: st, opaque: true}
	case event.Unreadable:
		return &uncounted{spot: h.spot(), st: st}
	}
	return &silent{h.spot()}
}

// word returns a word that many events say, held once.
func (s *State) word(w string) *string {
	if w == "" {
		return nil
	}
	p := s.words[w]
	if p == nil {
		w = strings.Clone(w)
		p = &w
		s.words[w] = p
	}
	return p
}

// said is the word that was kept, "" for none.
func said(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}

// An uncounted fact is an event that this build cannot fold.
type uncounted struct {
	spot
	st     *stream
	opaque bool
}

func (u *uncounted) on(*State)  { u.count(1) }
func (u *uncounted) off(*State) { u.count(-1) }

func (u *uncounted) count(n int) {
	if u.opaque {
		u.st.opaque += n
	} else {
		u.st.unreadable += n
	}
}

func (u *uncounted) body() event.Body {
	if u.opaque {
		return event.Opaque{}
	}
	return event.Unreadable{}
}

// An act is the place of an event that a session wrote: all that orders it.
type act struct {
	ln *line
	spot
	at int64
}

func (s *State) act(st *stream, h head, sid string) act {
	return act{ln: s.line(st, sid), spot: h.spot(), at: h.at}
}

func (a *act) key() event.Key { return event.Key{Stream: a.ln.st.id, Seq: a.seq} }

func (a *act) session() ident.SessionID { return a.ln.sess.id() }

// order compares by (lamport, stream, seq): the one order of events that all
// runtimes share whatever they hold.
func (a *act) order(b *act) int {
	return orderOf(a.lamport, a.key(), b.lamport, b.key())
}

// A ref names an event that may not be held yet.
type ref struct {
	st  *stream
	seq uint64
}

func (r ref) key() event.Key { return event.Key{Stream: r.st.id, Seq: r.seq} }

func (s *State) ref(k event.Key) ref { return ref{s.stream(k.Stream), k.Seq} }

func (s *State) refs(keys []event.Key) []ref {
	if len(keys) == 0 {
		return nil
	}
	out := make([]ref, len(keys))
	for i, k := range keys {
		out[i] = s.ref(k)
	}
	return out
}

func keysOf(refs []ref) []event.Key {
	if len(refs) == 0 {
		return nil
	}
	out := make([]event.Key, len(refs))
	for i, r := range refs {
		out[i] = r.key()
	}
	return out
}
