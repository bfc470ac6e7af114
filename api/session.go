package api

// A Session is one agent's or person's stay in a repository.
type Session struct {
	Session  string `json:"session"` // name within its runtime
	ID       string `json:"id"`      // <node>-<runtime>/<session>, the name everywhere
	Own      bool   `json:"own"`     // of this machine and user
	Client   string `json:"client,omitempty"`
	By       string `json:"by,omitempty"`
	Host     string `json:"host,omitempty"`
	Checkout string `json:"checkout,omitempty"`
	Worktree string `json:"worktree,omitempty"` // folder of the checkout, own sessions only
	Branch   string `json:"branch,omitempty"`
	Head     string `json:"head,omitempty"`
	Intent   string `json:"intent,omitempty"`
	Issue    string `json:"issue,omitempty"`
	Task     string `json:"task,omitempty"`
	State    string `json:"state"` // open, closed, ended, expired
	Reason   string `json:"reason,omitempty"`
	Live     string `json:"live"`            // own, live, unknown, expired
	Owner    string `json:"owner,omitempty"` // what it lives by, in words: "process 4711", "time to live 12h0m0s"
	// Protection tells how far the hooks of its client keep it from writing
	// where others work: guarded, advisory or unguarded. Own sessions only.
	Protection string `json:"protection,omitempty"`
	OpenedAt   int64  `json:"opened_at"`
	AgeMS      int64  `json:"age_ms"`            // since it was opened, or since this daemon first saw it
	IdleMS     int64  `json:"idle_ms,omitempty"` // since its last command, own sessions only
	Claims     int    `json:"claims"`            // held or conflicted
}

// Session states.
const (
	SessionOpen    = "open"
	SessionClosed  = "closed"
	SessionEnded   = "ended"   // its run was succeeded without it
	SessionExpired = "expired" // its stream fell silent
)

// Liveness of a session's stream as this runtime judges it.
const (
	LiveOwn     = "own"
	LiveLive    = "live"
	LiveUnknown = "unknown"
	LiveExpired = "expired"
)

// SessionOpenRequest opens a session, or updates the open one of that name.
type SessionOpenRequest struct {
	Where
	// Name of the session; empty means a generated one. The name of a closed
	// session opens it again; what it had claimed before stays ended.
	Name   string `json:"name,omitempty"`
	Client string `json:"client,omitempty"` // default "cli"
	Intent string `json:"intent,omitempty"`
	Issue  string `json:"issue,omitempty"`
	Task   string `json:"task,omitempty"`
	Worker string `json:"worker,omitempty"`
	// Context is the client's own name for the conversation.
	Context string `json:"context,omitempty"`
	// PID is the process that the session lives with; 0 means none.
	PID int `json:"pid,omitempty"`
	// TTLMS is the time to live after its last command, in milliseconds; 0 means
	// 12 hours. With PID it is not used.
	TTLMS int64 `json:"ttl_ms,omitempty"`
}

// SessionOpenReply has the session as opened.
type SessionOpenReply struct {
	Session Session `json:"session"`
	Created bool    `json:"created"`
	Written
}

// SessionRequest names one session; empty means the acting one.
type SessionRequest struct {
	Where
	Name string `json:"name,omitempty"`
}

// SessionRenewRequest renews a session's time to live and may change its words.
type SessionRenewRequest struct {
	Where
	Name   string `json:"name,omitempty"`
	Intent string `json:"intent,omitempty"`
	Issue  string `json:"issue,omitempty"`
	TTLMS  int64  `json:"ttl_ms,omitempty"`
}

// SessionCloseRequest closes a session and ends its claims. Closing one that is
// closed already changes nothing and succeeds.
type SessionCloseRequest struct {
	Where
	Name   string `json:"name,omitempty"`
	Reason string `json:"reason,omitempty"` // default "done"
}

// SessionCloseReply tells what the close ended.
type SessionCloseReply struct {
	Session  Session `json:"session"`
	Released []Claim `json:"released,omitempty"`
	Already  bool    `json:"already,omitempty"`
	Written
}

// SessionListRequest lists sessions.
type SessionListRequest struct {
	Where
	All bool `json:"all,omitempty"` // also ended ones
}

// SessionListReply has them by age, oldest first.
type SessionListReply struct {
	Sessions []Session `json:"sessions"`
}
