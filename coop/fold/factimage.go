package fold

import (
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/internal/pack"
)

// factSections are the descriptions of what events say.
func (g *graph) factSections() []*section {
	fs := &g.facts
	return []*section{
		sectionOf("silent facts", fs.silents, func(c *pack.Coder) func(*silent) {
			before := new(spot)
			return func(f *silent) { before.next(c, &f.spot) }
		}),
		sectionOf("uncounted facts", fs.uncounted, func(c *pack.Coder) func(*uncounted) {
			before := new(spot)
			return func(f *uncounted) {
				before.next(c, &f.spot)
				sure(c, g.streams, &f.st)
				c.Bool(&f.opaque)
			}
		}),
		sectionOf("successions", fs.successions, g.succession),
		sectionOf("checkpoints", fs.checkpoints, g.checkpoint),
		sectionOf("marks", fs.marks, func(c *pack.Coder) func(*mark) {
			before := new(act)
			return func(m *mark) {
				g.act(c, before, &m.act)
				maybe(c, g.infos, &m.info)
				maybe(c, g.texts, &m.reason)
			}
		}),
		sectionOf("claims", fs.claims, g.claim),
		sectionOf("releases", fs.releases, func(c *pack.Coder) func(*release) {
			before := new(act)
			return func(r *release) {
				g.act(c, before, &r.act)
				pack.Uint(c, &r.claim)
				sure(c, g.whys, &r.why)
			}
		}),
		sectionOf("publications", fs.publications, g.publication),
		sectionOf("takings", fs.takings, func(c *pack.Coder) func(*taking) {
			before := new(act)
			return func(t *taking) {
				g.act(c, before, &t.act)
				pack.String(c, &t.id)
				g.refs(c, &t.of)
				c.Bool(&t.declined)
				maybe(c, g.texts, &t.reason)
			}
		}),
		sectionOf("withdrawals", fs.withdrawals, func(c *pack.Coder) func(*withdrawal) {
			before := new(act)
			return func(w *withdrawal) {
				g.act(c, before, &w.act)
				g.ref(c, &w.of)
			}
		}),
		sectionOf("reviews", fs.reviews, g.review),
		sectionOf("answers", fs.answers, func(c *pack.Coder) func(*answer) {
			before := new(act)
			return func(a *answer) {
				g.act(c, before, &a.act)
				g.ref(c, &a.of)
				pack.String(c, &a.verdict)
				pack.String(c, &a.note)
				pack.String(c, &a.commit)
				pack.String(c, &a.tree)
			}
		}),
		sectionOf("ends of reviews", fs.reviewEnds, func(c *pack.Coder) func(*reviewEnd) {
			before := new(act)
			return func(e *reviewEnd) {
				g.act(c, before, &e.act)
				g.ref(c, &e.of)
				maybe(c, g.texts, &e.reason)
			}
		}),
	}
}

// next is the place of an event, told by how far it is from the one before it in
// the section.
func (before *spot) next(c *pack.Coder, p *spot) {
	apart(c, before.seq, &p.seq)
	apart(c, before.lamport, &p.lamport)
	*before = *p
}

// apart is a number that is near another.
func apart(c *pack.Coder, before uint64, n *uint64) {
	d := int64(*n - before)
	if pack.Int(c, &d); c.Reading() {
		*n = before + uint64(d)
	}
}

func (g *graph) act(c *pack.Coder, before, a *act) {
	sure(c, g.lines, &a.ln)
	before.next(c, &a.spot)
	d := a.at - before.at
	if pack.Int(c, &d); c.Reading() {
		a.at = before.at + d
	}
	before.at = a.at
}

// Flags of a thing, and of a claim above them.
const (
	thingHeld = 1 << iota
	thingLive
	claimFenced
	claimHolds
	thingBirth // two bits
	_
	claimMode // two bits
)

// thing is what all have that others refer to. flags are those of a claim.
func (g *graph) thing(c *pack.Coder, before *act, t *thing, flags uint8) uint8 {
	g.act(c, before, &t.act)
	if t.noted != 0 {
		g.odd = errUnsettled.Error()
	}
	flags |= flag(t.held)*thingHeld | flag(t.live)*thingLive | uint8(t.birth)*thingBirth
	pack.Uint(c, &flags)
	t.held, t.live, t.birth = flags&thingHeld > 0, flags&thingLive > 0, birth(flags/thingBirth%4)
	maybe(c, g.facts.marks, &t.opening)
	if t.live {
		pack.Int(c, &t.place)
	}
	g.references(c, &t.refs)
	return flags
}

func flag(on bool) uint8 {
	if on {
		return 1
	}
	return 0
}

// references are the facts that name a thing.
func (g *graph) references(c *pack.Coder, r *refs) {
	n := 0
	for range r.all() {
		n++
	}
	n = c.Len(n)
	if !c.Reading() {
		for f := range r.all() {
			g.fact(c, &f)
		}
		return
	}
	for range n {
		var f fact
		if g.fact(c, &f); c.Err() != nil {
			return
		}
		r.add(f)
	}
}

func (g *graph) claim(c *pack.Coder) func(*claim) {
	before := new(act)
	return func(k *claim) {
		if k.queued || k.news || k.moved {
			g.odd = errUnsettled.Error()
		}
		flags := g.thing(c, before, &k.thing, flag(k.fenced)*claimFenced|flag(k.holds)*claimHolds|uint8(k.mode)*claimMode)
		k.fenced, k.holds, k.mode = flags&claimFenced > 0, flags&claimHolds > 0, mode(flags/claimMode)
		if int(k.mode) >= len(modes) {
			c.Fail()
		}
		sure(c, g.scopes, &k.scope)
		maybe(c, g.words, &k.words)
	}
}

func (g *graph) publication(c *pack.Coder) func(*publication) {
	before := new(act)
	return func(p *publication) {
		g.thing(c, before, &p.thing, 0)
		sure(c, g.handovers, &p.in)
		pack.String(c, &p.to)
		h := &p.what
		body := g.body(h.Body)
		sure(c, g.bodies, &body)
		for _, s := range []*string{&h.ID, &h.Task, &h.Issue, &h.Milestone, &h.Branch, &h.Head, &h.CreatedAt, &h.Name} {
			pack.String(c, s)
		}
		pack.List(c, &h.Files, func(s *string) { pack.String(c, s) })
		if c.Reading() { // it may not be read yet: see join
			g.published = append(g.published, published{p, body})
		}
	}
}

func (g *graph) review(c *pack.Coder) func(*review) {
	before := new(act)
	return func(r *review) {
		g.thing(c, before, &r.thing, 0)
		q := &r.request
		for _, s := range []*string{&q.Session, &q.Subject, &q.Branch, &q.Commit, &q.Tree, &q.Reviewer, &q.Body, &q.Issue} {
			pack.String(c, s)
		}
		has := len(q.Scope) > 0
		if c.Bool(&has); has {
			set(c, &q.Scope, new([]string))
		}
	}
}

func (g *graph) succession(c *pack.Coder) func(*succession) {
	before := new(spot)
	return func(r *succession) {
		before.next(c, &r.spot)
		pack.String(c, &r.record)
		pack.Uint(c, &r.run)
		many(c, g.sessions, &r.sessions)
		many(c, g.streams, &r.streams)
		pack.Int(c, &r.unknown)
		maybe(c, g.streams, &r.highest)
	}
}

func (g *graph) checkpoint(c *pack.Coder) func(*checkpoint) {
	before := new(spot)
	return func(k *checkpoint) {
		before.next(c, &k.spot)
		sure(c, g.streams, &k.st)
		many(c, g.streams, &k.covers)
		g.kept(c, &k.kept)
		pack.String(c, &k.digest)
		pack.Uint(c, &k.missing)
		c.Bool(&k.astray)
		c.Bool(&k.wrong)
	}
}

// kept are the places that a checkpoint names.
func (g *graph) kept(c *pack.Coder, kept *map[*stream][]event.Range) {
	type named struct {
		st  *stream
		all []event.Range
	}
	var list []named
	for _, st := range byID(*kept) {
		list = append(list, named{st, (*kept)[st]})
	}
	pack.List(c, &list, func(n *named) {
		sure(c, g.streams, &n.st)
		ranges(c, &n.all)
	})
	if !c.Reading() {
		return
	}
	*kept = make(map[*stream][]event.Range, len(list))
	for _, n := range list {
		(*kept)[n.st] = n.all
	}
}
