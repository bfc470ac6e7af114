package filestore

// graves remembers the last generations of ledgers that ended since the store
// was opened, so that none of their writers begins them anew by mistake. Writers
// end with the process, and so do the graves; of more than maxGraves, only the
// last ones are kept.
type graves struct {
	gen   map[tag]uint64
	order []tag
}

const maxGraves = 1 << 16

func (g *graves) add(t tag, gen uint64) {
	if g.gen == nil {
		g.gen = make(map[tag]uint64)
	}
	if _, ok := g.gen[t]; !ok {
		g.order = append(g.order, t)
	}
	g.gen[t] = gen
	if len(g.order) > maxGraves {
		delete(g.gen, g.order[0])
		g.order = g.order[1:]
	}
}
