package journal

import (
	"bytes"
	"fmt"
	"strconv"
	"time"
)

// A moment outlives restarts in local rows, by both clocks of this machine.
type moment struct {
	at   int64         // Unix seconds
	boot time.Duration // of the boot with this id; below 0 for one before it
	id   string        // "" where the wall clock alone is known
}

func (m moment) encode() []byte { return fmt.Appendf(nil, "%d %d %s", m.at, m.boot, m.id) }

// parseMoment reads what encode prints, and Unix seconds alone.
func parseMoment(b []byte) (m moment, ok bool) {
	at, rest, more := bytes.Cut(b, []byte(" "))
	boot, id, _ := bytes.Cut(rest, []byte(" "))
	wall, err := strconv.ParseInt(string(at), 10, 64)
	if err != nil || !more {
		return moment{at: wall}, err == nil
	}
	up, err := strconv.ParseInt(string(boot), 10, 64)
	return moment{wall, time.Duration(up), string(id)}, err == nil
}

// in reports whether the boot-time clock tells the moment in the boot with this id.
func (m moment) in(id string) bool { return m.id != "" && m.id == id }

// near reports whether both clocks have the other moment within a time of this one.
func (m moment) near(n moment, d time.Duration) bool {
	return m.id == n.id && (m.boot-n.boot).Abs() <= d && time.Unix(m.at, 0).Sub(time.Unix(n.at, 0)).Abs() <= d
}
