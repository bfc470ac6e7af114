package scope

// The two questions about one name: does it match, and is there a name that
// two patterns match. Names are never empty, "." or "..".

// matchName tells whether a folded name, which is a legal one, matches.
// A * takes as little as it can and more when what follows does not match, and
// only the last one seen ever needs to be taken up again: at most
// clusters*tokens steps.
func matchName(tokens []token, name string, w *work) bool {
	i := 0
	star, back := -1, ""
	for name != "" {
		w.visit()
		if i < len(tokens) && tokens[i].kind == tokenStar {
			star, back = i, name
			i++
			continue
		}
		n := nextCluster(name)
		if i < len(tokens) && tokens[i].matches(name[:n]) {
			name = name[n:]
			i++
			continue
		}
		if star < 0 {
			return false
		}
		back = back[nextCluster(back):]
		name, i = back, star+1
	}
	for i < len(tokens) && tokens[i].kind == tokenStar {
		i++
	}
	return i == len(tokens)
}

// dots is what is known of the name read so far: a name is legal in the end
// only as other.
type dots uint8

const (
	nothing dots = iota
	oneDot
	twoDots
	other
)

func (d dots) then(cluster string) dots {
	if cluster == "." && d < twoDots {
		return d + 1
	}
	return other
}

// after is what a set of dots becomes by one more cluster; bit d stands for d.
func after(set uint8, cluster string) uint8 {
	if cluster == "." {
		return (set<<1 | set&(1<<other)) & (2<<other - 1)
	}
	return 1 << other
}

// tokensMeet tells whether a legal name matches both patterns. A place never
// leads back to an earlier one in either pattern, so the product is filled in
// row by row: at[y] is the set of dots with which (x, y) is reached.
func tokensMeet(a, b []token, w *work) bool {
	var room [2][MaxEntryBytes + 1]uint8
	at, below := room[0][:len(b)+1], room[1][:len(b)+1]
	at[0] = 1 << nothing
	for x := 0; ; x++ {
		for y, set := range at {
			if set = at[y]; set == 0 {
				continue
			}
			for rest := set; rest != 0; rest &= rest - 1 {
				w.visit()
			}
			starB := y < len(b) && b[y].kind == tokenStar
			if x == len(a) {
				if starB {
					at[y+1] |= set
				}
				continue
			}
			starA := a[x].kind == tokenStar
			if y < len(b) {
				if read, ok := common(&a[x], &b[y]); ok {
					next := after(set, read)
					switch {
					case starA && starB:
						set |= next
						at[y] = set
					case starA:
						at[y+1] |= next
					case starB:
						below[y] |= next
					default:
						below[y+1] |= next
					}
				}
			}
			if starA {
				below[y] |= set
			}
			if starB {
				at[y+1] |= set
			}
		}
		if x == len(a) {
			return at[len(b)]&(1<<other) != 0
		}
		at, below = below, at
		clear(below)
	}
}

// A pairState is a place in two patterns, and how the search came there.
type pairState struct {
	x, y int
	dots dots
	from int    // index of the state before, -1 at the start
	read string // the cluster between
}

// spellTokens searches the product of two patterns breadth first and gives a
// shortest name that both match. full asks for a name in which a leading * has
// at least one letter, which reads better (x.go and not .go).
func spellTokens(a, b []token, full bool, w *work) (string, bool) {
	width := len(b) + 1
	seen := make([]uint8, (len(a)+1)*width)
	var queue []pairState
	push := func(s pairState) {
		bit := uint8(1) << s.dots
		if at := &seen[s.x*width+s.y]; *at&bit == 0 {
			*at |= bit
			queue = append(queue, s)
			w.visit()
		}
	}
	closure := func(from int) { // adds what is reached by letting a * end
		for i := from; i < len(queue); i++ {
			s := queue[i]
			if full && s.dots == nothing {
				continue
			}
			if s.x < len(a) && a[s.x].kind == tokenStar {
				push(pairState{s.x + 1, s.y, s.dots, i, ""})
			}
			if s.y < len(b) && b[s.y].kind == tokenStar {
				push(pairState{s.x, s.y + 1, s.dots, i, ""})
			}
		}
	}
	push(pairState{from: -1})
	closure(0)
	for level := 0; level < len(queue); {
		end := len(queue)
		for i := level; i < end; i++ {
			s := queue[i]
			if s.x == len(a) && s.y == len(b) {
				if s.dots == other {
					return spell(queue, i), true
				}
				continue
			}
			if s.x == len(a) || s.y == len(b) {
				continue
			}
			read, ok := common(&a[s.x], &b[s.y])
			if !ok {
				continue
			}
			push(pairState{s.x + step(&a[s.x]), s.y + step(&b[s.y]), s.dots.then(read), i, read})
		}
		level = end
		closure(end)
	}
	return "", false
}

func step(t *token) int {
	if t.kind == tokenStar {
		return 0
	}
	return 1
}

// common names a cluster that both tokens match. It is a dot only when nothing
// else is, so that the search need not try both.
func common(a, b *token) (string, bool) {
	switch {
	case a.kind == tokenLiteral:
		return a.text, b.matches(a.key)
	case b.kind == tokenLiteral:
		return b.text, a.matches(b.key)
	}
	return pick(a.class, b.class)
}

func spell(queue []pairState, i int) string {
	n := 0
	for j := i; j >= 0; j = queue[j].from {
		n += len(queue[j].read)
	}
	name := make([]byte, n)
	for j := i; j >= 0; j = queue[j].from {
		n -= len(queue[j].read)
		copy(name[n:], queue[j].read)
	}
	return string(name)
}
