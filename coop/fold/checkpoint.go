package fold

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"slices"
	"strings"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// A checkpoint removes what it does not name, in the streams that it covers.
type checkpoint struct {
	spot
	st      *stream
	covers  []*stream // by id
	kept    map[*stream][]event.Range
	digest  string
	missing uint64 // named events that are not held
	astray  bool   // it names what is not below it
	wrong   bool   // all it names is held and has another digest
}

func (s *State) readCheckpoint(st *stream, h head, b event.StreamCheckpoint) *checkpoint {
	k := &checkpoint{st: st, spot: h.spot(), digest: b.Digest, kept: make(map[*stream][]event.Range, len(b.Kept))}
	for _, id := range slices.Sorted(slices.Values(b.Covers)) {
		k.covers = append(k.covers, s.stream(id))
	}
	for id, ranges := range b.Kept {
		k.kept[s.stream(id)] = ranges
	}
	return k
}

func (k *checkpoint) on(*State)  {}
func (k *checkpoint) off(*State) {}

func (k *checkpoint) body() event.Body {
	b := event.StreamCheckpoint{Digest: k.digest, Kept: make(map[ident.Stream][]event.Range, len(k.kept))}
	for _, st := range k.covers {
		b.Covers = append(b.Covers, st.id)
	}
	for st, ranges := range k.kept {
		b.Kept[st.id] = ranges
	}
	return b
}

// bad tells whether k is unreadable.
func (k *checkpoint) bad() bool { return k.astray || k.wrong }

// cover brings a new checkpoint into force.
func (s *State) cover(k *checkpoint) {
	for _, st := range k.covers {
		st.ckpts = append(st.ckpts, k)
	}
	k.st.rt.ckpts = append(k.st.rt.ckpts, k)
	for st, ranges := range k.kept {
		k.missing += st.missing(ranges)
		if n := len(ranges); st == k.st && n > 0 && ranges[n-1].Last >= k.seq {
			k.astray = true
		}
	}
	if k.missing == 0 {
		k.verify()
	}
	s.remask(k.st.rt)
}

// missing counts the events in ranges that are not held.
func (st *stream) missing(ranges []event.Range) (n uint64) {
	for _, r := range ranges {
		i, _ := st.find(r.First)
		j, _ := st.find(r.Last + 1)
		n += r.Last - r.First + 1 - uint64(j-i)
	}
	return n
}

// verify sums the named events, all of which are held.
func (k *checkpoint) verify() {
	streams := slices.Clone(k.covers)
	slices.SortFunc(streams, func(a, b *stream) int { return strings.Compare(string(a.id), string(b.id)) })
	sum := sha256.New()
	for _, st := range streams {
		for _, r := range k.kept[st] {
			i, _ := st.find(r.First)
			for ; i < st.entries.len() && st.entries.seq(i) <= r.Last; i++ {
				hash := st.entries.hash(i)
				sum.Write(hash[:])
			}
		}
	}
	k.wrong = hex.EncodeToString(sum.Sum(nil)) != k.digest
}

// arrived tells the checkpoints that wait for it of an event.
func (s *State) arrived(st *stream, seq uint64) {
	for _, k := range st.ckpts {
		if k.missing == 0 || !k.names(st, seq) {
			continue
		}
		if k.missing--; k.missing == 0 {
			if k.verify(); k.wrong {
				s.remask(k.st.rt)
			}
		}
	}
}

func (k *checkpoint) names(st *stream, seq uint64) bool {
	ranges := k.kept[st]
	i, found := slices.BinarySearchFunc(ranges, seq, func(r event.Range, seq uint64) int { return cmp.Compare(r.First, seq) })
	return found || i > 0 && seq <= ranges[i-1].Last
}

// reaches tells whether k may speak for st: its own stream, and earlier runs
// that its stream's first event names. What an earlier run wrote is all below.
func (k *checkpoint) reaches(st *stream) bool {
	return k.st == st || st.before(k.st) && k.st.run.names(st)
}

// leaves are the places of st that k does not remove, when it speaks for st: those
// that it names, and in its own stream what follows from k itself on.
func (k *checkpoint) leaves(st *stream) []event.Range {
	if k.st != st {
		return k.kept[st]
	}
	return append(slices.Clip(k.kept[st]), event.Range{First: k.seq, Last: math.MaxUint64})
}

// masked tells whether a checkpoint in force removes the effect of an event.
func (st *stream) masked(seq uint64, f fact) bool {
	if _, first := f.(*succession); first {
		return false
	}
	return len(st.masks) > 0 && !overlap(st.left, seq, seq)
}

// unmasked tells whether some event of first to last would have an effect if it
// were held.
func (st *stream) unmasked(first, last uint64) bool {
	return first == 1 || len(st.masks) == 0 || overlap(st.left, first, last)
}

// overlap tells whether a place of first to last is in ranges.
func overlap(ranges []event.Range, first, last uint64) bool {
	i, _ := slices.BinarySearchFunc(ranges, first, func(r event.Range, seq uint64) int { return cmp.Compare(r.Last, seq) })
	return i < len(ranges) && ranges[i].First <= last
}

// common are the places that are in both, in as few ranges as can be.
func common(a, b []event.Range) (both []event.Range) {
	for len(a) > 0 && len(b) > 0 {
		r := event.Range{First: max(a[0].First, b[0].First), Last: min(a[0].Last, b[0].Last)}
		if n := len(both); n > 0 && r.First <= r.Last && both[n-1].Last+1 == r.First {
			both[n-1].Last = r.Last
		} else if r.First <= r.Last {
			both = append(both, r)
		}
		if a[0].Last < b[0].Last {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return both
}

// remask works out which checkpoints of a runtime are in force and gives the
// events of its streams their effect, or takes it, where that has changed. A
// checkpoint can only remove lower ones, so they are gone through from the
// highest down. Gone are streams that a checkpoint covered that is there no more.
func (s *State) remask(rt *runtime, gone ...*stream) {
	type mask struct {
		any  bool
		left []event.Range
	}
	old := map[*stream]mask{}
	lift := func(covers []*stream) {
		for _, st := range covers {
			if _, ok := old[st]; !ok && st.rt == rt {
				old[st] = mask{len(st.masks) > 0, st.left}
				st.masks, st.left = nil, nil
			}
		}
	}
	slices.SortFunc(rt.ckpts, func(a, b *checkpoint) int { return b.rank(a) })
	lift(gone)
	for _, k := range rt.ckpts {
		lift(k.covers)
	}
	for _, k := range rt.ckpts {
		if k.bad() || k.st.masked(k.seq, k) {
			continue
		}
		for _, st := range k.covers {
			if k.reaches(st) {
				st.mask(k)
			}
		}
	}
	for st, was := range old {
		if was.any != (len(st.masks) > 0) || !slices.Equal(was.left, st.left) {
			s.toggle(st)
			s.rescan(st)
		}
	}
}

// mask puts a checkpoint in force in a stream.
func (st *stream) mask(k *checkpoint) {
	left := k.leaves(st)
	if len(st.masks) > 0 {
		left = common(st.left, left)
	}
	st.masks, st.left = append(st.masks, k), left
}

// rank orders checkpoints so that none is removed by a lower one.
func (k *checkpoint) rank(l *checkpoint) int {
	return cmp.Or(cmp.Compare(k.st.runNumber(), l.st.runNumber()), strings.Compare(string(k.st.id), string(l.st.id)), cmp.Compare(k.seq, l.seq))
}

func (st *stream) runNumber() uint64 {
	if st.run == nil {
		return 0
	}
	return st.run.run
}

func (s *State) toggle(st *stream) {
	for i := st.entries.len() - 1; i >= 0; i-- {
		f := st.entries.fact(i)
		seq := f.pos().seq
		off := st.masked(seq, f)
		if _, was := st.removed[seq]; off == was {
			continue
		}
		if off {
			st.remove(seq)
			f.off(s)
		} else {
			delete(st.removed, seq)
			f.on(s)
		}
	}
}

// incomplete tells whether a checkpoint in force names an event of the stream
// that is not held.
func (st *stream) incomplete() bool {
	return slices.ContainsFunc(st.masks, func(k *checkpoint) bool { return st.missing(k.kept[st]) > 0 })
}

// badCheckpoints counts those of the stream that are unreadable.
func (st *stream) badCheckpoints() (n int) {
	for _, k := range st.rt.ckpts {
		if k.st == st && k.bad() && !st.masked(k.seq, k) {
			n++
		}
	}
	return n
}
