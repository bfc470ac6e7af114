package fold

import (
	"iter"
	"slices"
	"strings"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

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
			v.Declines = append(v.Declines, Decline{Key: t.key(), Session: t.session(), Publications: keys, Reason: said(t.reason), At: t.at})
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
