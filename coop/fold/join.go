package fold

// What cannot be put in its place before all of an image is read.
type (
	members struct {
		rt  *runtime
		all []*session
	}
	published struct {
		p    *publication
		body *string
	}
)

// join makes what finds the objects of an image: maps by name, the index of what
// is claimed, and lists of what is open.
func (g *graph) join() {
	onAllCores([]func(){g.joinClaims, g.joinScopes, g.joinNames})
}

func (g *graph) joinClaims() {
	s := g.state
	for c := range g.facts.claims.each() {
		if c.live {
			s.index.Add(c, s.scopes.plan(c.scope))
		}
	}
	for w := range g.wins.each() {
		s.winners[w.beaten] = w.by
	}
}

func (g *graph) joinScopes() {
	g.state.scopes.held = make(map[uint64]*covered, g.scopes.n)
	for c := range g.scopes.each() {
		g.state.scopes.put(c)
	}
}

func (g *graph) joinNames() {
	s := g.state
	s.version = g.roots.at(1).version
	for st := range g.streams.each() {
		s.streams[st.id] = st
	}
	for rt := range g.runtimes.each() {
		s.runtimes[rt.id] = rt
	}
	for _, m := range g.members {
		m.rt.sessions, m.rt.active = make(map[string]*session, len(m.all)), map[*session]struct{}{}
		for _, x := range m.all {
			m.rt.sessions[x.sid] = x
			if x.active {
				m.rt.active[x] = struct{}{}
			}
		}
	}
	for h := range g.handovers.each() {
		if s.handovers[h.id] = h; h.open {
			s.offers[h] = struct{}{}
		}
	}
	for _, one := range g.published {
		one.p.what.Body = *one.body
	}
	for w := range g.texts.each() {
		s.words[*w] = w
	}
	for w := range g.whos.each() {
		s.whos[w.text] = w
	}
	for w := range g.whys.each() {
		if *w == (why{reason: w.reason}) {
			s.whys[w.reason] = w
		}
	}
}
