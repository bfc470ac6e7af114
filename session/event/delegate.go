package event

// DelegateStarted says that a loop set another loop to work. It stands in the
// coordinates of the first.
type DelegateStarted struct {
	Agent string  `json:"agent,omitzero"` // name of the delegate's agent; at most MaxName bytes
	Call  ID      `json:"call,omitzero"`  // the tool call that did it
	Loop  ID      `json:"loop"`           // of the delegate
	Model string  `json:"model,omitzero"` // at most MaxName bytes
	Task  []Block `json:"task,omitempty"`
}

// A DeliveryState is what became of an input that was sent to a delegate while it
// worked.
type DeliveryState string

// The states of a delivery. A value of any other is refused.
const (
	SteerReserved       DeliveryState = "steer_attempt_reserved" // the one attempt is about to be made
	ResolvedUnknown     DeliveryState = "resolved_unknown"       // nobody can tell whether it arrived
	ResolvedUntrackable DeliveryState = "resolved_untrackable"   // it was handed over where no trace is kept
)

// DelegateDelivery changes the state of an input sent to a delegate.
type DelegateDelivery struct {
	Command ID            `json:"command"` // the input
	Loop    ID            `json:"loop"`    // of the delegate
	State   DeliveryState `json:"state"`
}

// DelegateEnded says that a delegate's work ended. It stands in the coordinates of
// the loop that started it.
type DelegateEnded struct {
	Error   string  `json:"error,omitzero"` // at most MaxError bytes
	Loop    ID      `json:"loop"`           // of the delegate
	Outcome Outcome `json:"outcome"`
	Result  []Block `json:"result,omitempty"`
}
