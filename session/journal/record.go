package journal

import (
	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/gate"
)

// A JournalRecord is what a journal stores: an EventRecord, a CommandRecord,
// a FenceRecord, a GatePreparedRecord, a CommandApplicationRecord,
// a CommandDispositionRecord, or, for everything else, an OpaqueRecord. No other
// type is one, nor is a pointer to one of these.
type JournalRecord interface {
	// IdempotencyID tells the record from the others of its family, over the whole
	// life of the session. Ids of two families never meet.
	IdempotencyID() string
	record()
}

func (EventRecord) record()              {}
func (CommandRecord) record()            {}
func (FenceRecord) record()              {}
func (GatePreparedRecord) record()       {}
func (CommandApplicationRecord) record() {}
func (CommandDispositionRecord) record() {}
func (OpaqueRecord) record()             {}

// FamilyOf returns the family of rec; ok is false when rec is nil or of no family.
func FamilyOf(rec JournalRecord) (f Family, ok bool) { return familyOf(rec) }

func familyOf(rec JournalRecord) (Family, bool) {
	switch rec.(type) {
	case EventRecord:
		return FamilyEvent, true
	case CommandRecord:
		return FamilyCommand, true
	case FenceRecord:
		return FamilyFence, true
	case GatePreparedRecord:
		return FamilyGatePrepared, true
	case CommandApplicationRecord:
		return FamilyApplication, true
	case CommandDispositionRecord:
		return FamilyDisposition, true
	case OpaqueRecord:
		return FamilyOpaque, true
	}
	return 0, false
}

// An EventRecord is an event. An ephemeral one can be made and not stored.
type EventRecord struct {
	ev     event.Event
	digest Digest
}

// NewEventRecord returns the record of ev.
func NewEventRecord(ev event.Event) EventRecord { return EventRecord{ev: ev} }

// WithDigest returns r with a digest that stands for its content in comparisons:
// an event of its id with another content and the same digest is the same one.
// A caller who makes an event anew when it tries again, with another time in it,
// gives the digest of what does not change.
func (r EventRecord) WithDigest(d Digest) EventRecord {
	r.digest = d
	return r
}

// IdempotencyID is the event's id.
func (r EventRecord) IdempotencyID() string { return r.ev.ID.String() }

// Event returns the event.
func (r EventRecord) Event() event.Event { return r.ev }

// A GatePreparedRecord holds what a gate asks, before it opens. It is private:
// the events that open and resolve the gate are the public ones. The event in it
// cannot be appended as an EventRecord.
type GatePreparedRecord struct {
	prepared event.Event
	payload  gate.Payload
}

// NewGatePreparedRecord returns the record of a prepared gate: an event whose
// body is an event.GatePrepared, and what the gate asks.
func NewGatePreparedRecord(prepared event.Event, payload gate.Payload) GatePreparedRecord {
	return GatePreparedRecord{prepared, payload}
}

// IdempotencyID is the id of the prepared event.
func (r GatePreparedRecord) IdempotencyID() string { return r.prepared.ID.String() }

// Prepared returns the event, and Payload what the gate asks.
func (r GatePreparedRecord) Prepared() event.Event { return r.prepared }
func (r GatePreparedRecord) Payload() gate.Payload { return r.payload }
