package home

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/comity-dev/comity/internal/proc"
	"github.com/comity-dev/comity/internal/vfs"
)

const (
	// lockPatience is how long a daemon tries to take a lock whose holder does
	// not say who it is: a client that looks holds it for microseconds, a daemon
	// that stops for milliseconds.
	lockPatience = 500 * time.Millisecond
	lockRetry    = 5 * time.Millisecond

	maxInfo = 16 << 10
)

// Info says who holds the lock of a state folder.
type Info struct {
	PID    int    `json:"pid"`
	Start  string `json:"start"` // with Boot: see proc.ID
	Boot   string `json:"boot"`
	Build  string `json:"build"`
	Socket string `json:"socket"`
	API    int    `json:"api"`
}

// A LockedError reports that another daemon has the state folder.
type LockedError struct {
	Dir  string
	Info Info // zero when the holder has not said who it is
}

func (e *LockedError) Error() string {
	if e.Info.PID == 0 {
		return fmt.Sprintf("state folder %s is held by a daemon that does not say who it is; comity doctor may find it", e.Dir)
	}
	return fmt.Sprintf("state folder %s is held by the daemon with pid %d (build %s); comity stop ends it", e.Dir, e.Info.PID, e.Info.Build)
}

// Is makes a LockedError match [vfs.ErrLocked].
func (e *LockedError) Is(target error) bool { return target == vfs.ErrLocked }

// A Lock is the right of one daemon to a state folder. It ends with Close, or
// with the process, however that ends.
type Lock struct {
	fsys  vfs.FS
	info  string
	held  io.Closer
	close func() error
}

// Lock takes the state folder for this process and writes info beside the
// lock; PID, Start and Boot in it are filled in. When another process has it,
// the error is a [*LockedError]. Prepare comes first.
//
// On a full disk the lock is taken and info is not written.
func (h Home) Lock(fsys vfs.FS, info Info) (*Lock, error) {
	self, err := proc.Self()
	if err != nil && !errors.Is(err, proc.ErrUnsupported) {
		return nil, fmt.Errorf("lock the state folder: %w", err)
	}
	if err == nil {
		info.PID, info.Start, info.Boot = self.PID, self.Start, self.Boot
	}
	held, err := h.take(fsys)
	if err != nil {
		return nil, err
	}
	l := &Lock{fsys: fsys, info: h.path("daemon.json"), held: held}
	l.close = sync.OnceValue(l.giveBack)
	h.sweep(fsys)
	if err := l.write(info); err != nil {
		l.Close()
		return nil, fmt.Errorf("lock the state folder: say who holds it: %w", err)
	}
	return l, nil
}

// take gets the lock. Who looks whether it is held, holds it for a moment, and
// so does a daemon that is about to end: only a holder that says who it is, and
// lives, is refused to at once.
func (h Home) take(fsys vfs.FS) (io.Closer, error) {
	for began := time.Now(); ; time.Sleep(lockRetry) {
		held, err := fsys.Lock(h.path("daemon.lock"))
		if err == nil {
			return held, nil
		}
		if !errors.Is(err, vfs.ErrLocked) {
			return nil, h.explain(fsys, err)
		}
		if info, ok := h.holder(fsys); ok {
			return nil, &LockedError{h.Dir, info}
		}
		if time.Since(began) > lockPatience {
			return nil, &LockedError{Dir: h.Dir}
		}
	}
}

// write replaces what an earlier daemon may have left. The file is removed
// first, so that even when it cannot be written nobody reads the old one.
func (l *Lock) write(info Info) error {
	data, err := json.Marshal(info)
	if err != nil {
		return err
	}
	if err := l.fsys.Remove(l.info); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := vfs.WriteFile(l.fsys, l.info, append(data, '\n')); err != nil && !vfs.IsNoSpace(err) {
		return err
	}
	return nil
}

// sweep removes what a crash in the middle of a write left, of the files that
// only the holder of the lock writes. What cannot be removed does no harm.
func (h Home) sweep(fsys vfs.FS) {
	names, err := fsys.List(h.Dir)
	if err != nil {
		return
	}
	for _, name := range names {
		for _, ours := range []string{"daemon.json.", "settings.json.", "machine.", "node.key."} {
			if strings.HasPrefix(name, ours) && strings.HasSuffix(name, ".tmp") {
				_ = fsys.Remove(h.path(name))
			}
		}
	}
}

// Close gives the state folder back. Closing again is a no-op, also when
// another daemon has it by then.
func (l *Lock) Close() error { return l.close() }

// giveBack removes the info first: what is read while the lock is held is the
// holder's.
func (l *Lock) giveBack() error {
	err := l.fsys.Remove(l.info)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, l.held.Close())
}

// Running reports whether a daemon holds the state folder now, and who it is.
// Info is zero when the holder has not said so yet. What a daemon that was
// killed left behind counts for nothing. It needs no right to write.
func (h Home) Running() (Info, bool, error) {
	held, err := locked(h.path("daemon.lock"))
	if err != nil {
		return Info{}, false, fmt.Errorf("look whether a daemon runs: %w", err)
	}
	if !held {
		return Info{}, false, nil
	}
	info, _ := h.holder(vfs.OS())
	return info, true, nil
}

// holder reads who wrote the info, unless that process has ended.
func (h Home) holder(fsys vfs.FS) (Info, bool) {
	data, err := vfs.ReadFile(fsys, h.path("daemon.json"), maxInfo)
	if err != nil {
		return Info{}, false
	}
	var info Info
	if err := json.Unmarshal(data, &info); err != nil || info.PID <= 0 {
		return Info{}, false
	}
	alive, err := proc.ID{PID: info.PID, Start: info.Start, Boot: info.Boot}.Alive()
	if err == nil && !alive {
		return Info{}, false
	}
	return info, true // also when it cannot be told: the lock is held, after all
}
