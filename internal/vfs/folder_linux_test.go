package vfs_test

import (
	"testing"

	"github.com/comity-dev/comity/internal/vfs"
)

// What has no time of birth that outlives a restart has no id.
func TestFolderIDOnlyWhereItIsSound(t *testing.T) {
	for _, dir := range []string{"/proc", "/sys", "/dev"} {
		if got := vfs.FolderID(dir); got != "" {
			t.Errorf("FolderID(%s) = %q, want none", dir, got)
		}
	}
}
