package event

import (
	"time"

	"github.com/comity-dev/comity/coop/ident"
)

// A Mark is how far a runtime holds a stream, and the latest beat that it has
// of it.
type Mark struct {
	Seq  uint64        // every event up to it is held, none lost; 0 for none
	Beat *Beat         // nil for none
	Age  time.Duration // of the beat, by the word of who sends the mark
}

// Marks are those of all streams that a runtime holds or hears of.
type Marks map[ident.Stream]Mark

// Stored is one event as it is stored and sent.
type Stored struct {
	Key Key
	Raw []byte // must not be changed
}
