//go:build !linux && !darwin && !windows

package vfs

// Network cannot tell here.
func Network(dir string) (kind string, remote bool, err error) { return "", false, nil }
