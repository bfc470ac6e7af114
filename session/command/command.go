package command

import (
	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/gate"
)

// Schema is the version of the byte form of commands.
const Schema = 1

// MaxCommandBytes bounds an encoded command. The texts in it are bounded as those of
// events are.
const MaxCommandBytes = 16 << 20

// ID names a command; see event.ID.
type ID = event.ID

// A Header is what every command has.
type Header struct {
	Agency event.Agency `json:"agency,omitzero"`
	Cause  event.Cause  `json:"cause,omitzero"`
	// CreatedAt is the time of the author's wall clock, in milliseconds since
	// 1970 UTC, at most event.MaxInt; 0 is unsaid. A command that is sent again must
	// be the same to the byte, so one that is made anew from the same cause, as a
	// process notification is, leaves it 0.
	CreatedAt uint64 `json:"created_at,omitzero"`
	ID        ID     `json:"id"`
}

// A Body is what a command asks for: a value, not a pointer, of one of the structs of
// this package. Kind is the word of the format.
type Body interface {
	Kind() string
	check() error
}

// A Command is one thing asked of a session.
type Command struct {
	Header
	Body Body
}

// The kinds of commands.
const (
	KindUserInput           = "user_input"
	KindSubagentResult      = "subagent_result"
	KindApproveToolCall     = "approve_tool_call"
	KindDenyToolCall        = "deny_tool_call"
	KindProvideInput        = "provide_input"
	KindCancelQueued        = "cancel_queued"
	KindCancelDelegate      = "cancel_delegate"
	KindInterrupt           = "interrupt"
	KindShutdown            = "shutdown"
	KindCompact             = "compact"
	KindProcessNotification = "process_notification"
)

// UserInput brings an input to a loop.
type UserInput struct {
	// Attempt names one attempt of somebody outside to have the input worked on; at
	// most MaxAttempt bytes.
	Attempt string        `json:"attempt,omitzero"`
	Content []event.Block `json:"content,omitempty"`
	// NoFold asks for a turn of its own, and never to be put into a running one.
	NoFold bool          `json:"no_fold,omitzero"`
	Phase  DeliveryPhase `json:"phase,omitzero"`
	// Target is the loop that is meant. A machine's input that has NoFold or a phase
	// needs one; else "" is the root.
	Target ID `json:"target,omitzero"`
}

// MaxAttempt bounds the name of an attempt, in bytes.
const MaxAttempt = 256

// SubagentResult brings the result of a delegate to the loop that started it.
type SubagentResult struct {
	Call     ID            `json:"call,omitzero"` // the tool call that started it
	Content  []event.Block `json:"content,omitempty"`
	Delegate ID            `json:"delegate"` // its loop
	Outcome  event.Outcome `json:"outcome"`
}

// ApproveToolCall gives the permission that a gate asks for.
type ApproveToolCall struct {
	By    gate.Decider `json:"by"`
	Call  ID           `json:"call,omitzero"`
	Gate  ID           `json:"gate"`
	Scope gate.Scope   `json:"scope"`
}

// DenyToolCall refuses the permission that a gate asks for.
type DenyToolCall struct {
	By     gate.Decider `json:"by"`
	Call   ID           `json:"call,omitzero"`
	Gate   ID           `json:"gate"`
	Reason string       `json:"reason,omitzero"` // for the model; at most gate.MaxText bytes
}

// ProvideInput answers the form of a gate.
type ProvideInput struct {
	Answers []gate.Answer `json:"answers,omitempty"`
	By      gate.Decider  `json:"by"`
	Gate    ID            `json:"gate"`
}

// CancelQueued takes back an input that waits.
type CancelQueued struct {
	Command ID     `json:"command"`         // that brought it
	Reason  string `json:"reason,omitzero"` // at most event.MaxText bytes
}

// CancelDelegate ends a delegate's work.
type CancelDelegate struct {
	Delegate ID     `json:"delegate"`        // its loop
	Reason   string `json:"reason,omitzero"` // at most event.MaxText bytes
}

// Interrupt ends the running turn of a loop.
type Interrupt struct {
	Reason string `json:"reason,omitzero"` // at most event.MaxText bytes
	Target ID     `json:"target,omitzero"` // the loop; "" is every loop of the session
}

// Shutdown ends the session.
type Shutdown struct {
	Reason string `json:"reason,omitzero"` // at most event.MaxText bytes
}

// Compact asks a loop to replace what its model sees of the past by a summary.
type Compact struct {
	Instructions string `json:"instructions,omitzero"` // at most event.MaxText bytes
	Target       ID     `json:"target,omitzero"`       // the loop; "" is the root
}

// ProcessNotification tells a loop of a process that it left running.
type ProcessNotification struct {
	// Exit is the process's exit status as text, "" while it runs; at most
	// event.MaxName bytes.
	Exit    string `json:"exit,omitzero"`
	Output  string `json:"output,omitzero"` // at most event.MaxError bytes
	Process string `json:"process"`         // its name in the session; 1 to event.MaxName bytes
	Target  ID     `json:"target,omitzero"` // the loop; "" is the root
}

func (UserInput) Kind() string           { return KindUserInput }
func (SubagentResult) Kind() string      { return KindSubagentResult }
func (ApproveToolCall) Kind() string     { return KindApproveToolCall }
func (DenyToolCall) Kind() string        { return KindDenyToolCall }
func (ProvideInput) Kind() string        { return KindProvideInput }
func (CancelQueued) Kind() string        { return KindCancelQueued }
func (CancelDelegate) Kind() string      { return KindCancelDelegate }
func (Interrupt) Kind() string           { return KindInterrupt }
func (Shutdown) Kind() string            { return KindShutdown }
func (Compact) Kind() string             { return KindCompact }
func (ProcessNotification) Kind() string { return KindProcessNotification }
