package link

import (
	"io"
	"time"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// A Source is what a link sends from. A *journal.Journal is one.
type Source interface {
	// MarksSince tells the marks that changed since version, all for 0, and the
	// version to ask with next time.
	MarksSince(version uint64) (event.Marks, uint64)
	// Missing returns synced events that a holder of these marks lacks, in the
	// order of each stream, about budget bytes of them, without the streams that
	// skip names.
	Missing(theirs event.Marks, budget int, skip func(ident.Stream) bool) ([]event.Stored, error)
	// Beat makes a beat, which counts as one that is sent; false when there is none
	// to make.
	Beat() (*event.Beat, bool)
	// Clock is the highest stamp seen, 0 for none.
	Clock() uint64
}

// A Listener takes the beats that a peer tells.
type Listener interface {
	MergeMarks(theirs event.Marks) (risen int)
	Answered(b *event.Beat) bool
}

// A Joiner is told of a new link: the peer's clock, and how long the first
// exchange lasts.
type Joiner interface {
	Welcome(clock uint64) bool
	Joining(r ident.Runtime) (done func())
}

// A Replica is what a link serves. All its calls come from the caller of the
// Core, none keeps what it is given.
type Replica interface {
	Source
	Listener
	Joiner
}

// Config says who we are on a link, and to whom.
type Config struct {
	Key  *ident.Key
	Card Card // Repo, Instance and Fold are required; PK and Runtime follow from the key

	// Dialer is set on the side that greets first.
	Dialer bool
	// To is the node that a dialer wants to find; "" for whoever is there.
	To ident.NodeID
	// Channel is what only the two ends of the carrier's channel know, the same on
	// both, such as an exported TLS secret; empty when the carrier has no such
	// thing. A greeting made for another channel is refused.
	Channel []byte

	// Trust tells whose links are taken; nil takes nobody's.
	Trust func(ident.NodeID) bool
	// Admit may refuse a peer that is trusted, by a code other than "". It is asked
	// before the peer has proved that its greeting is no replay, so it must change
	// nothing. Nil admits.
	Admit func(Card) Code
	// Up is told the peer once it has proved who it is. Like Trust and Admit it must
	// not block and not call the link.
	Up func(Card)

	Limits event.Limits // zero fields mean event.DefaultLimits
	Rand   io.Reader    // of nonces; nil means crypto/rand
}

// Bounds of one link.
const (
	// Window is how many batches may be under way in one direction without their
	// report.
	Window = 2
	// MaxStreams is how many streams a link remembers of what a peer tells. Of
	// those that neither side has, more are passed over. It is more than two journals
	// at their bounds can hold and have dropped, when those are all different ones:
	// else events of a stream that was passed over would end each link between them.
	MaxStreams = 12288
	// vouch is how many events are sent behind one whose signature is not good, so
	// that one of them may vouch for it.
	vouch = 64
	// joinExpiries bounds the first exchange.
	joinExpiries = 4
	// longestRetry is the longest time between two tries of a stream that we refuse.
	longestRetry = 10 * time.Minute
)
