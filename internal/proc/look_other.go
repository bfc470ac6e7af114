//go:build !linux && !darwin && !windows

package proc

// facts is empty: nothing is known of processes here.
type facts struct {
	parent int
	start  string
}

func bootID() (string, error) { return "", ErrUnsupported }

func look(pid int) (facts, error) { return facts{}, ErrUnsupported }

func (f facts) fullName(pid int) (string, error) { return "", ErrUnsupported }

func (f facts) terminal(pid int) (leader int, ok bool, err error) { return 0, false, ErrUnsupported }

func announced(pid int) (wait func() bool, cancel func(), err error) {
	return nil, nil, ErrUnsupported
}
