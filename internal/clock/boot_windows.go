package clock

import (
	"fmt"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

var queryInterruptTime = windows.NewLazySystemDLL("kernelbase.dll").NewProc("QueryInterruptTime")

// sinceBoot is the interrupt time, which goes on through sleep and hibernation.
// DurationSinceBoot counts the same in steps of about 16 ms.
func sinceBoot() time.Duration {
	if queryInterruptTime.Find() != nil { // before Windows 10
		return windows.DurationSinceBoot()
	}
	var ticks uint64 // of 100 ns
	queryInterruptTime.Call(uintptr(unsafe.Pointer(&ticks)))
	return time.Duration(ticks) * 100
}

// timeOfDay is SYSTEM_TIMEOFDAY_INFORMATION.
type timeOfDay struct {
	bootTime, currentTime, timeZoneBias int64
	timeZoneID, _                       uint32
	bootTimeBias, sleepTimeBias         uint64
}

// bootID is the moment of boot as the machine's clock then had it. Setting the
// clock moves the boot time and its bias by the same amount, so that their
// difference stands still until the next boot.
func bootID() (string, error) {
	var t timeOfDay
	const systemTimeOfDayInformation = 3
	if err := windows.NtQuerySystemInformation(systemTimeOfDayInformation, unsafe.Pointer(&t), uint32(unsafe.Sizeof(t)), nil); err != nil {
		return "", fmt.Errorf("query the time of boot: %w", err)
	}
	return fmt.Sprintf("%016x", uint64(t.bootTime)-t.bootTimeBias), nil
}
