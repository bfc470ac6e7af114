package fold

import "github.com/comity-dev/comity/internal/pack"

// A kind names a type of facts in an image.
type kind uint8

const (
	kindNone kind = iota
	kindSilent
	kindUncounted
	kindSuccession
	kindCheckpoint
	kindMark
	kindClaim
	kindRelease
	kindPublication
	kindTaking
	kindWithdrawal
	kindReview
	kindAnswer
	kindReviewEnd
	kinds
)

func kindOf(f fact) kind {
	switch f.(type) {
	case *silent:
		return kindSilent
	case *uncounted:
		return kindUncounted
	case *succession:
		return kindSuccession
	case *checkpoint:
		return kindCheckpoint
	case *mark:
		return kindMark
	case *claim:
		return kindClaim
	case *release:
		return kindRelease
	case *publication:
		return kindPublication
	case *taking:
		return kindTaking
	case *withdrawal:
		return kindWithdrawal
	case *review:
		return kindReview
	case *answer:
		return kindAnswer
	case *reviewEnd:
		return kindReviewEnd
	}
	return kindNone
}

// facts are the tables of what events say, by kind and by type. Each fact is in the
// entries of its stream, and is numbered in the order of those.
type facts struct {
	shelves [kinds]shelf
	closed  [kinds]uint64 // how many there are, once all are numbered

	silents      *table[silent]
	uncounted    *table[uncounted]
	successions  *table[succession]
	checkpoints  *table[checkpoint]
	marks        *table[mark]
	claims       *table[claim]
	releases     *table[release]
	publications *table[publication]
	takings      *table[taking]
	withdrawals  *table[withdrawal]
	reviews      *table[review]
	answers      *table[answer]
	reviewEnds   *table[reviewEnd]
}

// A shelf is a table of facts.
type shelf interface {
	number(fact) uint64 // 0 when it is of another type
	fact(uint64) fact   // nil when there is none
}

type shelfOf[T any, F interface {
	*T
	fact
}] struct{ *table[T] }

func (s shelfOf[T, F]) number(f fact) uint64 {
	if one, ok := f.(F); ok {
		return uint64(s.of(one))
	}
	return 0
}

func (s shelfOf[T, F]) fact(n uint64) fact {
	if one := s.at(n); one != nil {
		return F(one)
	}
	return nil
}

func shelve[T any, F interface {
	*T
	fact
}](fs *facts, k kind) *table[T] {
	t := newTable[T]()
	fs.shelves[k] = shelfOf[T, F]{t}
	return t
}

func newFacts() facts {
	var fs facts
	fs.silents = shelve[silent](&fs, kindSilent)
	fs.uncounted = shelve[uncounted](&fs, kindUncounted)
	fs.successions = shelve[succession](&fs, kindSuccession)
	fs.checkpoints = shelve[checkpoint](&fs, kindCheckpoint)
	fs.marks = shelve[mark](&fs, kindMark)
	fs.claims = shelve[claim](&fs, kindClaim)
	fs.releases = shelve[release](&fs, kindRelease)
	fs.publications = shelve[publication](&fs, kindPublication)
	fs.takings = shelve[taking](&fs, kindTaking)
	fs.withdrawals = shelve[withdrawal](&fs, kindWithdrawal)
	fs.reviews = shelve[review](&fs, kindReview)
	fs.answers = shelve[answer](&fs, kindAnswer)
	fs.reviewEnds = shelve[reviewEnd](&fs, kindReviewEnd)
	return fs
}

// put numbers the next fact of an entry.
func (fs *facts) put(f fact) {
	if k := kindOf(f); k != kindNone {
		fs.closed[k] = max(fs.closed[k], fs.shelves[k].number(f))
	}
}

// An ordered counts facts in the order of entries.
type ordered [kinds]uint64

// next is the number of the next one of a kind.
func (o *ordered) next(k kind) uint64 {
	o[k]++
	return o[k]
}

// fact is a reference to a fact.
func (g *graph) fact(c *pack.Coder, f *fact) {
	var n uint64
	k := kindNone
	if !c.Reading() {
		if k = kindOf(*f); k != kindNone {
			n = g.facts.shelves[k].number(*f)
		}
		if n == 0 || n > g.facts.closed[k] {
			g.odd = "a fact that no stream has is referred to"
		}
	}
	pack.Uint(c, &k)
	pack.Uint(c, &n)
	if c.Reading() {
		*f = g.factAt(c, k, n)
	}
}

// factAt is the fact of a number that was read, nil when there is none.
func (g *graph) factAt(c *pack.Coder, k kind, n uint64) fact {
	if k > kindNone && k < kinds {
		if f := g.facts.shelves[k].fact(n); f != nil {
			return f
		}
	}
	c.Fail()
	return nil
}

// holder is a reference to a fact that others refer to.
func (g *graph) holder(c *pack.Coder, h *holder) {
	var f fact
	if !c.Reading() {
		f = *h
	}
	g.fact(c, &f)
	if c.Reading() {
		if *h, _ = f.(holder); *h == nil {
			c.Fail()
		}
	}
}
