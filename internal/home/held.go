package home

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/comity-dev/comity/internal/vfs"
)

// Held reports whether a person stopped the daemon for good: until the next
// command of a person nothing starts it.
func (h Home) Held() (bool, error) {
	_, err := os.Stat(h.path("held"))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look whether the daemon is held: %w", err)
	}
	return true, nil
}

// SetHeld sets or lifts the hold, durably. What is so already stays so. A state
// folder that cannot be written is a [*FolderError].
func (h Home) SetHeld(held bool) error {
	fsys := vfs.OS()
	if held {
		if err := vfs.WriteFile(fsys, h.path("held"), nil); err != nil {
			return h.unheld("hold the daemon", fsys, err)
		}
		return nil
	}
	err := fsys.Remove(h.path("held"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = fsys.SyncDir(h.Dir)
	}
	if err != nil {
		return h.unheld("lift the hold of the daemon", fsys, err)
	}
	return nil
}

func (h Home) unheld(doing string, fsys vfs.FS, err error) error {
	if why := h.explain(fsys, err); errors.As(why, new(*FolderError)) && !errors.Is(err, fs.ErrNotExist) {
		return why
	}
	return fmt.Errorf("%s: %w", doing, err)
}
