package clock

import (
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

func sinceBoot() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		panic(fmt.Sprintf("clock: CLOCK_BOOTTIME: %v", err)) // unreachable unless the kernel is older than 2.6.39
	}
	return time.Duration(ts.Nano())
}

// bootID is the kernel's random id of this boot, with the offset of the time
// namespace where there is one: processes on either side of it read different
// boot times, so their values must not pass for those of one boot.
func bootID() (string, error) {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", err
	}
	offsets, err := os.ReadFile("/proc/self/timens_offsets")
	if err != nil { // kernels before 5.5 have no time namespaces
		offsets = nil
	}
	return withOffset(strings.TrimSpace(string(b)), string(offsets)), nil
}

// withOffset appends the boottime line of a timens_offsets file to id unless it
// is all zero.
func withOffset(id, offsets string) string {
	for line := range strings.Lines(offsets) {
		f := strings.Fields(line)
		if len(f) == 3 && f[0] == "boottime" && (f[1] != "0" || f[2] != "0") {
			return id + "+" + f[1] + "." + f[2]
		}
	}
	return id
}
