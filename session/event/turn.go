package event

// TurnStarted opens a turn of a loop with what is asked of it.
type TurnStarted struct {
	Index uint64  `json:"index"` // of the turn in its loop, from 1
	Input []Block `json:"input,omitempty"`
}

// An Outcome is how a turn or a delegate ended.
type Outcome string

// The outcomes. A value of any other is refused.
const (
	Done        Outcome = "done"
	Failed      Outcome = "failed"
	Interrupted Outcome = "interrupted" // a command, a shutdown or a crash ended it
	Rejected    Outcome = "rejected"    // it was not begun
)

// Usage counts tokens.
type Usage struct {
	CacheRead  uint64 `json:"cache_read,omitzero"`
	CacheWrite uint64 `json:"cache_write,omitzero"`
	Input      uint64 `json:"input,omitzero"`
	Output     uint64 `json:"output,omitzero"`
}

// TurnEnded closes a turn.
type TurnEnded struct {
	Error   string  `json:"error,omitzero"` // at most MaxError bytes
	Outcome Outcome `json:"outcome"`
	Usage   Usage   `json:"usage,omitzero"` // of the whole turn
}

// StepDone closes a step: the model answered and its tool calls are finished. A
// step begins with the first event that bears its id.
type StepDone struct {
	Index uint64 `json:"index"`          // of the step in its turn, from 1
	Model string `json:"model,omitzero"` // at most MaxName bytes
	Stop  string `json:"stop,omitzero"`  // why the model stopped, in its word; at most MaxName bytes
	Usage Usage  `json:"usage,omitzero"` // of the step
}

// A Role is whose words a message has.
type Role string

// The roles. A value of any other is refused.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleSystem    Role = "system"
)

// MessageAdded is a message of a loop: what a model said, or what was folded into
// a running turn.
type MessageAdded struct {
	Content []Block `json:"content,omitempty"`
	Role    Role    `json:"role"`
}

// InputCancelled says that an input that waited will not be worked on.
type InputCancelled struct {
	Command ID     `json:"command"`         // that brought it
	Reason  string `json:"reason,omitzero"` // at most MaxText bytes
}

// TextStreamed is a piece of a message that is still being written.
type TextStreamed struct {
	Text string    `json:"text"`
	Type BlockType `json:"type"` // BlockText or BlockThinking
}
