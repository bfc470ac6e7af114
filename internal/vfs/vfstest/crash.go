package vfstest

import (
	"maps"
	"slices"
)

// Kill returns the disk as it is after the death of all processes: everything
// is seen as it was, locks are gone, and what was not synced still is not.
// Faults are gone. d must not be used any more.
func (d *Disk) Kill() *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	return &Disk{root: d.root, locks: make(map[*node]bool), Tear: d.Tear}
}

// Clone returns a copy that shares nothing with d: content as seen, with what
// is synced and what is not.
func (d *Disk) Clone() *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	done := make(map[*node]*node)
	return &Disk{root: clone(d.root, done), locks: make(map[*node]bool), Tear: d.Tear}
}

func clone(n *node, done map[*node]*node) *node {
	if n == nil || done[n] != nil {
		return done[n]
	}
	c := &node{dir: n.dir, mode: n.mode, data: slices.Clone(n.data), durable: slices.Clone(n.durable), pending: slices.Clone(n.pending)}
	done[n] = c
	if !n.dir {
		return c
	}
	c.entries, c.kept = map[string]*node{}, map[string]*node{}
	for name, e := range n.entries {
		c.entries[name] = clone(e, done)
	}
	for name, e := range n.kept {
		c.kept[name] = clone(e, done)
	}
	for _, u := range n.unsynced {
		v := entryChange{}
		for name, e := range u {
			v[name] = clone(e, done)
		}
		c.unsynced = append(c.unsynced, v)
	}
	return c
}

// Crash returns a state that the disk may hold after a loss of power now. Each
// time there is something to choose among n possibilities, it calls choose, which
// returns one of 0 to n-1; 0 is the one that keeps most. d stays as it is.
func (d *Disk) Crash(choose func(n int) int) *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := &crash{d: d, choose: choose, made: make(map[*node]*node)}
	writes := 0
	d.reachable(func(n *node) {
		for _, p := range n.pending {
			if len(p.data) > 1 {
				writes++
			}
		}
	})
	c.torn = choose(writes+1) - 1 // which write is there in part
	return &Disk{root: c.node(d.root), locks: make(map[*node]bool), Tear: d.Tear}
}

// reachable calls f for each node that some crash may leave, in one order.
func (d *Disk) reachable(f func(*node)) {
	seen := make(map[*node]bool)
	var visit func(n *node)
	visit = func(n *node) {
		if n == nil || seen[n] {
			return
		}
		seen[n] = true
		f(n)
		for _, entries := range append([]entryChange{n.kept}, n.unsynced...) {
			for _, name := range slices.Sorted(maps.Keys(entries)) {
				visit(entries[name])
			}
		}
	}
	visit(d.root)
}

type crash struct {
	d      *Disk
	choose func(int) int
	torn   int
	writes int
	made   map[*node]*node
}

// node returns what is left of n. The order of the visits is that of reachable.
func (c *crash) node(n *node) *node {
	if n == nil || c.made[n] != nil {
		return c.made[n]
	}
	m := &node{dir: n.dir, mode: n.mode}
	c.made[n] = m
	if !n.dir {
		m.data = c.content(n)
		m.durable = slices.Clone(m.data)
		return m
	}
	m.entries = map[string]*node{}
	keep := make([]bool, len(n.unsynced))
	for i := range keep {
		keep[i] = c.choose(2) == 0
	}
	left := maps.Clone(n.kept)
	for i, u := range n.unsynced {
		if keep[i] {
			apply(left, u)
		}
	}
	for _, entries := range append([]entryChange{n.kept}, n.unsynced...) { // all, to keep the order of the choices
		for _, name := range slices.Sorted(maps.Keys(entries)) {
			c.node(entries[name])
		}
	}
	for name, e := range left {
		m.entries[name] = c.made[e]
	}
	m.kept = maps.Clone(m.entries)
	return m
}

// content returns what is left of a file.
func (c *crash) content(n *node) []byte {
	b := slices.Clone(n.durable)
	for _, p := range n.pending {
		if len(p.data) > 1 {
			c.writes++
			if c.writes-1 == c.torn {
				b = c.tear(p, b)
				continue
			}
		}
		if c.choose(2) == 0 {
			b = p.apply(b)
		}
	}
	return b
}

// tear applies a part of the write p.
func (c *crash) tear(p change, b []byte) []byte {
	n := len(p.data)
	at := []int{n / 2, 1, n - 1}
	if c.d.Tear != nil {
		at = c.d.Tear(n)
	}
	grows := p.off+int64(n) > int64(len(b))
	ways := 2 * len(at)
	if grows {
		ways++
	}
	if ways == 0 {
		return b
	}
	way := c.choose(ways)
	switch {
	case way == 2*len(at): // the size and no data
		return resize(b, p.off+int64(n))
	case way%2 == 0: // the beginning
		return change{off: p.off, data: p.data[:at[way/2]]}.apply(b)
	}
	// The end.
	k := at[way/2]
	return change{off: p.off + int64(k), data: p.data[k:]}.apply(b)
}

// Every calls f once for each sequence of answers that its calls of choose can
// get. f returns false to stop.
func Every(f func(choose func(n int) int) bool) {
	var answers, sizes []int
	for {
		at := 0
		ok := f(func(n int) int {
			if at == len(answers) {
				answers, sizes = append(answers, 0), append(sizes, n)
			}
			at++
			return answers[at-1]
		})
		answers, sizes = answers[:at], sizes[:at]
		for at > 0 && answers[at-1]+1 >= sizes[at-1] {
			at--
		}
		if !ok || at == 0 {
			return
		}
		answers, sizes = answers[:at], sizes[:at]
		answers[at-1]++
	}
}
