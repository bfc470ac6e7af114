package room

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/scope"
)

// facts are what a derived handover says without anybody writing it: from git
// and from the journal, not from memory.
type facts struct {
	branch, head string
	intent       string
	issue        string
	claims       []string
	files        []string
	more         bool // the list of files was cut
}

// shownFiles is how many changed files the text lists; the record itself keeps
// as many as fit.
const shownFiles = 40

func (r *Room) derive(ctx context.Context, a Actor, sid, branch, head string) (facts, error) {
	files, more, err := a.Git.Changed(ctx)
	if err != nil {
		return facts{}, err
	}
	f := facts{branch: branch, head: head, files: files, more: more}
	r.view(func(v look) {
		info := r.infoOf(v, sid)
		f.intent, f.issue = info.Intent, info.Issue
		for _, c := range v.State().ClaimsOf(r.id(sid)) {
			f.claims = append(f.claims, showSet(c.Scope))
			if c.Intent != "" {
				f.intent = c.Intent // the latest: claims come in the order of their stamps
			}
		}
	})
	return f, nil
}

// stored are the files that the event keeps: as many as its bound allows, in
// the form in which scopes are stored.
func (f facts) stored() []string {
	var out []string
	for _, p := range f.files {
		if e, err := scope.Path(p); err == nil {
			out = append(out, e.Text())
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return out[:min(len(out), event.MaxFiles)]
}

func (f facts) markdown() string {
	var b strings.Builder
	b.WriteString("# " + f.title() + "\n\n")
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "- %s: %s\n", name, value)
		}
	}
	branch := f.branch
	if branch == "" {
		branch = "(detached)"
	}
	line("branch", branch)
	line("head", f.head)
	line("intent", f.intent)
	line("issue", f.issue)
	line("claims", strings.Join(f.claims, ", "))
	f.list(&b)
	return strings.TrimRight(b.String(), "\n")
}

func (f facts) title() string {
	switch {
	case f.intent != "":
		return "Where it stands: " + f.intent
	case f.branch != "":
		return "Where branch " + f.branch + " stands"
	}
	return "Where it stands"
}

func (f facts) list(b *strings.Builder) {
	if len(f.files) == 0 {
		b.WriteString("- changed files: none\n")
		return
	}
	fmt.Fprintf(b, "- changed files: %d", len(f.files))
	if f.more {
		b.WriteString(" or more")
	}
	b.WriteString("\n")
	for i, p := range f.files {
		if i == shownFiles {
			fmt.Fprintf(b, "  - and %d more\n", len(f.files)-shownFiles)
			return
		}
		fmt.Fprintf(b, "  - %s\n", strings.ReplaceAll(p, "\n", "\\n"))
	}
}
