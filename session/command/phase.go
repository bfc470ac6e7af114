package command

import "github.com/comity-dev/comity/session/event"

// A DeliveryPhase says which of its two records a phased input is.
type DeliveryPhase string

// The phases. A value of any other is refused.
const (
	PhaseNone           DeliveryPhase = ""                // the input has no phases
	PhaseIntent         DeliveryPhase = "intent"          // it is about to be handed to a working delegate
	PhaseFallbackQueued DeliveryPhase = "fallback_queued" // it waits for the delegate's next turn
)

// Phase returns the delivery phase of c. Only a user input has one.
func (c Command) Phase() DeliveryPhase {
	in, _ := c.Body.(UserInput)
	return in.Phase
}

// Unphased returns c with its delivery phase cleared and everything else kept, so
// that both records of one input become the same command. It is false, with c
// as it is, when c has no phase.
func (c Command) Unphased() (Command, bool) {
	in, ok := c.Body.(UserInput)
	if !ok || in.Phase == PhaseNone {
		return c, false
	}
	in.Phase = PhaseNone
	c.Body = in
	return c, true
}

// Routed reports whether c must be sent to the loop that it names itself, and which
// that is: a machine's input that has NoFold or a phase.
func (c Command) Routed() (target ID, routed bool) {
	in, ok := c.Body.(UserInput)
	if !ok || c.Agency != event.Machine || !in.NoFold && in.Phase == PhaseNone {
		return "", false
	}
	return in.Target, true
}
