package httpapi

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// ioctlPeerPID is SIO_AF_UNIX_GETPEERPID of afunix.h.
const ioctlPeerPID = 0x58000100

func credentials(fd uintptr) peer {
	var pid, n uint32
	err := windows.WSAIoctl(windows.Handle(fd), ioctlPeerPID, nil, 0,
		(*byte)(unsafe.Pointer(&pid)), uint32(unsafe.Sizeof(pid)), &n, nil, 0)
	if err != nil {
		return peer{}
	}
	return peer{Caller: Caller{PID: int(pid)}}
}
