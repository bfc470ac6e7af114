package sim

import "fmt"

// An Invariant names what must hold.
type Invariant string

// The invariants. Their names are what a run that found a bug says.
const (
	AckedIsKept      Invariant = "what was acknowledged is kept"
	EqualDigests     Invariant = "equal streams give equal digests"
	OneHolder        Invariant = "one holder of what meets"
	LivingUnfenced   Invariant = "the living are not fenced"
	NoStaleYes       Invariant = "who was away asks before it says yours"
	FencedForEver    Invariant = "fenced is never held again"
	LoserTold        Invariant = "who lost is told"
	OnceOnALink      Invariant = "once on a link"
	QuietLinks       Invariant = "quiet links carry no events"
	SyncedBeforeSent Invariant = "nothing is sent before it is synced"
	Bounded          Invariant = "nothing grows without its bound"
	OneCounter       Invariant = "every event is in one counter"
	OneEvent         Invariant = "one event for each number"
	StampsRise       Invariant = "a new stamp is above all that were seen"
	Authentic        Invariant = "only what its author signed is held"
	Chained          Invariant = "each event names the one before it"
	NoHoles          Invariant = "a stream has no holes"
	DroppedStays     Invariant = "what was dropped stays so until there is news of it"
	WalkedOnce       Invariant = "a walk has each event once"
	Converges        Invariant = "a healed core agrees in time"
	AsTheModel       Invariant = "the state is the model's"
	StreamStays      Invariant = "what stands keeps its stream"
	ImageIsTheLog    Invariant = "the image of a clean stop is what the log says"
	Works            Invariant = "a sound machine takes what is right"
)

// A Violation is an invariant that did not hold.
type Violation struct {
	Invariant Invariant
	Detail    string
}

func (v *Violation) Error() string { return fmt.Sprintf("%s: %s", v.Invariant, v.Detail) }

// fail ends the run; Run returns what it was.
func fail(i Invariant, format string, args ...any) {
	panic(&Violation{i, fmt.Sprintf(format, args...)})
}
