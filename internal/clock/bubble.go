package clock

import "time"

// InBubble is a clock over package time alone, for tests in a testing/synctest
// bubble, where [System] would read the real boot time beside virtual timers.
// Its boot time is the time since the call, in the boot named id.
func InBubble(id string) Clock {
	return bubble{system{id}, time.Now()}
}

type bubble struct {
	system
	start time.Time
}

func (b bubble) Boot() time.Duration { return time.Since(b.start) }
