//go:build !linux

package vfs

import "os"

// syncFile is F_FULLFSYNC on macOS (package os sees to it): its fsync leaves
// the data in the cache of the drive.
func syncFile(f *os.File) error { return f.Sync() }
