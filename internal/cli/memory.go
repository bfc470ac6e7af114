package cli

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/comity-dev/comity/internal/home"
)

// A memory remembers over several runs of the program what was said, by empty
// files in the first of its folders that can be written. It keeps the newest
// maxRemembered, each for keepFor: what is older is news again.
type memory struct{ dirs []string }

const (
	maxRemembered = 256
	keepFor       = 7 * 24 * time.Hour
)

// memory is in the state folder, if there is one, else in a folder of this user
// in the temporary folder.
func (a *app) memory() memory {
	var m memory
	if h, err := home.Locate(a.getenv); err == nil {
		m.dirs = append(m.dirs, filepath.Join(h.Dir, "told"))
	}
	temp := cmp.Or(a.getenv("TMPDIR"), os.TempDir())
	m.dirs = append(m.dirs, filepath.Join(temp, fmt.Sprintf("comity-told-%d", os.Getuid())))
	return m
}

// first reports whether what is asked for the first time. Of several processes
// that ask at once, it is the first time for one.
func (m memory) first(what string) (bool, error) {
	sum := sha256.Sum256([]byte(what))
	name := hex.EncodeToString(sum[:16])
	var errs []error
	for _, dir := range m.dirs {
		first, err := firstIn(dir, name)
		if err == nil {
			return first, nil
		}
		errs = append(errs, err)
	}
	return false, errors.Join(errs...)
}

func firstIn(dir, name string) (bool, error) {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return false, err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return false, err
	}
	if !info.IsDir() || exposed(info.Mode()) {
		return false, fmt.Errorf("%s is not a folder of this user alone", dir)
	}
	path := filepath.Join(dir, name)
	if _, err := os.Lstat(path); err == nil {
		return false, nil
	}
	if err := forget(dir); err != nil {
		return false, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, f.Close()
}

// forget makes room in dir for one more: it removes what is too old, and then the
// oldest.
func forget(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	type mark struct {
		path string
		at   time.Time
	}
	var kept []mark
	for _, e := range entries {
		info, err := e.Info()
		if err != nil { // another process has removed it
			continue
		}
		m := mark{filepath.Join(dir, e.Name()), info.ModTime()}
		if time.Since(m.at) > keepFor {
			_ = os.Remove(m.path) // it is tried again next time
			continue
		}
		kept = append(kept, m)
	}
	slices.SortFunc(kept, func(x, y mark) int { return x.at.Compare(y.at) })
	for len(kept) >= maxRemembered {
		_ = os.Remove(kept[0].path)
		kept = kept[1:]
	}
	return nil
}
