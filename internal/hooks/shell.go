package hooks

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/comity-dev/comity/api"
)

// Bounds of the reading of one command. What is behind a bound may write
// anywhere.
const (
	maxCommand = 256 << 10 // bytes; Linux runs no shell with a word over 128 KiB
	maxNesting = 32        // of subshells, substitutions, scripts within scripts
	maxWork    = 1 << 20   // bytes read and words run in all, inner scripts and loops included
	maxFound   = 256       // paths
	maxVars    = 32        // variables that are followed
	maxFanOut  = 64        // words of one {a,b} or of one for
	tempDir    = "/tmp/"   // where mktemp and $TMPDIR are taken to be: in no checkout
	homeDir    = "~"
)

// A found is what a command writes, as far as its text tells.
type found struct {
	writes   []string
	into     []api.HookInto
	under    []string
	anywhere bool
	tree     string
	treeDir  string
	moved    bool // the shell ends in another folder, as far as is known

	seen map[string]bool
	work int // what is left of maxWork
}

func (f *found) request(req *api.HookRequest) {
	req.Writes, req.Into = f.writes, f.into
	req.Tree, req.TreeDir = f.tree, f.treeDir
	req.Whole = f.anywhere || len(f.under) > 0
	if !f.anywhere {
		req.Under = f.under
	}
}

// after fills in what a command that has run wrote. The folder that is named then
// is the one where it ended; when that may be another one than where it began,
// no path can be told from it.
func (f *found) after(req *api.HookRequest) {
	f.request(req)
	if f.moved && (len(req.Writes) > 0 || len(req.Into) > 0 || req.Whole || req.Tree != "") {
		req.Writes, req.Into, req.Under = nil, nil, nil
		req.Whole, req.TreeDir = true, ""
	}
}

// add puts path into one of the lists, once.
func (f *found) add(list *[]string, kind, path string) {
	switch {
	case !namable(path) || path == "/dev" || strings.HasPrefix(path, "/dev/"):
	case f.seen[kind+path]:
	case len(f.seen) >= maxFound:
		f.anywhere = true
	default:
		f.seen[kind+path] = true
		*list = append(*list, path)
	}
}

func (f *found) addInto(target string, names ...string) {
	switch {
	case !namable(target) || strings.HasPrefix(target, "/dev/"):
	case slices.ContainsFunc(names, func(n string) bool { return !namable(n) }):
	case len(f.seen) >= maxFound:
		f.anywhere = true
	default:
		key := "into " + target + "\x00" + strings.Join(names, "\x00")
		if !f.seen[key] {
			f.seen[key] = true
			f.into = append(f.into, api.HookInto{Target: target, Names: names})
		}
	}
}

// spend takes n from the work that is left and reports whether there was so
// much.
func (f *found) spend(n int) bool {
	if f.work < n {
		f.work, f.anywhere = 0, true
		return false
	}
	f.work -= n
	return true
}

// readShell reads a command line that is run in the folder cwd, in time linear
// in its length.
func readShell(command, cwd string) *found {
	f := &found{seen: make(map[string]bool), work: maxWork}
	if len(command) > maxCommand {
		f.anywhere = true
		return f
	}
	sh := &shell{src: strings.ToValidUTF8(command, "\uFFFD"), found: f}
	sh.at.cwd = cwd
	sh.run(false)
	f.moved = sh.at.dir != "" || sh.at.lost || sh.at.vague
	return f
}

// A standing is what a shell knows of itself; a subshell has a copy.
type standing struct {
	cwd    string            // absolute, where the whole command begins
	dir    string            // folder it stands in: "" is cwd; else absolute, "~..." or below cwd
	lost   bool              // dir is not known
	vague  bool              // it stands somewhere below dir
	each   bool              // dir has the variable of a for in it
	past   []string          // of pushd
	vars   map[string]string // values that are known for sure, with marks
	shared bool              // vars is that of the outer shell

	loop  []string // what the variable of the innermost for goes through
	loops int      // loops open in this shell
	conds int      // ifs, cases and loops open in this shell
}

// inner is the standing of a subshell that begins here.
func (s standing) inner() standing {
	s.shared = true
	s.past = slices.Clip(s.past)
	s.loops, s.conds = 0, 0
	return s
}

func (s *standing) set(name, value string) {
	if s.vars == nil || s.shared {
		vars := make(map[string]string, len(s.vars)+1)
		maps.Copy(vars, s.vars)
		s.vars, s.shared = vars, false
	}
	if _, there := s.vars[name]; there || len(s.vars) < maxVars {
		s.vars[name] = value
	}
}

// head is the part of the word w that is known: all of it, or the folder that it
// is somewhere below. ok is false when there is none.
func head(w string) (h string, exact, ok bool) {
	from := 0
	if w != "" && w[0] == markHome {
		from = 1
	}
	i := markAt(w[from:])
	if i < 0 {
		return w, true, true
	}
	i += from
	cut := strings.LastIndexByte(w[:i], '/')
	switch {
	case cut > 0:
		return w[:cut], false, true
	case cut < 0 && from == 0 && (i > 0 || w[i] == markGlob): // a name in this folder
		return ".", false, true
	}
	return "", false, false
}

// cd goes to the folder that w names. A link on the way is not seen: like a
// shell's own cd, ".." takes away the last name.
func (s *standing) cd(w string) {
	dir, exact, ok := head(w)
	switch {
	case s.goesThrough(w):
		s.dir, s.each = path.Join(s.dir, w), true
	case !ok:
		s.lost = true
	case dir == "":
	case dir[0] == markHome:
		s.dir, s.lost, s.vague, s.each = path.Clean(homeDir+dir[1:]), false, !exact, false
	case dir[0] == '/':
		s.dir, s.lost, s.vague, s.each = path.Clean(dir), false, !exact, false
		if s.dir == s.cwd {
			s.dir = ""
		}
	case s.each:
		s.lost = true
	case s.loops > 0:
		s.lost = true // the second round begins elsewhere
	case !s.lost:
		s.vague = s.vague || !exact
		s.step(dir)
	}
}

// goesThrough reports whether the folder w below this one is known for each
// value of the innermost for.
func (s *standing) goesThrough(w string) bool {
	if s.lost || s.vague || s.each || s.loops > 0 || len(s.loop) == 0 || !hasMark(w) {
		return false
	}
	for _, v := range s.loop {
		full := strings.ReplaceAll(w, mark(markLoop), v)
		if hasMark(full) || strings.HasPrefix(full, "/") || strings.HasPrefix(full, homeDir) || strings.Contains(full, "..") {
			return false
		}
	}
	return true
}

func (s *standing) step(dir string) {
	to := path.Join(s.dir, dir)
	if up := to == ".." || strings.HasPrefix(to, "../"); up && strings.HasPrefix(s.cwd, "/") {
		to = path.Join(s.cwd, to)
	}
	if to == "." || to == s.cwd {
		to = ""
	}
	home := strings.HasPrefix(s.dir, homeDir)
	s.lost = len(to) > maxPath || home != strings.HasPrefix(to, homeDir) // above the home, or in a folder that is called ~
	s.dir = to
}

// place says where the word w lies: a path, exact or the folder that it is
// somewhere below. ok is false when that cannot be told.
func (s *standing) place(w string) (p string, exact, ok bool) {
	p, exact, ok = head(w)
	switch {
	case !ok:
	case p == "" || p[0] == '/':
	case p[0] == markHome:
		p = homeDir + p[1:]
	case s.lost:
		return "", false, false
	case s.vague:
		return s.below("."), false, true
	default:
		p = s.below(p)
	}
	return p, exact, ok
}

// below joins a relative path to the folder, as text: only the system knows
// what ".." behind a link is.
func (s *standing) below(rel string) string {
	switch {
	case s.dir == "" && strings.HasPrefix(rel, homeDir):
		return "./" + rel
	case s.dir == "":
		return rel
	case rel == ".":
		return s.dir
	}
	return strings.TrimSuffix(s.dir, "/") + "/" + rel
}

// write notes that the file (or all of the folder) w is written.
func (sh *shell) write(w string) {
	p, exact, ok := sh.at.place(w)
	switch {
	case !ok:
		sh.found.anywhere = true
	case exact:
		sh.found.add(&sh.found.writes, "write ", p)
	default:
		sh.found.add(&sh.found.under, "under ", p)
	}
}

// under notes that something below the folder w, or w itself, is written.
func (sh *shell) under(w string) {
	if p, _, ok := sh.at.place(w); ok {
		if trimmed := strings.TrimRight(p, "/"); trimmed != "" {
			p = trimmed
		}
		sh.found.add(&sh.found.under, "under ", p)
	} else {
		sh.found.anywhere = true
	}
}

// tree notes a git command over the whole checkout. There is room for one; of
// two in different folders the second may write anywhere.
func (sh *shell) tree(name string) {
	f, dir := sh.found, sh.at.dir
	if sh.at.lost || sh.at.vague {
		f.anywhere, dir = true, ""
	}
	switch {
	case f.tree == "":
		f.tree, f.treeDir = name, dir
	case f.treeDir != dir:
		f.anywhere = true
	}
}
