package link

import "time"

// pace is how much the way to the peer carries, and whether it moves: a batch that takes
// no more than a heartbeat keeps no beat waiting. No clock but the driver's is read, so
// equal times give equal batches.
type pace struct {
	most    int           // bytes of the next batch
	size    int           // of the last frame that Next returned
	made    time.Duration // when it did
	moved   time.Duration // when some of it was last seen to go out
	writing bool          // it is not out yet
	came    int           // bytes of a frame under way since something counted as heard
}

const (
	// minBatch is how much of events a batch may have, however slow the way is; it has
	// one event at least.
	minBatch = 16 << 10
	// heardBytes is how much of a frame under way is as good as a frame.
	heardBytes = 4 << 10
	// stuckExpiries is how long a frame may be on its way out without moving.
	stuckExpiries = 4
)

// carries is how many bytes of events pass in a heartbeat where size bytes took so long.
func (c *Core) carries(size int, took time.Duration) int {
	most := c.cfg.Limits.EventBatch
	if took <= 0 {
		return most
	}
	return min(most, max(minBatch, int(min(int64(size)*int64(c.cfg.Limits.Heartbeat)/int64(took), int64(most)))))
}

// answered learns from what was answered, after so long. The answer came behind it, so the
// way carries that much at least, whatever is buffered in between; it took more than a
// heartbeat only when that was too much.
func (c *Core) answered(size int, took time.Duration) {
	if can := c.carries(size, took); can > c.most || took > c.cfg.Limits.Heartbeat {
		c.most = can
	}
}

// writes notes that a frame goes out.
func (c *Core) writes(size int) {
	c.size, c.made, c.moved, c.writing = size, c.now, c.now, true
}

// written notes that the last frame is out, since the next one is asked for. A buffer
// takes it sooner than the way carries it, so that it was fast says nothing.
func (c *Core) written() {
	if !c.writing {
		return
	}
	c.writing = false
	if took := c.now - c.made; took > c.cfg.Limits.Heartbeat && c.size >= minBatch {
		c.most = min(c.most, c.carries(c.size, took))
	}
}

// Came says that n bytes came of a frame that is not complete. Those of a long one
// on a slow way are a sign of life; a few are not.
func (c *Core) Came(now time.Duration, n int) {
	c.at(now)
	if c.came += n; c.came >= heardBytes {
		c.hear()
	}
}

// Went says that some of the frame that Next returned last went out.
func (c *Core) Went(now time.Duration) {
	c.at(now)
	c.moved = c.now
}

// hear notes that the peer was heard, or could not be.
func (c *Core) hear() { c.lastHeard, c.came = c.now, 0 }

// stuck reports whether the peer has read nothing for so long that it never will.
func (c *Core) stuck() bool {
	return c.writing && c.now-c.moved > stuckExpiries*c.cfg.Limits.Expiry
}
