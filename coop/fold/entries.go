package fold

import (
	"iter"
	"sort"
)

// An entry is one held event of a stream. Its place is that of its fact.
type entry struct {
	hash [32]byte // checkpoints sum these
	fact fact
}

func (e *entry) seq() uint64 { return e.fact.pos().seq }

// entries are the held events of one stream by seq, in pages that are full but
// for the last: a long stream takes no more room than it needs.
type entries struct{ pages [][]entry }

const pageEntries = 32

func (es *entries) len() int {
	n := len(es.pages)
	if n == 0 {
		return 0
	}
	return (n-1)*pageEntries + len(es.pages[n-1])
}

// at is the i-th entry. It is good until the next insert.
func (es *entries) at(i int) *entry { return &es.pages[i/pageEntries][i%pageEntries] }

// all yields the entries by seq.
func (es *entries) all() iter.Seq[*entry] {
	return func(yield func(*entry) bool) {
		for _, page := range es.pages {
			for i := range page {
				if !yield(&page[i]) {
					return
				}
			}
		}
	}
}

// search is the first place whose seq is not below seq.
func (es *entries) search(seq uint64) int {
	return sort.Search(es.len(), func(i int) bool { return es.at(i).seq() >= seq })
}

// insert puts e at i, nearly always the end.
func (es *entries) insert(i int, e entry) {
	n := len(es.pages)
	if n == 0 || len(es.pages[n-1]) == pageEntries {
		es.pages = append(es.pages, nil)
		n++
	}
	es.pages[n-1] = append(es.pages[n-1], e)
	for k := es.len() - 1; k > i; k-- {
		*es.at(k) = *es.at(k - 1)
	}
	*es.at(i) = e
}

// pop takes the last one out.
func (es *entries) pop() entry {
	n := len(es.pages) - 1
	page := es.pages[n]
	e := page[len(page)-1]
	page[len(page)-1] = entry{}
	if es.pages[n] = page[:len(page)-1]; len(page) == 1 {
		es.pages = es.pages[:n]
	}
	return e
}
