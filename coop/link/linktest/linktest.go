package linktest

import (
	"io"
	"testing"
	"time"
)

// patience is how long the suite waits for what has to come. It is no pause: a
// carrier that works never uses it up.
const patience = time.Minute

// Run holds a carrier to what links need of it. Pair makes the two ends of a new
// stream. Each end is read by one goroutine, written by another, and closed by
// any, once or more.
func Run(t *testing.T, pair func() (a, b io.ReadWriteCloser)) {
	s := suite{pair}
	for _, tt := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"bytes arrive in order, both ways at once", s.order},
		{"a writer waits for its reader", s.backpressure},
		{"close ends a read and a write under way", s.closeEnds},
		{"what was written before close is read", s.halfClose},
		{"links exchange what they hold", s.exchange},
		{"frames of every size pass", s.bigFrames},
		{"a link that is cut goes on on the next stream", s.cuts},
		{"a link that is left says so", s.leave},
	} {
		t.Run(tt.name, tt.run)
	}
}

type suite struct {
	pair func() (a, b io.ReadWriteCloser)
}

func (s suite) open(t *testing.T) (a, b io.ReadWriteCloser) {
	t.Helper()
	a, b = s.pair()
	t.Cleanup(func() {
		a.Close()
		b.Close()
	})
	return a, b
}
