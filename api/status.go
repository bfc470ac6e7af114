package api

// StatusRequest asks for the whole picture of a repository.
type StatusRequest struct {
	Where
}

// Status is who is here, on what, since when.
type Status struct {
	Repository string     `json:"repository"`
	Node       string     `json:"node"`
	Runtime    string     `json:"runtime"`
	Session    string     `json:"session,omitempty"` // the acting session, if any
	Sessions   []Session  `json:"sessions"`
	Claims     []Claim    `json:"claims"` // held, conflicted or expired, not released
	Handovers  []Handover `json:"handovers"`
	Reviews    []Review   `json:"reviews"`
	Waits      []Wait     `json:"waits,omitempty"`
	Notices    int        `json:"notices"` // unread ones of the acting session
	Streams    []Stream   `json:"streams"`
	Events     uint64     `json:"events"`
	Digest     string     `json:"digest"`
	ReadOnly   string     `json:"read_only,omitempty"` // why nothing can be written now
	Damage     int        `json:"damage,omitempty"`    // damaged places found in the journal
	Dropped    int        `json:"dropped,omitempty"`   // streams that the journal let go of and remembers: the log no longer shows them
	Compacted  uint64     `json:"compacted,omitempty"` // events that it let go of since the daemon opened it
	Cursor     string     `json:"cursor"`              // of the log's end
	Daemon     Daemon     `json:"daemon"`
}

// A Wait is a queued claim.
type Wait struct {
	Session string   `json:"session"`
	Scope   []string `json:"scope"`
	For     []string `json:"for"` // sessions that it waits for
	Place   int      `json:"place"`
	AgeMS   int64    `json:"age_ms"`
}

// A Stream is one run of one runtime, as the journal holds it.
type Stream struct {
	Stream     string `json:"stream"`
	Own        bool   `json:"own"`
	Run        uint64 `json:"run,omitempty"`
	Head       uint64 `json:"head"`
	Live       string `json:"live"`
	Damaged    bool   `json:"damaged,omitempty"`
	Opaque     int    `json:"opaque,omitempty"`
	Unreadable int    `json:"unreadable,omitempty"`
}

// Daemon describes the process that answers.
type Daemon struct {
	PID    int    `json:"pid"`
	Build  string `json:"build"`
	API    int    `json:"api"`
	Home   string `json:"home"`
	Socket string `json:"socket"`
	UpMS   int64  `json:"up_ms"`
}

// LogRequest asks for a page of the journal in arrival order.
type LogRequest struct {
	Where
	// After is a cursor of an earlier page; empty means the beginning. A cursor
	// of another incarnation gets ErrCursor.
	After string `json:"after,omitempty"`
	// Limit is the most events to return, 1 to 1,000; 0 means 100.
	Limit int `json:"limit,omitempty"`
	// Last, with no After, starts so that the last Limit events are returned.
	Last bool `json:"last,omitempty"`
}

// LogPage has each event once. Next continues; More tells that there is more
// now.
type LogPage struct {
	Events []LogEvent `json:"events"`
	Next   string     `json:"next"`
	More   bool       `json:"more"`
}

// A LogEvent is one event of the journal.
type LogEvent struct {
	Cursor  string `json:"cursor"`
	Event   string `json:"event"` // <stream>/<seq>
	Short   string `json:"short"`
	Kind    string `json:"kind"`
	Session string `json:"session,omitempty"`
	Lamport uint64 `json:"lamport"`
	At      int64  `json:"at"`
	Again   bool   `json:"again,omitempty"` // came a second time after it had been dropped
	Text    string `json:"text"`            // one line for people
	Body    any    `json:"body"`            // the event's body as stored
}

// NoticesRequest asks for what changed for the acting session. It shows
// without consuming, unless Ack names the last notice that was shown.
type NoticesRequest struct {
	Where
	Ack uint64 `json:"ack,omitempty"`
}

// Notices has the unread ones, oldest first.
type Notices struct {
	Session string   `json:"session"`
	Notices []Notice `json:"notices"`
	// Dropped counts older unread ones that gave way.
	Dropped int `json:"dropped,omitempty"`
}

// A Notice is one change that concerns a session.
type Notice struct {
	ID    uint64 `json:"id"` // rising within a session
	Kind  string `json:"kind"`
	Text  string `json:"text"`
	Claim string `json:"claim,omitempty"`
	Event string `json:"event,omitempty"` // the event that caused it
	At    int64  `json:"at"`
	AgeMS int64  `json:"age_ms"`
}

// Kinds of notices.
const (
	NoticeHeld        = "held"
	NoticeConflicted  = "conflicted"
	NoticeFenced      = "fenced"
	NoticeExpired     = "expired"
	NoticeReleasedBy  = "released_by"
	NoticeOverlapped  = "overlapped"
	NoticeConfirmed   = "confirmed"
	NoticeProvisional = "provisional"
	NoticeGranted     = "granted"
	NoticeHandover    = "handover"
	NoticeReview      = "review"
	NoticeAnswer      = "answer"
)

// WatchRequest follows changes: one Change for each batch of them, from now or
// from a cursor of the log.
type WatchRequest struct {
	Where
	After string `json:"after,omitempty"`
}

// A Change tells that there is something new.
type Change struct {
	Cursor string     `json:"cursor"`
	Events []LogEvent `json:"events,omitempty"`
}
