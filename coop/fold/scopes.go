package fold

import (
	"hash/maphash"
	"slices"

	"github.com/comity-dev/comity/coop/scope"
)

// A covered is a scope that claims have, each held once: a repository has few
// places, and they are claimed over and over.
type covered struct{ set scope.Set }

type scopes struct {
	seed maphash.Seed
	held map[uint64]*covered
}

func newScopes() scopes { return scopes{maphash.MakeSeed(), map[uint64]*covered{}} }

func (s *scopes) of(set scope.Set) *covered {
	var h maphash.Hash
	h.SetSeed(s.seed)
	for _, e := range set {
		h.WriteByte(byte(e.Form()))
		h.WriteString(e.Text())
		h.WriteByte(0)
	}
	sum := h.Sum64()
	if c := s.held[sum]; c != nil && slices.Equal(c.set, set) {
		return c
	}
	c := &covered{set}
	s.held[sum] = c
	return c
}
