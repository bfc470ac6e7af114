package scope

import "math/bits"

// A run asks one track for the alternatives that meet it. What it works out of a
// letter serves the next.
type run struct {
	*track
	row   []runWord
	low   bool // in the name at hand some place is not in knows[other]
	few   int  // so many places are asked one by one; more are worth a mask that is kept
	here  mask // of the letter at hand, when it is not kept
	masks map[maskKey]mask
	rooms struct { // for row and here: most tracks are short
		row  [2]runWord
		here [2]maskWord
	}
}

// A runWord is which of 64 places are reached.
type runWord struct {
	at    uint64            // before a name
	knows [other + 1]uint64 // in a name, by what is known of it
}

// A mask is the places of a track whose tokens a letter meets.
type mask []maskWord

type maskWord struct {
	some  uint64
	sharp uint64 // those of some that meet it in more than a dot
}

// A maskKey tells letters apart: by their characters, and when they have more than
// ASCII, by the literal or the class.
type maskKey struct {
	ascii [2]uint64
	key   string
	class *class
}

func (r *run) over(t *track) {
	r.track, r.few, r.masks = t, 8, nil
	if n := len(t.words); n <= len(r.rooms.row) {
		r.row, r.here = r.rooms.row[:n], r.rooms.here[:n]
	} else {
		r.row, r.here = make([]runWord, n), make(mask, n)
	}
}

// meets tells whether some path is in a and in a pattern of the track.
func (r *run) meets(a *alternative) bool {
	for i := range r.row {
		r.row[i].at = r.words[i].starts
	}
	r.endDeep()
	for i := range a.segments {
		some := true
		switch s := &a.segments[i]; s.kind {
		case segmentDeep:
			r.deep()
		case segmentLiteral:
			some = r.literal(s.key)
		case segmentPattern:
			some = r.pattern(s.tokens)
		}
		if !some {
			return false
		}
	}
	for i := range r.row {
		if r.row[i].at&r.words[i].last != 0 {
			return true
		}
	}
	return false
}

// endDeep adds the places reached by letting a ** take nothing more, of which
// there are no two side by side.
func (r *run) endDeep() {
	var carry uint64
	for i := range r.row {
		ends := r.row[i].at & r.words[i].deep
		r.row[i].at |= ends<<1 | carry
		carry = ends >> 63
	}
}

// deep takes any number of names. Each name of a pattern is some name, or the
// pattern were refused, so all behind a place in its pattern is reached: a bit
// that is added to the ones of the pattern is carried to its end.
func (r *run) deep() {
	var carry uint64
	for i := range r.row {
		w, x := &r.words[i], &r.row[i]
		sum, out := bits.Add64(w.inside, x.at&w.inside, carry)
		x.at = (x.at | (sum ^ w.inside)) & w.names
		carry = out
	}
}

// literal takes the name of this key.
func (r *run) literal(key string) bool {
	r.begin()
	for key != "" {
		n := nextCluster(key)
		t := token{key: key[:n]}
		if l := t.letter(); !r.read(&l) {
			break
		}
		key = key[n:]
	}
	return r.end()
}

// pattern takes one name that matches.
func (r *run) pattern(tokens []token) bool {
	r.begin()
	for i := range tokens {
		if tokens[i].kind == tokenStar {
			r.star()
			continue
		}
		if l := tokens[i].letter(); !r.read(&l) {
			break
		}
	}
	return r.end()
}

// begin begins a name at every place before one.
func (r *run) begin() {
	for i := range r.row {
		r.row[i].knows = [...]uint64{nothing: r.row[i].at, other: 0}
	}
	r.low = true
	r.endStars()
}

// end goes from the ends of the legal names to what follows. A ** of the track
// takes any name and stays.
func (r *run) end() bool {
	var carry, some uint64
	for i := range r.row {
		w, x := &r.words[i], &r.row[i]
		ends := x.knows[other] & w.ends
		x.at = x.at&w.deep | ends<<1 | carry
		carry = ends >> 63
		some |= x.at
	}
	r.endDeep()
	return some != 0
}

// endStars adds the places reached by letting a * end, of which there are no two
// side by side.
func (r *run) endStars() {
	var carry [other + 1]uint64
	for i := range r.row {
		star, knows := r.words[i].star, &r.row[i].knows
		for d := range knows {
			ends := knows[d] & star
			knows[d] |= ends<<1 | carry[d]
			carry[d] = ends >> 63
		}
	}
}

// read takes one letter of l, and tells whether any place is left.
func (r *run) read(l *letter) bool {
	m := r.mask(l)
	if r.low {
		return r.readLow(l, m)
	}
	var carry, some uint64
	for i := range r.row {
		star, x := r.words[i].star, &r.row[i].knows[other]
		went, stays := *x&m[i].some, *x&star
		next := stays | went<<1 | carry
		ends := next & star // none of them is where a * ends
		*x = next | ends<<1
		carry = went>>63 | ends>>63
		some |= *x
	}
	return some != 0
}

// readLow is read while the name may yet be "", "." or "..". It reads a dot only
// where nothing else can be.
func (r *run) readLow(l *letter, m mask) bool {
	var carry [other + 1]uint64
	var some uint64
	sharp := l.sharp()
	r.low = false
	for i := range r.row {
		star, knows := r.words[i].star, &r.row[i].knows
		dot := m[i].some &^ m[i].sharp
		short := knows[nothing] | knows[oneDot] | knows[twoDots]
		went := [...]uint64{
			oneDot:  knows[nothing] & dot,
			twoDots: knows[oneDot] & dot,
			other:   knows[twoDots]&dot | short&m[i].sharp | knows[other]&m[i].some,
		}
		stays := [...]uint64{other: (short | knows[other]) & star}
		if !sharp {
			stays = [...]uint64{oneDot: knows[nothing] & star, twoDots: knows[oneDot] & star, other: (knows[twoDots] | knows[other]) & star}
		}
		for d := range knows {
			knows[d] = stays[d] | went[d]<<1 | carry[d]
			carry[d] = went[d] >> 63
			some |= knows[d]
		}
		r.low = r.low || knows[oneDot]|knows[twoDots] != 0
	}
	r.endStars()
	return some != 0
}

// star takes any number of letters of one name. Each token of a name meets some
// letter, so all behind a place in its name is reached, by the same sum as in
// deep; only a dot after nothing, or after a dot, is not yet a legal name.
func (r *run) star() {
	for d := nothing; r.low && d < other; d++ {
		var dots, rest uint64
		for i := range r.row {
			w, knows := &r.words[i], &r.row[i].knows
			dot, sharp := knows[d]&w.dot, knows[d]&w.one&^w.dot
			knows[d+1] |= dot<<1 | dots
			knows[other] |= sharp<<1 | rest | knows[d]&w.star
			dots, rest = dot>>63, sharp>>63
		}
		r.endStars()
	}
	var carry uint64
	for i := range r.row {
		w, x := &r.words[i], &r.row[i].knows[other]
		body := w.one | w.star
		sum, out := bits.Add64(body, *x&body, carry)
		*x |= sum ^ body
		carry = out
	}
}

// mask is the places that l meets, of those that are reached or of all.
func (r *run) mask(l *letter) mask {
	n := 0
	for i := range r.row {
		n += bits.OnesCount64(r.reading(i))
	}
	if n > r.few {
		return r.keep(l)
	}
	for i := range r.row {
		r.here[i] = r.ask(l, i, r.reading(i))
	}
	return r.here
}

// reading are the places of a word that are reached and read one letter.
func (r *run) reading(i int) uint64 {
	k := &r.row[i].knows
	return (k[nothing] | k[oneDot] | k[twoDots] | k[other]) & r.words[i].one
}

func (r *run) keep(l *letter) mask {
	k := maskKey{ascii: l.ascii}
	if l.more {
		k.key, k.class = l.token.key, l.token.class
	}
	if m, ok := r.masks[k]; ok {
		return m
	}
	m := make(mask, len(r.words))
	for i := range m {
		m[i] = r.ask(l, i, r.words[i].one)
	}
	if r.masks == nil {
		r.masks = make(map[maskKey]mask)
	}
	r.masks[k] = m
	return m
}

// ask asks those places of a word whether their tokens meet l.
func (r *run) ask(l *letter, i int, places uint64) maskWord {
	var m maskWord
	for ; places != 0; places &= places - 1 {
		at := bits.TrailingZeros64(places)
		switch some, sharp := l.meets(&r.letters[i<<6|at]); {
		case sharp:
			m.sharp |= 1 << at
			fallthrough
		case some:
			m.some |= 1 << at
		}
	}
	return m
}
