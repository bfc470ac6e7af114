package vfs

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// FolderID identifies the folder dir on this machine: it stays the same while the
// folder is there, also when it is renamed, over restarts of the machine, and a
// copy of the folder has another. It is "" where that is not known to hold: on
// other file systems than Apple's own, and when dir cannot be looked at. A
// snapshot or an image of a whole volume is not told from what it was made of.
func FolderID(dir string) string {
	var on unix.Statfs_t
	var st unix.Stat_t
	if unix.Statfs(dir, &on) != nil || unix.Stat(dir, &st) != nil {
		return ""
	}
	switch kind := unix.ByteSliceToString(on.Fstypename[:]); kind {
	case "apfs", "hfs":
		return fmt.Sprintf("%s %d %d.%09d", kind, st.Ino, st.Btim.Sec, st.Btim.Nsec)
	}
	return ""
}
