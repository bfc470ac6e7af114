package install

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// Claude plans the handlers of Claude Code: scope "user" is for all the user's
// work, "project" for all who have the repository of o.Repo.
//
// A settings file with an error in it is a *SyntaxError, a read-only one
// ErrReadOnly. What is there complete already is an empty plan.
func Claude(ctx context.Context, o Options, scope string) (*Plan, error) {
	o, err := o.filled()
	if err != nil {
		return nil, err
	}
	name, mode := ClaudeUser, fs.FileMode(0o600)
	switch scope {
	case "user":
	case "project":
		name, mode = ClaudeProject, 0o644
	default:
		return nil, fmt.Errorf("install claude: scope %q is neither user nor project", scope)
	}
	where, err := o.settings(name)
	if err != nil {
		return nil, err
	}
	return o.planText(target{name: name, where: where, path: where, kind: kindJSON, mode: mode})
}

// settings is the file that name is about, as the user names it.
func (o Options) settings(name string) (string, error) {
	if name == ClaudeUser {
		if !filepath.IsAbs(o.ClaudeDir) {
			return "", fmt.Errorf("install: folder of Claude Code %q is not absolute", o.ClaudeDir)
		}
		return filepath.Join(o.ClaudeDir, "settings.json"), nil
	}
	if o.Repo.Top == "" {
		return "", fmt.Errorf("install: scope project is for a worktree of a repository")
	}
	return filepath.Join(o.Repo.Top, ".claude", "settings.json"), nil
}

func (o Options) claudeLines() []string {
	lines := make([]string, len(events))
	for i, e := range events {
		lines[i] = o.claudeLine(e)
	}
	return lines
}

// group is what we add for an event: a group of our own, so that nobody else's
// is touched.
func (o Options) group(e event) object {
	handlers := array{object{{"type", "command"}, {"command", o.claudeLine(e)}, {"timeout", number(fmt.Sprint(timeout))}}}
	if e.matcher == "" {
		return object{{"hooks", handlers}}
	}
	return object{{"matcher", e.matcher}, {"hooks", handlers}}
}

// settingsComplete says that each handler is in b once, where we would put it.
// What else was said about it, as its timeout, is the user's to change.
func (o Options) settingsComplete(d *document) bool {
	hooks := d.root.member("hooks")
	for _, e := range events {
		found := 0
		groups := hooks.member(e.name)
		if groups == nil {
			return false
		}
		for _, g := range groups.kids {
			handlers := g.member("hooks")
			if handlers == nil {
				continue
			}
			for _, h := range handlers.kids {
				if d.says(h.member("command"), o.claudeLine(e)) && d.matches(g, e.matcher) {
					found++
				}
			}
		}
		if found != 1 {
			return false
		}
	}
	return true
}

func (d *document) matches(group *node, matcher string) bool {
	m := group.member("matcher")
	return m == nil && matcher == "" || d.says(m, matcher)
}

// addSettings returns the edits that add all our groups to b, which holds none.
func (o Options) addSettings(path string, b []byte, f *File) ([]Edit, error) {
	if blank(b) {
		return o.fillSettings(b, f), nil
	}
	d, err := parse(path, b)
	if err != nil {
		return nil, err
	}
	if d.root.kind != '{' {
		return nil, d.wrong(path, d.root, "the settings are no object")
	}
	hooks := d.root.member("hooks")
	if hooks == nil {
		f.Made = append(f.Made, "hooks")
		f.keepEmpty(d, d.root, "")
		return d.insert(d.root, field{"hooks", o.allGroups(f)}), nil
	}
	if hooks.kind != '{' {
		return nil, d.wrong(path, hooks, "hooks is no object")
	}
	return o.addToHooks(path, d, hooks, f)
}

func (o Options) addToHooks(path string, d *document, hooks *node, f *File) ([]Edit, error) {
	var edits []Edit
	var missing []any
	for _, e := range events {
		groups := hooks.member(e.name)
		switch {
		case groups == nil:
			f.Made = append(f.Made, "hooks/"+e.name)
			missing = append(missing, field{e.name, array{o.group(e)}})
		case groups.kind != '[':
			return nil, d.wrong(path, groups, "hooks."+e.name+" is no array")
		default:
			f.keepEmpty(d, groups, "hooks/"+e.name)
			edits = append(edits, d.insert(groups, o.group(e))...)
		}
	}
	if len(missing) > 0 {
		f.keepEmpty(d, hooks, "hooks")
		edits = append(edits, d.insert(hooks, missing...)...)
	}
	return sorted(edits), nil
}

func (o Options) allGroups(f *File) object {
	var all object
	for _, e := range events {
		f.Made = append(f.Made, "hooks/"+e.name)
		all = append(all, field{e.name, array{o.group(e)}})
	}
	return all
}

// fillSettings makes settings of a file that is missing or blank.
func (o Options) fillSettings(b []byte, f *File) []Edit {
	f.Made = []string{"", "hooks"}
	mark := ""
	if bytes.HasPrefix(b, []byte(bom)) {
		mark = bom
	}
	s := style{nl: "\n", unit: "  ", colon: ": "}
	if bytes.Contains(b, []byte("\r\n")) {
		s.nl = "\r\n"
	}
	var text strings.Builder
	s.write(&text, object{{"hooks", o.allGroups(f)}}, "")
	return []Edit{{At: len(mark), Old: string(b[len(mark):]), New: text.String() + s.nl}}
}

// keepEmpty remembers the white space at the end of a container without kids:
// all that is in it, or all behind its last comment.
func (f *File) keepEmpty(d *document, c *node, name string) {
	if len(c.kids) > 0 {
		return
	}
	if f.Empty == nil {
		f.Empty = make(map[string]string)
	}
	f.Empty[name] = string(d.b[d.behindComments(c.start+1, c.end) : c.end-1])
}

func (d *document) wrong(path string, n *node, what string) error {
	line, col := place(d.b, n.start)
	return &SyntaxError{Path: path, Line: line, Col: col, What: what}
}

// stripSettings takes all that is ours out of b, which others have edited since f
// was recorded, or of which there is no record (f nil). gone says that nothing
// is left of a file that was not there.
func (o Options) stripSettings(path string, b []byte, f *File) (out []byte, gone bool, err error) {
	if blank(b) {
		return b, false, nil
	}
	commands := o.claudeLines()
	if f != nil {
		commands = append(commands, f.Commands...)
	}
	out, from, err := takeOutHandlers(path, b, commands)
	if err != nil || len(from) == 0 {
		return out, false, err
	}
	for _, name := range from {
		if out, err = cleanUp(path, out, f, "hooks/"+name); err != nil {
			return nil, false, err
		}
	}
	if out, err = cleanUp(path, out, f, "hooks"); err != nil {
		return nil, false, err
	}
	return cleanRoot(path, out, f)
}

// cleanUp removes the container name if it is empty and we made it; one that was
// there stays.
func cleanUp(path string, b []byte, f *File, name string) ([]byte, error) {
	d, err := parse(path, b)
	if err != nil {
		return nil, err
	}
	above, c := d.root, d.root.member("hooks")
	if _, event, ok := strings.Cut(name, "/"); ok {
		above, c = c, c.member(event)
	}
	if c == nil || len(c.kids) > 0 {
		return b, nil
	}
	if d.hollow(c) && (f == nil || slices.Contains(f.Made, name)) {
		return apply(b, d.takeOut(above, slices.Index(above.kids, c)))
	}
	return apply(b, d.refill(c, f, name))
}

// refill gives a container without kids the white space back that it had.
func (d *document) refill(c *node, f *File, name string) []Edit {
	if f == nil {
		return nil
	}
	space, ok := f.Empty[name]
	at := d.behindComments(c.start+1, c.end)
	if !ok || d.inLineComment(at) && !strings.HasPrefix(strings.TrimLeft(space, " \t\r"), "\n") {
		return nil
	}
	return []Edit{{At: at, Old: string(d.b[at : c.end-1]), New: space}}
}

func cleanRoot(path string, b []byte, f *File) ([]byte, bool, error) {
	d, err := parse(path, b)
	if err != nil {
		return nil, false, err
	}
	if f == nil || len(d.root.kids) > 0 {
		return b, false, nil
	}
	if slices.Contains(f.Made, "") && len(d.comments) == 0 {
		if f.Before == "" {
			return nil, true, nil
		}
		return []byte(f.Edits[0].Old), false, nil
	}
	b, err = apply(b, d.refill(d.root, f, ""))
	return b, false, err
}
