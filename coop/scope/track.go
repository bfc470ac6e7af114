package scope

// A track is the patterns of one set, laid out side by side in a row of bits, so
// that one step of another alternative is taken in all of them at once: the
// product of the two costs its states by 64.
//
// A pattern is the places of its names, one after the other, and one for its
// end. A name is one place before each token and one behind the last; ** is one
// place. A * has the bit of its token, where it stays while it reads; it ends
// by going on to the next place.
type track struct {
	words   []trackWord
	letters []letter // of each place before a token
}

// A trackWord is 64 places.
type trackWord struct {
	starts uint64 // of a pattern
	names  uint64 // before a name, ** or the end of a pattern
	one    uint64 // before a token that reads one letter
	dot    uint64 // those of one that can be nothing but a dot
	star   uint64 // before a *
	ends   uint64 // behind the last token of a name
	deep   uint64 // before **
	last   uint64 // the end of a pattern
	inside uint64 // a place in a pattern but its end
}

// newTrack lays out the ways that are patterns, from a place on; without one it
// is nil.
func newTrack(ways []way, at int) *track {
	size := 0
	for i := range ways {
		if ways[i].form == FormGlob {
			size += ways[i].size + 1
		}
	}
	if size == 0 {
		return nil
	}
	size += at
	t := &track{words: make([]trackWord, (size+63)/64), letters: make([]letter, size)}
	for i := range ways {
		if ways[i].form == FormGlob {
			at = t.lay(ways[i].alternative, at)
		}
	}
	return t
}

// lay puts an alternative at a place and returns the next one.
func (t *track) lay(a *alternative, at int) int {
	w, bit := t.at(at)
	w.starts |= bit
	for i := range a.segments {
		s := &a.segments[i]
		w, bit := t.at(at)
		w.names |= bit
		w.inside |= bit
		if s.kind == segmentDeep {
			w.deep |= bit
			at++
			continue
		}
		tokens := s.tokens
		if s.kind == segmentLiteral {
			tokens = keyTokens(s.key)
		}
		for k := range tokens {
			t.token(&tokens[k], at)
			at++
		}
		w, bit = t.at(at)
		w.inside |= bit
		w.ends |= bit
		at++
	}
	w, bit = t.at(at)
	w.names |= bit
	w.last |= bit
	return at + 1
}

func (t *track) token(x *token, at int) {
	w, bit := t.at(at)
	w.inside |= bit
	if x.kind == tokenStar {
		w.star |= bit
		return
	}
	w.one |= bit
	t.letters[at] = x.letter()
	if !t.letters[at].sharp() {
		w.dot |= bit
	}
}

func (t *track) at(i int) (*trackWord, uint64) { return &t.words[i>>6], 1 << (i & 63) }
