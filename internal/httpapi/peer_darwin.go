package httpapi

import (
	"os"

	"golang.org/x/sys/unix"
)

func credentials(fd uintptr) peer {
	var p peer
	if cred, err := unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED); err == nil {
		p.stranger = int(cred.Uid) != os.Getuid()
	}
	if pid, err := unix.GetsockoptInt(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERPID); err == nil {
		p.PID = pid
	}
	return p
}
