package fold

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/comity-dev/comity/coop/ident"
)

// Digest returns 32 hex digits that say what stands in a set of streams at the
// heads that are held here: the open sessions, the live claims with their
// standing by events, the open handovers and the open reviews. Nil means all
// streams held; streams that are not held count as not in the set. What other
// streams said does not exist for it: equal streams at equal heads give equal
// digests whatever else either side holds. Damaged and incomplete streams are
// left out.
//
// The digest of everything is kept until something changes and costs what
// stands. That of a part costs as much as folding the part anew.
func (s *State) Digest(streams []ident.Stream) string {
	set := s.comparable(streams)
	if len(set) == len(s.held()) {
		if s.digest == "" {
			s.digest = s.sum()
		}
		return s.digest
	}
	return s.only(set).sum()
}

// History returns 32 hex digits over the heads of a set of streams and, through
// their chains, over all that was ever said in them. The set is that of Digest.
func (s *State) History(streams []ident.Stream) string {
	sum := sha256.New()
	fmt.Fprintf(sum, "comity-history/%d\n", Version)
	for _, st := range s.comparable(streams) {
		var hash [32]byte // zero when a checkpoint removed the head, which is not held
		if i, ok := st.find(st.head); ok {
			hash = st.entries.hash(i)
		}
		fmt.Fprintf(sum, "%s/%d %x\n", st.id, st.head, hash)
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// comparable is the set without what is damaged or incomplete in it, by id. What
// is left out can take with it the checkpoint that made another stream whole,
// so it is looked through until nothing more falls.
func (s *State) comparable(streams []ident.Stream) []*stream {
	set := s.held()
	if streams != nil {
		want := make(map[ident.Stream]bool, len(streams))
		for _, id := range streams {
			want[id] = true
		}
		set = slices.DeleteFunc(set, func(st *stream) bool { return !want[st.id] })
	}
	part := s
	if len(set) != len(s.held()) {
		part = s.only(set)
	}
	for {
		whole := slices.DeleteFunc(slices.Clone(set), func(st *stream) bool {
			st = part.streams[st.id]
			return st.damaged() || st.incomplete()
		})
		if len(whole) == len(set) {
			return set
		}
		set, part = whole, s.only(whole)
	}
}

// only folds some of the streams anew, from the facts that are kept of them. Of
// when they were written nothing is known in it: digests do not tell.
func (s *State) only(set []*stream) *State {
	part := New()
	for _, st := range set {
		into := part.stream(st.id)
		for i := range st.entries.len() {
			f := st.entries.fact(i)
			at := f.pos()
			if at.seq > into.head+1 {
				into.skip(into.head+1, at.seq-1)
			}
			part.hold(into, head{at.seq, at.lamport, 0, st.entries.hash(i)}, f.body())
		}
		if st.head > into.head {
			into.skip(into.head+1, st.head)
		}
	}
	part.settle()
	return part
}
