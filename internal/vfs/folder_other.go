//go:build !linux && !darwin && !windows

package vfs

// FolderID identifies a folder on this machine; "" as nothing is known of it here.
func FolderID(string) string { return "" }
