// Package clock tells a machine's two times apart: the wall, which people read
// and anything may set, and the time since boot, which only rises.
//
// Durations that decide something (leases, expiries, ages) are differences of
// [Clock.Boot]. The wall informs and decides nothing, and two machines' walls
// are never compared. A leaf: it imports nothing of this module.
package clock

import "time"

// A Clock is one machine's view of time. It is safe for concurrent use.
type Clock interface {
	// Now is the wall clock. It may stand still, jump forward or run back, and
	// carries no monotonic reading, so that nobody measures with it by accident.
	Now() time.Time

	// Boot is the time since the machine was booted, suspension included. It never
	// runs back while the machine runs. It begins anew at a reboot, so a value
	// that outlives the process is kept together with [Clock.BootID].
	Boot() time.Duration

	// BootID names the boot that Boot counts from: equal for all processes of one
	// boot, different after a reboot. Never empty.
	BootID() string

	// NewTimer sends the wall time on its channel once d has passed, at once when
	// d is not positive. Whether a suspension counts is up to the operating
	// system: a timer may be late by as long as the machine slept, and never
	// early by Boot. A loop that minds therefore reads Boot when it wakes.
	NewTimer(d time.Duration) Timer
}

// A Timer is one pending firing of a [Clock].
type Timer interface {
	// C receives one value when the timer fires, and is never closed.
	C() <-chan time.Time

	// Stop prevents the firing and reports whether it did: false means that the
	// timer has fired or was stopped before. No value of a stopped timer can be
	// received afterwards.
	Stop() bool
}
