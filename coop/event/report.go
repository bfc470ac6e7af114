package event

import "github.com/comity-dev/comity/coop/ident"

// The reasons of an ingest, beside those of a FormError.
const (
	OtherRepository Reason = "repository"   // of another repository
	Untrusted       Reason = "untrusted"    // of a key that is not believed
	ClockAhead      Reason = "clock_ahead"  // stamped too far ahead of the receiver's clock
	ClockBehind     Reason = "clock_behind" // not stamped above what precedes it in its stream
	BadSignature    Reason = "signature"    // not its author's, and no later event vouches for it
	Capacity        Reason = "capacity"     // a bound of the receiver is reached
	Forked          Reason = "forked"       // its author signed another event in its place, or before it
)

// Waiting is why a stream is blocked when nothing of it was refused: the event
// at the blocked seq is not held yet.
const Waiting Reason = "waiting"

// Status is what became of an event that was handed in, at the end of the call.
type Status uint8

// The values of Status. The zero value is none of them.
const (
	Accepted  Status = iota + 1 // durable, and in the state
	Duplicate                   // held already, with the same bytes, or waits already
	Pending                     // waits for another event of its stream
	NotStored                   // nothing wrong with it, but the disk did not take it
	Rejected                    // refused, for a reason
)

func (s Status) String() string {
	switch s {
	case Accepted:
		return "accepted"
	case Duplicate:
		return "duplicate"
	case Pending:
		return "pending"
	case NotStored:
		return "not_stored"
	case Rejected:
		return "rejected"
	}
	return "none"
}

// An Outcome is what became of one event.
type Outcome struct {
	Status Status
	Reason Reason // when Rejected
}

// A Blocked stream gets no further: offering what follows Seq is in vain until
// the receiver says otherwise.
type Blocked struct {
	Stream ident.Stream
	Seq    uint64
	Why    Reason
}

// An IngestReport says what became of a batch. Outcomes has one entry for each
// event handed in, in their order; the five counters below partition them.
type IngestReport struct {
	Outcomes []Outcome

	Accepted, Duplicate, Pending, NotStored int
	Rejected                                map[Reason]int

	Released int // events that had waited since earlier calls and are accepted now
	Dropped  int // events that had waited since earlier calls and are given up now

	Blocked []Blocked // by stream
	Err     error     // why events were not stored, nil when none was
}

// Total counts the events in all five counters: as many as were handed in.
func (r IngestReport) Total() int {
	n := r.Accepted + r.Duplicate + r.Pending + r.NotStored
	for _, k := range r.Rejected {
		n += k
	}
	return n
}

// Count sets the five counters from Outcomes.
func (r *IngestReport) Count() {
	r.Accepted, r.Duplicate, r.Pending, r.NotStored, r.Rejected = 0, 0, 0, 0, nil
	for _, o := range r.Outcomes {
		switch o.Status {
		case Accepted:
			r.Accepted++
		case Duplicate:
			r.Duplicate++
		case Pending:
			r.Pending++
		case NotStored:
			r.NotStored++
		case Rejected:
			if r.Rejected == nil {
				r.Rejected = map[Reason]int{}
			}
			r.Rejected[o.Reason]++
		}
	}
}
