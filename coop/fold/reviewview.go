package fold

import (
	"iter"
	"slices"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

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

// Review returns a review request whose event is held and not removed by a
// checkpoint, also an ended one.
func (s *State) Review(k event.Key) (Review, bool) {
	if st := s.streams[k.Stream]; st != nil {
		if r, ok := st.target(k.Seq).(*review); ok && r.held {
			return r.view(), true
		}
	}
	return Review{}, false
}

// Reviews yields every review request that is held, by key.
func (s *State) Reviews() iter.Seq[Review] {
	var all []*review
	for _, st := range s.held() {
		for f := range st.entries.all() {
			if r, ok := f.(*review); ok && r.held {
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
			for _, t := range x.things() {
				if r, ok := t.(*review); ok {
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
	for f := range r.refs.all() {
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
			v.EndReason = said(e.reason)
		}
	}
	return v
}
