package fold

import "slices"

// lines are lines of one thread, each once, in the order of their runs: mostly one.
type lines struct{ few[line] }

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
	if i, ok := slices.BinarySearchFunc(ls.all(), ln.st, lineRun); !ok {
		ls.insert(i, ln)
	}
}

func (ls *lines) remove(ln *line) {
	if i, ok := slices.BinarySearchFunc(ls.all(), ln.st, lineRun); ok {
		ls.delete(i)
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
