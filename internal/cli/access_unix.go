//go:build unix

package cli

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// writable reports whether this process may write in dir. It writes nothing.
func writable(dir string) bool { return unix.Access(dir, unix.W_OK) == nil }

// exposed reports whether others than the owner may do anything.
func exposed(m fs.FileMode) bool { return m.Perm()&0o077 != 0 }
