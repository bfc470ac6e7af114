package fold

import (
	"iter"
	"sort"
)

// entries are the held events of one stream by seq, in pages that are full but
// for the last: a long stream takes no more room than it needs.
type entries struct{ pages []page }

// A page has the hashes of events, which checkpoints sum, and what they say. They
// lie apart, so that hashes, which refer to nothing, are not looked through for what
// is in use.
type page struct {
	hashes [][32]byte
	facts  []fact
}

// pageEntries fill pieces of memory of the sizes that there are.
const pageEntries = 32

func (es *entries) len() int {
	n := len(es.pages)
	if n == 0 {
		return 0
	}
	return (n-1)*pageEntries + len(es.pages[n-1].facts)
}

// fact is what the i-th event says, hash its hash, seq its place in the stream.
func (es *entries) fact(i int) fact     { return es.pages[i/pageEntries].facts[i%pageEntries] }
func (es *entries) hash(i int) [32]byte { return es.pages[i/pageEntries].hashes[i%pageEntries] }
func (es *entries) seq(i int) uint64    { return es.fact(i).pos().seq }
func (es *entries) put(i int, h [32]byte, f fact) {
	p := &es.pages[i/pageEntries]
	p.hashes[i%pageEntries], p.facts[i%pageEntries] = h, f
}

// all yields the facts by seq.
func (es *entries) all() iter.Seq[fact] {
	return func(yield func(fact) bool) {
		for _, p := range es.pages {
			for _, f := range p.facts {
				if !yield(f) {
					return
				}
			}
		}
	}
}

// search is the first place whose seq is not below seq.
func (es *entries) search(seq uint64) int {
	return sort.Search(es.len(), func(i int) bool { return es.seq(i) >= seq })
}

// insert puts an event at i, nearly always the end.
func (es *entries) insert(i int, h [32]byte, f fact) {
	n := len(es.pages)
	switch {
	case n == 0:
		es.pages = append(es.pages, page{})
		n++
	case len(es.pages[n-1].facts) == pageEntries: // a long stream: it is going to fill the next one too
		es.pages = append(es.pages, page{make([][32]byte, 0, pageEntries), make([]fact, 0, pageEntries)})
		n++
	}
	p := &es.pages[n-1]
	p.hashes, p.facts = append(p.hashes, h), append(p.facts, f)
	k := es.len() - 1
	for ; k > i; k-- {
		es.put(k, es.hash(k-1), es.fact(k-1))
	}
	es.put(i, h, f)
}

// pop takes the last one out.
func (es *entries) pop() fact {
	n := len(es.pages) - 1
	p := &es.pages[n]
	last := len(p.facts) - 1
	f := p.facts[last]
	p.facts[last] = nil
	p.hashes, p.facts = p.hashes[:last], p.facts[:last]
	if last == 0 {
		es.pages = es.pages[:n]
	}
	return f
}
