package install

import (
	"fmt"
	"io"
)

// Print writes all that Apply would do, in its order: each name with its mode or
// a unified diff, what is left alone and why, and the records.
func (p *Plan) Print(w io.Writer) {
	for _, s := range p.steps {
		s.print(w)
	}
	if len(p.steps) == 0 {
		fmt.Fprintln(w, "nothing to change")
	}
	for _, n := range p.notes {
		fmt.Fprintln(w, "note:", n)
	}
	for _, r := range p.records {
		switch {
		case r.during != nil || r.then != nil:
			fmt.Fprintln(w, "record in", visible(r.path))
		default:
			fmt.Fprintln(w, "remove the record", visible(r.path))
		}
	}
}

func (s *step) print(w io.Writer) {
	path := visible(s.path)
	switch s.do {
	case mkdir:
		fmt.Fprintf(w, "make folder %s (mode %04o)\n", path, s.mode)
	case write:
		if !s.old.there {
			fmt.Fprintf(w, "create %s (mode %04o)\n", path, s.new.mode)
		} else {
			fmt.Fprintf(w, "edit %s\n", path)
		}
		fmt.Fprint(w, diff(string(s.old.b), string(s.new.b)))
	case move:
		fmt.Fprintf(w, "rename %s to %s\n", path, visible(s.to))
		if s.over.there {
			fmt.Fprint(w, diff(string(s.over.b), ""))
		}
	case remove:
		fmt.Fprintf(w, "remove %s\n%s", path, diff(string(s.old.b), ""))
	case rmdir:
		fmt.Fprintf(w, "remove folder %s if it is empty\n", path)
	}
}
