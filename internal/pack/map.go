package pack

import (
	"cmp"
	"maps"
	"slices"
)

// Map is a map, by key; an empty one is read as an empty one. each describes one
// key with its value.
func Map[K cmp.Ordered, V any](c *Coder, m *map[K]V, each func(*K, *V)) {
	n := c.Len(len(*m))
	if !c.reading {
		for _, k := range slices.Sorted(maps.Keys(*m)) {
			v := (*m)[k]
			each(&k, &v)
		}
		return
	}
	*m = make(map[K]V, min(n, firstRoom))
	for range n {
		var k K
		var v V
		if each(&k, &v); c.err != nil {
			return
		}
		(*m)[k] = v
	}
	if len(*m) != n {
		c.Fail()
	}
}
