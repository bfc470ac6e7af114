package home

import (
	"encoding/hex"
	"unsafe"

	"golang.org/x/sys/unix"
)

// sysGethostuuid is the number of gethostuuid(2). Without cgo there is no other
// way to it, and the number never changed.
const sysGethostuuid = 142

// systemMachine asks the kernel for the UUID of the hardware, as gethostuuid(2)
// does. (The sysctl kern.uuid would be that of the kernel's build.)
func systemMachine() (raw, source string) {
	var id [16]byte
	wait := unix.Timespec{Sec: 1}
	_, _, errno := unix.Syscall(sysGethostuuid, uintptr(unsafe.Pointer(&id)), uintptr(unsafe.Pointer(&wait)), 0)
	if errno != 0 || id == [16]byte{} {
		return "", ""
	}
	return hex.EncodeToString(id[:]), "gethostuuid"
}
