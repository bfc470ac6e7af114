package clock

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// sinceBoot reads CLOCK_MONOTONIC_RAW, which is mach_continuous_time here: it
// goes on while the machine sleeps and no adjustment of the wall bends it.
func sinceBoot() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC_RAW, &ts); err != nil {
		panic(fmt.Sprintf("clock: CLOCK_MONOTONIC_RAW: %v", err)) // unreachable unless macOS is older than 10.12
	}
	return time.Duration(ts.Nano())
}

func bootID() (string, error) { return unix.Sysctl("kern.bootsessionuuid") }
