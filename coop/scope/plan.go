package scope

// A Plan is a set made ready for an Index: worked out once, it can be held and looked
// up any number of times, in any number of indexes. It is not changed once made.
type Plan struct {
	top   bool     // has the whole repository by name
	names []string // of resources, folded
	ways  []way    // of the other entries
}

// A way is one alternative of an entry and how it is found.
type way struct {
	*alternative
	lead int    // leading names without a wildcard
	form Form   // see shape
	name string // see anchor
	tail string
}

// Plan makes s ready for an Index.
func (s Set) Plan() *Plan {
	p := &Plan{ways: make([]way, 0, len(s))}
	for _, e := range s {
		c := e.compile()
		p.top = p.top || e == Entry{FormDir, "."}
		if e.form == FormResource {
			p.names = append(p.names, c.key)
			continue
		}
		for i := range c.alts {
			p.ways = append(p.ways, c.alts[i].way())
		}
	}
	return p
}

func (a *alternative) way() way {
	return way{a, a.prefix(), a.shape(), a.anchor(), a.tail()}
}
