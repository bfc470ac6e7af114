package node

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/internal/home"
	"github.com/comity-dev/comity/internal/vfs"
)

// CheckKey reads the node key and changes nothing: nil when it can be used, and
// when there is none yet. The error is the one that Serve would end with.
func CheckKey(h home.Home) error {
	_, err := ident.LoadKey(vfs.OS(), h.NodeKey())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return keyError(err)
}

// loadKey reads the node key, or makes the first one. Where there are journals
// already, a key that is missing is not made anew: nothing in them would count.
func loadKey(fsys vfs.FS, h home.Home) (*ident.Key, error) {
	_, err := fsys.Stat(h.NodeKey())
	if errors.Is(err, fs.ErrNotExist) {
		if repos, err := fsys.List(filepath.Dir(h.RepositoryDir("x"))); err == nil && len(repos) > 0 {
			return nil, api.Errorf(api.CodeDamagedKey, "node key %s is missing, and journals that it signed are there", h.NodeKey()).
				WithHint("put it back from a copy of the state folder; to begin anew as another node, move the folder repos away")
		}
	}
	key, _, err := ident.LoadOrCreateKey(fsys, h.NodeKey())
	return key, keyError(err)
}

// keyError gives what is wrong with the node key a code and a next step.
func keyError(err error) error {
	var damaged *ident.DamagedKeyError
	var open *ident.OpenKeyError
	switch {
	case errors.As(err, &damaged):
		return api.Errorf(api.CodeDamagedKey, "node key %s is damaged: %s", damaged.Path, damaged.Reason).
			WithHint("put it back from a copy of the state folder; it is never replaced by itself, and without it this is another node")
	case errors.As(err, &open):
		return api.Errorf(api.CodeDamagedKey, "node key %s is open to others: mode %04o", open.Path, open.Mode.Perm()).
			WithHint("see who had access, then: chmod 600 %s", open.Path)
	case vfs.IsNoSpace(err):
		return api.Errorf(api.CodeDiskFull, "the node key cannot be written: the disk of the state folder is full").
			WithHint("free some space and repeat the command")
	case err != nil:
		return fmt.Errorf("node key: %w", err)
	}
	return nil
}
