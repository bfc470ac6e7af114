package event

// An AppendCommit is what an append of an event came to.
type AppendCommit struct {
	Sequence uint64 // of the event's record; of the first one when it is a retry
	Appended bool   // whether this call stored it
	// EventID and PublicBody are set when this call stored a public event: its id
	// and the exact stored bytes of its public form, which the receiver owns.
	EventID    ID
	PublicBody []byte
	// CoveredThrough is the sequence up to which a public view is complete with
	// this event: what lies between the public event before and it is private.
	// 0 when EventID is not set.
	CoveredThrough uint64
}

// A Delivery is an event on its way to whoever listens live.
type Delivery struct {
	Event      Event
	JournalSeq uint64 // of its record; 0 for an ephemeral event
	// EventID and PublicBody are those of the AppendCommit. Both are set, and only
	// then, when the delivery is of a committed public event.
	EventID        ID
	PublicBody     []byte
	CoveredThrough uint64
}

// Committed reports whether d is of an event that was stored with a public form.
func (d Delivery) Committed() bool { return d.EventID != "" && len(d.PublicBody) > 0 }
