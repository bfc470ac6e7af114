package proc

import (
	"errors"
	"fmt"
)

// maxAncestors bounds the walk to the root: deeper trees are cut there.
const maxAncestors = 256

// Parent is the pid of the process that pid answers to now. It is 0 when there
// is none that can be seen: at the root, at the edge of a container, or, on
// Windows, when the parent has ended.
func Parent(pid int) (int, error) {
	f, err := look(pid)
	if err != nil {
		return 0, fmt.Errorf("pid %d: %w", pid, err)
	}
	return f.parent, nil
}

// Ancestors are the parent of pid, its parent, and so on to the root, without
// pid itself. The line ends early at a process that may not be seen or that
// ends meanwhile; only when pid itself cannot be looked at is that an error.
func Ancestors(pid int) ([]ID, error) {
	child, err := look(pid)
	if err != nil {
		return nil, fmt.Errorf("pid %d: %w", pid, err)
	}
	boot, err := bootID()
	if err != nil {
		return nil, err
	}
	var line []ID
	for child.parent != 0 && len(line) < maxAncestors {
		parent, err := look(child.parent)
		if errors.Is(err, ErrGone) || errors.Is(err, ErrHidden) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("pid %d: %w", child.parent, err)
		}
		// Still the parent after it was looked at: so what we looked at was it,
		// and not a stranger that got its pid in between.
		if again, err := look(pid); err != nil || again.start != child.start || again.parent != child.parent {
			break
		}
		line = append(line, ID{PID: child.parent, Start: parent.start, Boot: boot})
		pid, child = child.parent, parent
	}
	return line, nil
}
