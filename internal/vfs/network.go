package vfs

import "strings"

// remoteKinds are the file systems whose files live on another machine: locks
// and syncs there mean less than they say.
func remoteKind(kind string) bool {
	switch kind {
	case "nfs", "nfs4", "smb", "smb2", "smb3", "smbfs", "cifs", "9p", "afs", "afpfs", "ceph", "webdav", "ncp", "ncpfs", "glusterfs", "lustre", "remote":
		return true
	}
	sub, ok := strings.CutPrefix(kind, "fuse.")
	if !ok {
		return false
	}
	for _, name := range []string{"sshfs", "rclone", "s3fs", "gcsfuse", "glusterfs", "davfs", "ceph", "juicefs", "goofys"} {
		if strings.HasPrefix(sub, name) {
			return true
		}
	}
	return false
}
