package journal

// indexes is a list of indexes of the log, 0 for none. It takes half the room while
// all are below 2^32. What is appended to one leaves a copy of it as it was.
type indexes struct{ low, high []uint32 } // high is nil while it would be zero

func (x indexes) len() int { return len(x.low) }

func (x indexes) at(i int) uint64 {
	if x.high == nil {
		return uint64(x.low[i])
	}
	return uint64(x.high[i])<<32 | uint64(x.low[i])
}

func (x *indexes) append(index uint64) {
	x.low = append(x.low, 0)
	if x.high != nil {
		x.high = append(x.high, 0)
	}
	x.set(len(x.low)-1, index)
}

func (x *indexes) set(i int, index uint64) {
	if x.high == nil && index>>32 != 0 {
		x.high = make([]uint32, len(x.low))
	}
	x.low[i] = uint32(index)
	if x.high != nil {
		x.high[i] = uint32(index >> 32)
	}
}

// slice are those from one place up to another.
func (x indexes) slice(from, to int) []uint64 {
	all := make([]uint64, 0, to-from)
	for i := from; i < to; i++ {
		all = append(all, x.at(i))
	}
	return all
}
