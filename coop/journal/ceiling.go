package journal

import "time"

// A ceiling is how far others may move our clock by now: the lead beyond where
// it stood at the beginning of this heartbeat. Counted from where it stands, a
// key that is believed could raise it by the lead with every event and every
// beat, until no number is left for anybody, and no distrust would bring them back.
type ceiling struct {
	any   bool
	base  uint64
	since time.Duration // on the boot-time clock
}

// ceiling is the highest stamp of others that counts now; the caller has the lock.
func (j *Journal) ceiling() uint64 {
	c, now := &j.ceil, j.clock.Boot()
	if !c.any || now-c.since >= j.cfg.Limits.Heartbeat {
		*c = ceiling{true, j.stamp, now}
	}
	return c.base + j.cfg.Limits.LamportLead
}
