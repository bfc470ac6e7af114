package node

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/internal/home"
	"github.com/comity-dev/comity/internal/vfs"
)

// A key that is gone is not made anew where journals that it signed are there.
func TestMissingKeyIsNotReplaced(t *testing.T) {
	h := home.Home{Dir: t.TempDir()}
	first, err := loadKey(vfs.OS(), h)
	if err != nil {
		t.Fatalf("the first key: %v", err)
	}
	if again, err := loadKey(vfs.OS(), h); err != nil || again.Node() != first.Node() {
		t.Errorf("the key again = %v, %v; want the same", again, err)
	}
	if err := os.MkdirAll(h.RepositoryDir("0123"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(h.NodeKey()); err != nil {
		t.Fatal(err)
	}
	if _, err := loadKey(vfs.OS(), h); !errors.Is(err, api.ErrDamagedKey) || api.AsError(err).Hint == "" {
		t.Errorf("the key of journals is gone: %v, want damaged_key with a hint", err)
	}
	if _, err := os.Stat(h.NodeKey()); !os.IsNotExist(err) {
		t.Errorf("a key was made all the same: %v", err)
	}
	if err := os.RemoveAll(filepath.Join(h.Dir, "repos")); err != nil {
		t.Fatal(err)
	}
	if _, err := loadKey(vfs.OS(), h); err != nil {
		t.Errorf("without journals: %v, want a new key", err)
	}
}
