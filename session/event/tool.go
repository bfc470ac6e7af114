package event

// ToolCalled says that a model called a tool. It comes before the tool runs.
type ToolCalled struct {
	Call ID `json:"call"`
	// Input is what the model wrote for the tool, mostly JSON; it is not parsed.
	Input string `json:"input,omitzero"`
	Name  string `json:"name"`         // of the tool; 1 to MaxName bytes
	Use   string `json:"use,omitzero"` // the model's own id of the call; at most MaxName bytes
}

// A ToolOutcome is how a tool call ended.
type ToolOutcome string

// The outcomes of tool calls. A value of any other is refused.
const (
	ToolDone      ToolOutcome = "done"
	ToolFailed    ToolOutcome = "failed"    // the result says how
	ToolDenied    ToolOutcome = "denied"    // it did not run
	ToolCancelled ToolOutcome = "cancelled" // it did not run, or not to its end
)

// ToolFinished is the end of a tool call.
type ToolFinished struct {
	Call ID `json:"call"`
	// Millis is how long the tool ran, in milliseconds; 0 is unsaid.
	Millis  uint64      `json:"millis,omitzero"`
	Outcome ToolOutcome `json:"outcome"`
	Result  []Block     `json:"result,omitempty"`
}

// ToolProgressed is a piece of the output of a tool that still runs.
type ToolProgressed struct {
	Call ID     `json:"call"`
	Text string `json:"text"`
}
