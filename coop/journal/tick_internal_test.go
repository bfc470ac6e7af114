package journal

import (
	"testing"
	"time"
)

// A pause that is itself no longer than an expiry makes a gap with the time around
// it, in which no beat went out either. One that does not is none.
func TestPauseAndTheTimeAroundItMakeAGap(t *testing.T) {
	for _, tt := range []struct {
		pause time.Duration
		want  Liveness
	}{{expiry - 10*time.Second, Expired}, {expiry - time.Second, Unknown}} {
		_, j, o, pass := pair(t)
		j.Tick()
		told(j, o.beat(), 0)
		for range 6 {
			pass(5 * time.Second)
			j.Tick()
		}
		pass(4 * time.Second)
		fake(j).Pause(tt.pause)
		pass(time.Second)
		j.Tick()
		if got, _ := j.Liveness(o.stream()); got != tt.want {
			t.Errorf("after a pause of %v and five seconds around it: %v, want %v", tt.pause, got, tt.want)
		}
	}
}
