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
	for _, c := range g.facts.claims.all {
		if c.live {
			s.index.Add(c, s.scopes.plan(c.scope))
		}
	}
	for _, w := range g.wins.all {
		s.winners[w.beaten] = w.by
	}
}

func (g *graph) joinScopes() {
	g.state.scopes.held = make(map[uint64]*covered, len(g.scopes.all))
	for _, c := range g.scopes.all {
		g.state.scopes.put(c)
	}
}

func (g *graph) joinNames() {
	s := g.state
	s.version = g.roots.at(1).version
	for _, st := range g.streams.all {
		s.streams[st.id] = st
	}
	for _, rt := range g.runtimes.all {
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
	for _, h := range g.handovers.all {
		if s.handovers[h.id] = h; h.open {
			s.offers[h] = struct{}{}
		}
	}
	for _, one := range g.published {
		one.p.what.Body = *one.body
	}
	for _, w := range g.texts.all {
		s.words[*w] = w
	}
	for _, w := range g.whos.all {
		s.whos[w.text] = w
	}
	for _, w := range g.whys.all {
		if *w == (why{reason: w.reason}) {
			s.whys[w.reason] = w
		}
	}
}
