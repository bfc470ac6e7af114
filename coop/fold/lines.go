package fold

import "slices"

// lines are lines of one thread, each once, in the order of their runs: mostly one.
type lines struct {
	one  [1]*line
	more *[]*line // all of them, when they are more
}

func (ls *lines) all() []*line {
	switch {
	case ls.more != nil:
		return *ls.more
	case ls.one[0] != nil:
		return ls.one[:]
	}
	return nil
}

func lineRun(ln *line, u *stream) int   { return byRun(ln.st, u) }
func lineNumber(ln *line, n uint64) int { return byNumber(ln.st, n) }

// find is the line of a run, nil when there is none.
func (ls *lines) find(u *stream) *line {
	all := ls.all()
	if i, ok := slices.BinarySearchFunc(all, u, lineRun); ok {
		return all[i]
	}
	return nil
}

func (ls *lines) add(ln *line) {
	all := ls.all()
	i, ok := slices.BinarySearchFunc(all, ln.st, lineRun)
	switch {
	case ok:
	case len(all) == 0:
		ls.one[0], ls.more = ln, nil
	default:
		all = slices.Insert(slices.Clip(all), i, ln)
		ls.one[0], ls.more = nil, &all
	}
}

func (ls *lines) remove(ln *line) {
	all := ls.all()
	i, ok := slices.BinarySearchFunc(all, ln.st, lineRun)
	switch {
	case !ok:
	case ls.more == nil:
		ls.one[0] = nil
	default:
		*ls.more = slices.Delete(all, i, i+1)
	}
}

// lastBefore is the line of the latest run before u, nil when there is none.
func (ls *lines) lastBefore(u *stream) *line {
	all := ls.all()
	i, _ := slices.BinarySearchFunc(all, u.number(), lineNumber)
	if i == 0 {
		return nil
	}
	return all[i-1]
}

// after cuts a list of lines behind a run.
func after(all []*line, u *stream) []*line {
	i, _ := slices.BinarySearchFunc(all, u.number()+1, lineNumber)
	return all[i:]
}

// last is the line of the latest run, nil when there is none.
func (ls *lines) last() *line {
	if all := ls.all(); len(all) > 0 {
		return all[len(all)-1]
	}
	return nil
}
