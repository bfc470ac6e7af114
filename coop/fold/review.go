package fold

import (
	"github.com/comity-dev/comity/coop/event"
)

// A review is one request and what answers it.
type review struct {
	thing
	request event.ReviewRequested
}

func (s *State) readReview(st *stream, h head, b event.ReviewRequested) *review {
	r := &review{thing: thing{act: s.act(st, h, b.Session)}, request: b}
	st.adopt(&r.thing)
	return r
}

func (r *review) body() event.Body { return r.request }
func (r *review) on(s *State)      { s.enter(r) }
func (r *review) off(s *State)     { s.leave(r) }

func (r *review) weigh(s *State) {
	live := r.held && r.closed() == nil && r.stands()
	if live != r.live {
		enliven(r, live)
		s.counted(r.ln.sess)
	}
	s.work.touch(r)
}

// closed returns the first close of the request that counts, nil when there is none.
func (r *review) closed() *reviewEnd {
	var first *reviewEnd
	for f := range r.refs.all() {
		if e, ok := f.(*reviewEnd); ok && r.own(&e.act) && (first == nil || e.order(&first.act) < 0) {
			first = e
		}
	}
	return first
}

// An answer counts when another session gives it.
type answer struct {
	act
	of                 ref
	verdict            event.Verdict
	note, commit, tree string
}

func (a *answer) body() event.Body {
	return event.ReviewAnswered{Request: a.of.key(), Session: a.ln.sess.sid, Verdict: a.verdict, Note: a.note, Commit: a.commit, Tree: a.tree}
}

func (a *answer) on(s *State)  { s.doubt(a.of.join(a)) }
func (a *answer) off(s *State) { s.doubt(a.of.part(a)) }

// A reviewEnd ends a request of its own session.
type reviewEnd struct {
	act
	of     ref
	reason *string
}

func (e *reviewEnd) body() event.Body {
	return event.ReviewClosed{Request: e.of.key(), Session: e.ln.sess.sid, Reason: said(e.reason)}
}

func (e *reviewEnd) on(s *State)  { s.doubt(e.of.join(e)) }
func (e *reviewEnd) off(s *State) { s.doubt(e.of.part(e)) }
