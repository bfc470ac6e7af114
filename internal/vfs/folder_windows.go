package vfs

import (
	"fmt"

	"golang.org/x/sys/windows"
)

// FolderID identifies the folder dir on this machine: it stays the same while the
// folder is there, also when it is renamed, over restarts of the machine, and a
// copy of the folder has another. It is "" where that is not known to hold: on
// other file systems than NTFS, and when dir cannot be looked at. An image of a
// whole volume is not told from what it was made of.
func FolderID(dir string) string {
	path, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return ""
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	h, err := windows.CreateFile(path, 0, share, nil, windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return ""
	}
	defer windows.CloseHandle(h)
	var kind [windows.MAX_PATH + 1]uint16
	if windows.GetVolumeInformationByHandle(h, nil, 0, nil, nil, nil, &kind[0], uint32(len(kind))) != nil || windows.UTF16ToString(kind[:]) != "NTFS" {
		return ""
	}
	var info windows.ByHandleFileInformation
	if windows.GetFileInformationByHandle(h, &info) != nil {
		return ""
	}
	return fmt.Sprintf("ntfs %08x %08x%08x %d", info.VolumeSerialNumber, info.FileIndexHigh, info.FileIndexLow, info.CreationTime.Nanoseconds())
}
