package clock

import (
	"crypto/rand"
	"time"
)

// System is the clock of this machine.
//
// Where the operating system does not tell which boot this is, BootID is random
// per call of System: what was kept under it is then void after a restart, and
// never mistaken for a value of the same boot.
func System() Clock {
	id, err := bootID()
	if err != nil || id == "" {
		id = "unknown-" + rand.Text()
	}
	return system{id}
}

type system struct{ id string }

func (s system) Now() time.Time                 { return time.Now().Round(0) }
func (s system) Boot() time.Duration            { return sinceBoot() }
func (s system) BootID() string                 { return s.id }
func (s system) NewTimer(d time.Duration) Timer { return systemTimer{time.NewTimer(d)} }

type systemTimer struct{ t *time.Timer }

func (t systemTimer) C() <-chan time.Time { return t.t.C }
func (t systemTimer) Stop() bool          { return t.t.Stop() }
