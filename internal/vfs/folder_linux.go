package vfs

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// FolderID identifies the folder dir on this machine: it stays the same while the
// folder is there, also when it is renamed, over restarts of the machine, and a
// copy of the folder has another. It is "" where that is not known to hold: on
// overlays, in memory, on FAT, on file systems that keep no time of birth, and
// when dir cannot be looked at. A snapshot or an image of a whole file system is
// not told from what it was made of.
func FolderID(dir string) string {
	var on unix.Statfs_t
	if unix.Statfs(dir, &on) != nil {
		return ""
	}
	kind := ""
	switch uint32(on.Type) {
	case unix.EXT4_SUPER_MAGIC: // ext2 and ext3 have the same one, and no time of birth
		kind = "ext4"
	case unix.XFS_SUPER_MAGIC:
		kind = "xfs"
	case unix.BTRFS_SUPER_MAGIC:
		kind = "btrfs"
	default:
		return ""
	}
	// The number of a removed folder is given again, its time of birth is not.
	const want = unix.STATX_INO | unix.STATX_BTIME
	var st unix.Statx_t
	if unix.Statx(unix.AT_FDCWD, dir, 0, want, &st) != nil || st.Mask&want != want {
		return ""
	}
	return fmt.Sprintf("%s %d %d.%09d", kind, st.Ino, st.Btime.Sec, st.Btime.Nsec)
}
