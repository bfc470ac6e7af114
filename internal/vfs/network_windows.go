package vfs

import (
	"path/filepath"

	"golang.org/x/sys/windows"
)

// Network reports whether the files of dir live on another machine, with the
// kind "remote". dir must exist.
func Network(dir string) (kind string, remote bool, err error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", false, err
	}
	root, err := windows.UTF16PtrFromString(filepath.VolumeName(abs) + `\`)
	if err != nil {
		return "", false, err
	}
	if windows.GetDriveType(root) == windows.DRIVE_REMOTE {
		return "remote", true, nil
	}
	return "", false, nil
}
