package journal

import "github.com/comity-dev/comity/coop/event"

// A Refusal is why stored bytes are no event of this journal.
type Refusal string

// The refusals, beside the reasons of event.FormError.
const (
	RefusedRepository  Refusal = "repository"   // of another repository
	RefusedUntrusted   Refusal = "untrusted"    // of a key that is not believed
	RefusedSignature   Refusal = "signature"    // not its author's, and no later event vouches for it
	RefusedDuplicate   Refusal = "duplicate"    // held already
	RefusedForked      Refusal = "forked"       // its number is held with other bytes
	RefusedChain       Refusal = "chain"        // names another event before it than the one held
	RefusedClockBehind Refusal = "clock_behind" // not stamped above the event before it
	RefusedRecord      Refusal = "record"       // the record itself is malformed, or a row that we did not write
)

func formRefusal(r event.Reason) Refusal { return Refusal(r) }
