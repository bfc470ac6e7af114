package journal

// authentic reports whether c's own signature is good, or an authentic event
// among those in the batch and those that wait reaches it through prev. It goes
// up the run that c begins and looks at signatures from its end: with an honest
// author the first one it looks at is good.
func (i *intake) authentic(c *candidate) bool {
	if c.reached || c.barren == i {
		return c.reached
	}
	run := []*candidate{c}
	for next := i.heir(c); next != nil; next = i.heir(next) {
		run = append(run, next)
	}
	for n := len(run) - 1; n >= 0; n-- {
		if !run[n].reached && !i.vouched(run, n) && !i.signed(run[n]) {
			continue
		}
		for _, below := range run[:n+1] {
			below.reached = true
		}
		return true
	}
	for _, one := range run { // what is in sight stays so for this batch
		one.barren = i
	}
	return false
}

// vouched reports whether an event other than the next one of the run reaches
// run[n]: a second one that names it, when there is one.
func (i *intake) vouched(run []*candidate, n int) bool {
	heirs := i.heirs(run[n])
	for k := 1; k < len(heirs); k++ {
		if i.authentic(heirs[k]) {
			return true
		}
	}
	return false
}

// heir is the first of the heirs, nil when there is none.
func (i *intake) heir(c *candidate) *candidate {
	seq := c.event.Seq + 1
	for _, d := range i.of(c).at(seq) {
		if names(d.event, c.event) {
			return d
		}
	}
	if d := i.j.waiting.get(c.event.Stream, seq); d != nil && names(d.event, c.event) {
		return d
	}
	return nil
}

// heirs are the events in sight that name c as the one before them.
func (i *intake) heirs(c *candidate) []*candidate {
	seq := c.event.Seq + 1
	var all []*candidate
	for _, d := range i.of(c).at(seq) {
		if names(d.event, c.event) {
			all = append(all, d)
		}
	}
	if d := i.j.waiting.get(c.event.Stream, seq); d != nil && names(d.event, c.event) {
		all = append(all, d)
	}
	return all
}

// signed reports whether c's own signature is good; it is looked at once, also when
// c is in sight several times. The lock is given up meanwhile, except for events of
// our own stream, which own writes move on.
func (i *intake) signed(c *candidate) bool {
	if c.checked {
		return c.good
	}
	c.checked = true
	if t := i.twin(c); t != nil {
		c.good = t.good
		return c.good
	}
	i.j.health.Verified++
	if c.event.Stream == i.j.own.stream {
		c.good = c.event.Verify()
		return c.good
	}
	i.j.unlock()
	c.good = c.event.Verify()
	i.j.lock()
	return c.good
}

// twin is a copy of c, of the batch or one that waits, whose signature was looked at;
// nil when there is none.
func (i *intake) twin(c *candidate) *candidate {
	is := func(d *candidate) bool { return d != c && d.checked && d.event.Hash == c.event.Hash }
	if w := i.j.waiting.get(c.event.Stream, c.event.Seq); w != nil && is(w) {
		return w
	}
	for _, d := range i.of(c).at(c.event.Seq) {
		if is(d) {
			return d
		}
	}
	return nil
}
