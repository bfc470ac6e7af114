package vfs

import (
	"bufio"
	"strings"
	"testing"
)

func TestMountKind(t *testing.T) {
	const mounts = `22 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw
30 22 0:40 / /home rw - nfs4 srv:/home rw
31 30 0:41 / /home/ada/my\040disk rw - fuse.sshfs ada@srv:/ rw
32 30 0:42 / /home/ada/local rw - tmpfs none rw
33 30 0:43 / /home/ada/local rw - btrfs /dev/sdb rw
`
	for _, tt := range []struct {
		dir, kind string
		remote    bool
	}{
		{"/", "ext4", false},
		{"/homework", "ext4", false}, // a shared prefix is not a mount above
		{"/home", "nfs4", true},
		{"/home/ada/x", "nfs4", true},
		{"/home/ada/my disk/x", "fuse.sshfs", true},
		{"/home/ada/local", "btrfs", false}, // the last mount covers the first
	} {
		kind := mountKind(bufio.NewScanner(strings.NewReader(mounts)), tt.dir)
		if kind != tt.kind || remoteKind(kind) != tt.remote {
			t.Errorf("%s: %q, %v, want %q, %v", tt.dir, kind, remoteKind(kind), tt.kind, tt.remote)
		}
	}
}
