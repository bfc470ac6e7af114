package fold

import (
	"hash/maphash"
	"slices"

	"github.com/comity-dev/comity/coop/scope"
)

// A covered is a scope that claims have, each held once: a repository has few
// places, and they are claimed over and over.
type covered struct {
	set  scope.Set
	plan *scope.Plan // nil when it was not asked for lately
}

// maxPlans bounds the scopes whose plan is kept though no claim on them may live.
const maxPlans = 512

type scopes struct {
	seed    maphash.Seed
	held    map[uint64]*covered
	planned []*covered // those with a plan, at most maxPlans
	oldest  int        // of planned, once it is full
}

func newScopes() scopes { return scopes{seed: maphash.MakeSeed(), held: map[uint64]*covered{}} }

func (s *scopes) of(set scope.Set) *covered {
	sum := s.sum(set)
	if c := s.held[sum]; c != nil && slices.Equal(c.set, set) {
		return c
	}
	c := &covered{set: set}
	s.held[sum] = c
	return c
}

// put holds one that was made elsewhere.
func (s *scopes) put(c *covered) { s.held[s.sum(c.set)] = c }

func (s *scopes) sum(set scope.Set) uint64 {
	var h maphash.Hash
	h.SetSeed(s.seed)
	for _, e := range set {
		h.WriteByte(byte(e.Form()))
		h.WriteString(e.Text())
		h.WriteByte(0)
	}
	return h.Sum64()
}

// plan is the plan of c's scope, made when it is not kept.
func (s *scopes) plan(c *covered) *scope.Plan {
	if c.plan != nil {
		return c.plan
	}
	c.plan = c.set.Plan()
	if len(s.planned) < maxPlans {
		s.planned = append(s.planned, c)
		return c.plan
	}
	s.planned[s.oldest].plan = nil
	s.planned[s.oldest] = c
	s.oldest = (s.oldest + 1) % maxPlans
	return c.plan
}

// meet tells whether two scopes meet, which most that are asked do with the same words.
func (s *scopes) meet(a, b *covered) bool {
	return a == b || s.plan(a).Meets(s.plan(b))
}
