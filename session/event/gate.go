package event

import "github.com/comity-dev/comity/session/gate"

// GatePrepared says that a gate is about to be opened. It is internal, and it is
// stored together with the gate's payload and in no other way: in a GatePrepared
// record of the journal, never as an event of its own.
type GatePrepared struct {
	Call       ID        `json:"call,omitzero"` // the tool call that waits
	Gate       ID        `json:"gate"`
	Asks       gate.Kind `json:"asks"`
	Restorable bool      `json:"restorable,omitzero"` // it may be opened again after a restore
}

// GateOpened says that a question waits for its decision. What is asked in full
// is in the payload, which is private.
type GateOpened struct {
	Call    ID        `json:"call,omitzero"` // the tool call that waits
	Gate    ID        `json:"gate"`
	Asks    gate.Kind `json:"asks"`
	Subject string    `json:"subject,omitzero"` // for all to see: the name of the tool; at most MaxName bytes
}

// GateResolved says how a gate ended. The public projection has the decision's
// Public form.
type GateResolved struct {
	Decision gate.Decision `json:"decision"`
	Gate     ID            `json:"gate"`
}
