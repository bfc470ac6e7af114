package home

import "os"

// Ready tells the process that started this daemon, if one waits, that its
// socket answers. The daemon calls it once; later calls do nothing.
func Ready() {
	value := os.Getenv(readyEnv)
	if value == "" {
		return
	}
	os.Unsetenv(readyEnv) // not for what the daemon runs
	pipe := readyPipe(value)
	if pipe == nil {
		return
	}
	defer pipe.Close()
	// Whoever waited may have given up, and that is no failure of the daemon.
	_, _ = pipe.WriteString(readyWord)
}
