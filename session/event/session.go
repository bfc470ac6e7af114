package event

// SessionStarted is the first event of a session.
type SessionStarted struct {
	// Config is the digest of the configuration, 64 hexadecimal digits.
	Config  string `json:"config,omitzero"`
	Model   string `json:"model,omitzero"`   // at most MaxName bytes
	Program string `json:"program,omitzero"` // the harness or client; at most MaxName bytes
	Title   string `json:"title,omitzero"`   // at most MaxText bytes
	Version string `json:"version,omitzero"` // of the program; at most MaxName bytes
	// Workspace is the path of the folder that the session works in, at most
	// MaxPath bytes. The public projection has "/sessions/<id>/workspace" instead.
	Workspace string `json:"workspace,omitzero"`
}

// SessionStopped is the end of a session; a restore may follow it.
type SessionStopped struct {
	Error  string `json:"error,omitzero"`  // at most MaxError bytes
	Reason string `json:"reason,omitzero"` // at most MaxText bytes
}

// A Drift is one difference between two configurations.
type Drift struct {
	// Field names what differs. 1 to MaxName bytes.
	Field string     `json:"field"`
	Level DriftLevel `json:"level"`
	// New and Old are the values, at most MaxText bytes. Those of the field
	// "workspace" are not in the public projection.
	New string `json:"new,omitzero"`
	Old string `json:"old,omitzero"`
}

// A DriftLevel says what a drift asks for.
type DriftLevel string

// The levels. A value of any other is refused.
const (
	DriftInfo DriftLevel = "info" // recorded
	DriftWarn DriftLevel = "warn" // the session can touch more than before: somebody decided
)

// ConfigurationAdopted says that a session goes on under another configuration.
type ConfigurationAdopted struct {
	Adopted  string  `json:"adopted"`           // digest, 64 hexadecimal digits
	By       string  `json:"by,omitzero"`       // who decided; at most MaxName bytes
	Drift    []Drift `json:"drift,omitempty"`   // at most MaxDrifts
	Epoch    uint64  `json:"epoch"`             // of the configuration, from 1, rising
	Note     string  `json:"note,omitzero"`     // at most MaxText bytes
	Previous string  `json:"previous,omitzero"` // digest
	Source   string  `json:"source,omitzero"`   // "policy", "person"; at most MaxName bytes
}

// ContextCompacted says that a loop's model no longer sees its earlier messages
// but a summary of them. The messages stay in the journal.
type ContextCompacted struct {
	Summary []Block `json:"summary,omitempty"`
	// Through is the last event that the summary stands for.
	Through ID `json:"through,omitzero"`
}

// AuditNoted is an internal note of work beside the session's own: a run of an
// auxiliary model, an automatic review of a permission.
type AuditNoted struct {
	Activity string `json:"activity"`       // 1 to MaxName bytes
	Error    string `json:"error,omitzero"` // at most MaxError bytes
	Note     string `json:"note,omitzero"`  // at most MaxError bytes
	Phase    Phase  `json:"phase"`
}

// A Phase is how far work beside the session's own has come.
type Phase string

// The phases. A value of any other is refused.
const (
	PhaseStarted   Phase = "started"
	PhaseCompleted Phase = "completed"
	PhaseFailed    Phase = "failed"
)
