package api

// A Handover is work passed on: a text and the facts around it, named by the
// digest of its text.
type Handover struct {
	Handover  string   `json:"handover"` // 32 hex
	Short     string   `json:"short"`
	State     string   `json:"state"` // offered, taken, declined, withdrawn
	From      string   `json:"from"`  // session of the first publication
	Client    string   `json:"client,omitempty"`
	To        string   `json:"to,omitempty"`
	Name      string   `json:"name,omitempty"`
	Task      string   `json:"task,omitempty"`
	Issue     string   `json:"issue,omitempty"`
	Milestone string   `json:"milestone,omitempty"`
	Branch    string   `json:"branch,omitempty"`
	Head      string   `json:"head,omitempty"`
	CreatedAt string   `json:"created_at,omitempty"`
	Files     []string `json:"files,omitempty"`
	Summary   string   `json:"summary"`        // first line of the text
	Body      string   `json:"body,omitempty"` // only where one is shown
	Bytes     int      `json:"bytes"`
	At        int64    `json:"at"`
	AgeMS     int64    `json:"age_ms"`

	Publications []Publication `json:"publications"`
	Takings      []Taking      `json:"takings,omitempty"`
	Declines     []Taking      `json:"declines,omitempty"`
}

// A Publication is one offer of a handover.
type Publication struct {
	Publication string `json:"publication"` // <stream>/<seq>
	Session     string `json:"session"`
	To          string `json:"to,omitempty"`
	Withdrawn   bool   `json:"withdrawn,omitempty"`
	At          int64  `json:"at"`
}

// A Taking is one session's answer to a handover.
type Taking struct {
	Session string `json:"session"`
	Reason  string `json:"reason,omitempty"`
	At      int64  `json:"at"`
}

// HandoverPublishRequest offers a handover.
type HandoverPublishRequest struct {
	Where
	Body string `json:"body,omitempty"`
	// Derive makes the facts from git and the journal: branch, head, changed
	// files, open claims and the last intent; Body, if any, comes on top.
	Derive    bool   `json:"derive,omitempty"`
	Name      string `json:"name,omitempty"`
	To        string `json:"to,omitempty"`
	Task      string `json:"task,omitempty"`
	Issue     string `json:"issue,omitempty"`
	Milestone string `json:"milestone,omitempty"`
}

// HandoverReply has one handover.
type HandoverReply struct {
	Handover Handover `json:"handover"`
	Already  bool     `json:"already,omitempty"`
	Redacted []string `json:"redacted,omitempty"` // names of the secrets taken out
	Written
}

// HandoverListRequest lists handovers: those offered, or all.
type HandoverListRequest struct {
	Where
	All bool `json:"all,omitempty"`
}

// HandoverListReply has them newest first, without bodies.
type HandoverListReply struct {
	Handovers []Handover `json:"handovers"`
}

// HandoverRequest names one handover by its digest or the beginning of it.
type HandoverRequest struct {
	Where
	Handover string `json:"handover"`
	Reason   string `json:"reason,omitempty"` // of a decline
	// Again takes a handover that another session has taken already.
	Again bool `json:"again,omitempty"`
}
