package transcript

import "github.com/comity-dev/comity/session/event"

// A table remembers up to limit values by id; the oldest are forgotten first.
type table[V any] struct {
	limit  int
	byID   map[event.ID]V
	oldest []event.ID // may hold ids that are gone
	lost   uint64     // values forgotten
}

func newTable[V any](limit int) table[V] {
	return table[V]{limit: limit, byID: make(map[event.ID]V)}
}

func (t *table[V]) put(id event.ID, v V) {
	if _, ok := t.byID[id]; !ok {
		t.oldest = append(t.oldest, id)
	}
	t.byID[id] = v
	for len(t.byID) > t.limit {
		t.forget()
	}
	if len(t.oldest) > 2*t.limit { // most of them are gone
		kept := make([]event.ID, 0, t.limit)
		seen := make(map[event.ID]bool, t.limit)
		for _, id := range t.oldest {
			if _, ok := t.byID[id]; ok && !seen[id] {
				seen[id] = true
				kept = append(kept, id)
			}
		}
		t.oldest = kept
	}
}

// forget forgets the oldest value.
func (t *table[V]) forget() {
	if _, ok := t.byID[t.oldest[0]]; ok {
		delete(t.byID, t.oldest[0])
		t.lost++
	}
	t.oldest = t.oldest[1:]
}

// sum adds up the sizes of the values.
func (t *table[V]) sum(size func(V) int) (n int) {
	for _, v := range t.byID {
		n += size(v)
	}
	return n
}

// take returns the value and forgets it.
func (t *table[V]) take(id event.ID) (V, bool) {
	v, ok := t.byID[id]
	delete(t.byID, id)
	return v, ok
}

// each visits the values from the oldest.
func (t *table[V]) each(visit func(event.ID, V)) {
	seen := make(map[event.ID]bool, len(t.byID))
	for _, id := range t.oldest {
		if v, ok := t.byID[id]; ok && !seen[id] {
			seen[id] = true
			visit(id, v)
		}
	}
}
