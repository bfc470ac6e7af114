package scope

// MeetInBulk asks as an Index does of large sets, of ways of any form. The ways of
// t are laid from a place on, and few places are asked one by one.
func MeetInBulk(s, t Set, at, few int) bool {
	p, q := s.Plan(), t.Plan()
	for i := range q.ways {
		q.ways[i].form = FormGlob
	}
	over := newTrack(q.ways, at)
	if over == nil {
		return false
	}
	var r run
	r.over(over)
	r.few = few
	for i := range p.ways {
		if r.meets(p.ways[i].alternative) {
			return true
		}
	}
	return false
}
