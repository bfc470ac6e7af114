package journal

import "github.com/comity-dev/comity/coop/event"

// Durability is how safe an event is. Nobody may claim more of the disk than it
// says.
type Durability uint8

// The values of Durability. The zero value is none of them.
const (
	Synced Durability = iota + 1 // on disk and synced
	Memory                       // this journal has no disk
	Failed                       // not acknowledged: see the cause
)

func (d Durability) String() string {
	switch d {
	case Synced:
		return "synced"
	case Memory:
		return "memory"
	case Failed:
		return "failed"
	}
	return "none"
}

// Appended is what became of one own event.
type Appended struct {
	Event      *event.Event
	Durability Durability
	Cause      error  // a *FailedError when Failed, else nil
	Index      uint64 // in the log; 0 when Failed
}
