package httpapi

import (
	"os"

	"golang.org/x/sys/unix"
)

func credentials(fd uintptr) peer {
	cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return peer{}
	}
	return peer{Caller: Caller{PID: int(cred.Pid)}, stranger: int(cred.Uid) != os.Getuid()}
}
