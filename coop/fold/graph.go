package fold

import (
	"maps"
	"slices"
	"strings"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/scope"
	"github.com/comity-dev/comity/internal/pack"
)

// A graph is the objects of a state as an image has them: each once, in the
// section of its type, and named by its number wherever another refers to it.
//
// Left out is what is worked out again when it is asked for (plans of scopes, the
// line that a stream was last asked for, since when a session is open, digests),
// and what is found among the objects when all are there: see join.
type graph struct {
	state *State
	roots *table[State]

	streams   *table[stream]
	runtimes  *table[runtime]
	records   *table[record]
	sessions  *table[session]
	threads   *table[thread]
	lines     *table[line]
	handovers *table[handover]
	infos     *table[info]
	whos      *table[who]
	texts     *table[string]
	whys      *table[why]
	words     *table[words]
	scopes    *table[covered]
	wins      *table[win]
	bodies    *table[string] // of handovers; published again, a text is held once
	facts     facts

	texted    map[string]*string // bodies by what they say, when writing
	members   []members          // when reading: see join
	published []published

	odd string // what cannot be written down, "" for nothing
}

// A win is who beats a claim that is beaten.
type win struct{ beaten, by *claim }

func newGraph(s *State) *graph {
	return &graph{
		state: s, roots: newTable[State](), streams: newTable[stream](), runtimes: newTable[runtime](), records: newTable[record](),
		sessions: newTable[session](), threads: newTable[thread](), lines: newTable[line](), handovers: newTable[handover](),
		infos: newTable[info](), whos: newTable[who](), texts: newTable[string](), whys: newTable[why](),
		words: newTable[words](), scopes: newTable[covered](), wins: newTable[win](),
		bodies: newTable[string](), facts: newFacts(), texted: map[string]*string{},
	}
}

// number gives their numbers to the facts, stream by stream in the order of their
// entries, and to what no other object need refer to.
func (g *graph) number() {
	s := g.state
	g.roots.of(s)
	for _, id := range slices.Sorted(maps.Keys(s.streams)) {
		st := s.streams[id]
		g.streams.of(st)
		for f := range st.entries.all() {
			g.facts.put(f)
		}
	}
	for _, id := range slices.SortedFunc(maps.Keys(s.runtimes), ident.Runtime.Compare) {
		g.runtimes.of(s.runtimes[id])
	}
	for _, id := range slices.Sorted(maps.Keys(s.handovers)) {
		g.handovers.of(s.handovers[id])
	}
	for _, w := range slices.Sorted(maps.Keys(s.words)) {
		g.texts.of(s.words[w])
	}
	for _, w := range slices.Sorted(maps.Keys(s.whos)) {
		g.whos.of(s.whos[w])
	}
	for _, w := range slices.SortedFunc(maps.Values(s.whys), func(a, b *why) int { return strings.Compare(said(a.reason), said(b.reason)) }) {
		g.whys.of(w)
	}
	for _, c := range slices.SortedFunc(maps.Keys(s.winners), func(a, b *claim) int { return a.order(&b.act) }) {
		g.wins.of(&win{c, s.winners[c]})
	}
}

// sections are the descriptions of all types.
func (g *graph) sections() []*section {
	all := []*section{
		sectionOf("state", g.roots, func(c *pack.Coder) func(*State) {
			return func(s *State) { pack.Uint(c, &s.version) }
		}),
		sectionOf("streams", g.streams, g.stream),
		sectionOf("runtimes", g.runtimes, g.runtime),
		sectionOf("records", g.records, func(c *pack.Coder) func(*record) {
			return func(r *record) { many(c, g.streams, &r.runs) }
		}),
		sectionOf("sessions", g.sessions, g.session),
		sectionOf("threads", g.threads, g.thread),
		sectionOf("lines", g.lines, g.line),
		sectionOf("handovers", g.handovers, g.handover),
		sectionOf("infos", g.infos, func(c *pack.Coder) func(*info) {
			return func(i *info) {
				sure(c, g.whos, &i.who)
				pack.String(c, &i.text)
			}
		}),
		sectionOf("whos", g.whos, func(c *pack.Coder) func(*who) {
			return func(w *who) {
				pack.String(c, &w.checkout)
				pack.String(c, &w.text)
			}
		}),
		sectionOf("texts", g.texts, func(c *pack.Coder) func(*string) {
			return func(s *string) { pack.String(c, s) }
		}),
		sectionOf("whys", g.whys, func(c *pack.Coder) func(*why) {
			return func(w *why) {
				maybe(c, g.texts, &w.reason)
				maybe(c, g.streams, &w.of)
				maybe(c, g.streams, &w.fence.st)
				pack.Uint(c, &w.fence.seq)
				pack.String(c, &w.by)
			}
		}),
		sectionOf("words", g.words, g.word),
		sectionOf("scopes", g.scopes, func(c *pack.Coder) func(*covered) {
			stored := new([]string)
			return func(s *covered) { set(c, &s.set, stored) }
		}),
		sectionOf("bodies of handovers", g.bodies, func(c *pack.Coder) func(*string) {
			return func(s *string) { pack.String(c, s) }
		}),
		sectionOf("wins", g.wins, func(c *pack.Coder) func(*win) {
			return func(w *win) {
				sure(c, g.facts.claims, &w.beaten)
				sure(c, g.facts.claims, &w.by)
			}
		}),
	}
	return append(all, g.factSections()...)
}

// set is a scope, by what is stored of it; stored is room for that.
func set(c *pack.Coder, s *scope.Set, stored *[]string) {
	*stored = (*stored)[:0]
	for _, e := range *s {
		*stored = append(*stored, e.String())
	}
	n := c.Len(len(*stored))
	for i := range n {
		if c.Reading() {
			*stored = append(*stored, "")
		}
		if pack.String(c, &(*stored)[i]); c.Err() != nil {
			return
		}
	}
	if !c.Reading() {
		return
	}
	var err error
	if *s, err = scope.ParseSet(*stored); err != nil {
		c.Fail()
	}
}

func (g *graph) ref(c *pack.Coder, r *ref) {
	sure(c, g.streams, &r.st)
	pack.Uint(c, &r.seq)
}

func (g *graph) refs(c *pack.Coder, all *[]ref) {
	pack.List(c, all, func(r *ref) { g.ref(c, r) })
}

func ranges(c *pack.Coder, all *[]event.Range) {
	pack.List(c, all, func(r *event.Range) {
		pack.Uint(c, &r.First)
		pack.Uint(c, &r.Last)
	})
}

func (g *graph) stream(c *pack.Coder) func(*stream) {
	held := new(ordered)
	return func(st *stream) {
		pack.String(c, &st.id)
		sure(c, g.runtimes, &st.rt)
		pack.Uint(c, &st.head)
		pack.Uint(c, &st.lamport)
		g.entries(c, &st.entries, held)
		pack.Map(c, &st.removed, func(seq *uint64, _ *struct{}) { pack.Uint(c, seq) })
		pack.List(c, &st.gaps, func(p *gap) {
			pack.Uint(c, &p.first)
			pack.Uint(c, &p.last)
		})
		pack.Map(c, &st.waiting, func(seq *uint64, all *[]fact) {
			pack.Uint(c, seq)
			pack.List(c, all, func(f *fact) { g.fact(c, f) })
		})
		if c.Reading() {
			st.removed, st.waiting = none(st.removed), none(st.waiting)
		}
		maybe(c, g.facts.successions, &st.run)
		sure(c, g.records, &st.rec)
		many(c, g.streams, &st.namedBy)
		pack.Int(c, &st.carriers)
		many(c, g.facts.checkpoints, &st.ckpts)
		many(c, g.facts.checkpoints, &st.masks)
		ranges(c, &st.left)
		pack.Int(c, &st.opaque)
		pack.Int(c, &st.unreadable)
	}
}

// none is nil for an empty map: most streams have none.
func none[K comparable, V any](m map[K]V) map[K]V {
	if len(m) == 0 {
		return nil
	}
	return m
}

// entries are the kinds of the facts: which ones they are, their order tells.
func (g *graph) entries(c *pack.Coder, es *entries, held *ordered) {
	if !c.Reading() {
		c.Len(es.len())
		for f := range es.all() {
			k := kindOf(f)
			if pack.Uint(c, &k); k == kindNone || held.next(k) != g.facts.shelves[k].number(f) {
				g.odd = "a fact is of no kind, or in two places"
			}
		}
		for _, p := range es.pages {
			for i := range p.hashes {
				c.Fixed(p.hashes[i][:])
			}
		}
		return
	}
	n := c.Len(0)
	es.pages = make([]page, 0, (n+pageEntries-1)/pageEntries)
	for left := n; left > 0; left -= pageEntries {
		size := min(left, pageEntries)
		p := page{make([][32]byte, size), make([]fact, size)}
		for i := range p.facts {
			var k kind
			if pack.Uint(c, &k); k >= kinds {
				k = kindNone
			}
			if p.facts[i] = g.factAt(c, k, held.next(k)); p.facts[i] == nil {
				es.pages = nil
				return
			}
		}
		es.pages = append(es.pages, p)
	}
	for _, p := range es.pages {
		for i := range p.hashes {
			c.Fixed(p.hashes[i][:])
		}
	}
}

func (g *graph) runtime(c *pack.Coder) func(*runtime) {
	return func(rt *runtime) {
		pack.String(c, &rt.id.Node)
		pack.String(c, &rt.id.ID)
		all := slices.SortedFunc(maps.Values(rt.sessions), func(a, b *session) int { return strings.Compare(a.sid, b.sid) })
		many(c, g.sessions, &all)
		pack.Map(c, &rt.records, func(name *string, r **record) {
			pack.String(c, name)
			sure(c, g.records, r)
		})
		many(c, g.facts.checkpoints, &rt.ckpts)
		if c.Reading() { // by their names, which may not be read yet: see join
			g.members = append(g.members, members{rt, all})
		}
	}
}

func (g *graph) session(c *pack.Coder) func(*session) {
	return func(x *session) {
		if x.dirty != clean || x.rescan || x.told {
			g.odd = errUnsettled.Error()
		}
		sure(c, g.runtimes, &x.rt)
		pack.String(c, &x.sid)
		several(c, g.threads, &x.threads)
		listed := x.live != nil
		if c.Bool(&listed); listed {
			if x.live == nil {
				x.live = new([]holder)
			}
			pack.List(c, x.live, func(h *holder) { g.holder(c, h) })
		}
		maybe(c, g.infos, &x.info)
		maybe(c, g.words, &x.words)
		pack.Int(c, &x.claims)
		c.Bool(&x.open)
		c.Bool(&x.active)
	}
}

func (g *graph) thread(c *pack.Coder) func(*thread) {
	return func(t *thread) {
		sure(c, g.sessions, &t.sess)
		sure(c, g.records, &t.rec)
		for _, list := range []*lines{&t.lines, &t.opened, &t.closed} {
			several(c, g.lines, &list.few)
		}
		has := t.past != nil
		if c.Bool(&has); has {
			if t.past == nil {
				t.past = new(past)
			}
			many(c, g.streams, &t.past.lists)
			several(c, g.lines, &t.past.heirs.few)
		}
		c.Bool(&t.stale)
		maybe(c, g.facts.marks, &t.end)
		several(c, g.facts.marks, &t.stays)
	}
}

func (g *graph) line(c *pack.Coder) func(*line) {
	marks := lists[mark]{table: g.facts.marks}
	return func(ln *line) {
		sure(c, g.sessions, &ln.sess)
		sure(c, g.streams, &ln.st)
		sure(c, g.threads, &ln.thread)
		marks.many(c, &ln.opens)
		marks.many(c, &ln.closes)
		pack.List(c, &ln.inherited, func(h *holder) { g.holder(c, h) })
	}
}

func (g *graph) handover(c *pack.Coder) func(*handover) {
	return func(h *handover) {
		pack.String(c, &h.id)
		many(c, g.facts.publications, &h.pubs)
		many(c, g.facts.takings, &h.takings)
		c.Bool(&h.open)
	}
}

func (g *graph) word(c *pack.Coder) func(*words) {
	return func(w *words) {
		pack.String(c, &w.intent)
		pack.String(c, &w.issue)
		pack.String(c, &w.reason)
		has := w.fences != nil
		if c.Bool(&has); !has {
			return
		}
		if w.fences == nil {
			w.fences = new(fences)
		}
		g.refs(c, &w.fences.of)
		g.refs(c, &w.fences.breaks)
	}
}

// body is a text of which there is one for all that say the same.
func (g *graph) body(text string) *string {
	p := g.texted[text]
	if p == nil {
		p = &text
		g.texted[text] = p
	}
	return p
}

// byID are the streams that a map has.
func byID[V any](m map[*stream]V) []*stream {
	return slices.SortedFunc(maps.Keys(m), func(a, b *stream) int { return strings.Compare(string(a.id), string(b.id)) })
}
