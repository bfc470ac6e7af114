package cli

import (
	"fmt"
	"time"
)

// span is a length of time in its largest unit: "5s", "3m", "2h", "4d".
func span(ms int64) string {
	d := time.Duration(max(ms, 0)) * time.Millisecond
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dd", d/(24*time.Hour))
}

// ago is an age as people say it.
func ago(ms int64) string {
	if ms < 1000 {
		return "just now"
	}
	return span(ms) + " ago"
}

// stamp is the author's own clock, in this machine's time zone.
func stamp(at int64) string { return time.Unix(at, 0).Format("01-02 15:04:05") }
