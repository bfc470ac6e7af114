package home

import (
	"bufio"
	"io"
	"os"
	"strings"
)

// What a daemon says to the process that started it: that it serves, or why it
// does not.
const (
	readyWord    = "ready"
	maxReadyWord = 4 << 10
)

// Ready tells the process that started this daemon, if one waits, that its
// socket answers. Of Ready and Unready the first call counts, later ones do nothing.
func Ready() { tell(readyWord) }

// Unready tells the process that started this daemon, if one waits, why it is
// not going to serve, as one line. It arrives also when the log takes no more,
// as on a full disk.
func Unready(why string) {
	why = strings.TrimSpace(strings.ReplaceAll(why, "\n", " "))
	tell(why[:min(len(why), maxReadyWord-1)])
}

func tell(word string) {
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
	_, _ = pipe.WriteString(word + "\n")
}

// hear reads the word of a daemon: "" when it ended without one.
func hear(ready io.Reader) string {
	line, err := bufio.NewReader(io.LimitReader(ready, maxReadyWord)).ReadString('\n')
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(line, "\n")
}
