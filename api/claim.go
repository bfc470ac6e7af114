package api

// A Claim is a scope that a session has taken.
type Claim struct {
	Claim string `json:"claim"` // <stream>/<seq>
	Short string `json:"short"` // the key as shown to people
	// Epoch is the fencing token: with the claim's name it is what a guarded
	// thing outside compares.
	Epoch     uint64   `json:"epoch"`
	Standing  string   `json:"standing"` // held, conflicted, expired, released
	By        string   `json:"by,omitempty"`
	Confirmed bool     `json:"confirmed"`
	Scope     []string `json:"scope"` // stored forms
	Mode      string   `json:"mode"`  // exclusive, checkout, advisory
	Session   string   `json:"session"`
	SessionID string   `json:"session_id"`
	Client    string   `json:"client,omitempty"`
	Checkout  string   `json:"checkout,omitempty"`
	Intent    string   `json:"intent,omitempty"`
	Issue     string   `json:"issue,omitempty"`
	Own       bool     `json:"own"`            // of the acting session
	Live      string   `json:"live,omitempty"` // of its session's stream
	Fences    []string `json:"fences,omitempty"`
	Reason    string   `json:"reason,omitempty"` // why it ended, or why it broke others
	At        int64    `json:"at"`
	AgeMS     int64    `json:"age_ms"`
}

// Standings.
const (
	StandingHeld       = "held"
	StandingConflicted = "conflicted"
	StandingExpired    = "expired"
	StandingReleased   = "released"
)

// Modes.
const (
	ModeExclusive = "exclusive"
	ModeCheckout  = "checkout"
	ModeAdvisory  = "advisory"
)

// A Conflict names a claim that stands in the way of a request.
type Conflict struct {
	Claim   string   `json:"claim"`
	Short   string   `json:"short,omitempty"`
	Epoch   uint64   `json:"epoch"`
	Session string   `json:"session"`
	Client  string   `json:"client,omitempty"`
	By      string   `json:"by,omitempty"`
	Intent  string   `json:"intent,omitempty"`
	Scope   []string `json:"scope"`
	Mode    string   `json:"mode,omitempty"`
	// Checkout is the one that the claim's session stands in.
	Checkout string `json:"checkout,omitempty"`
	// Meets is a path (or resource) that both scopes cover.
	Meets string `json:"meets"`
	// Live is "live", or "maybe_live" with MaybeMS left until it is judged
	// expired.
	Live    string `json:"live"`
	MaybeMS int64  `json:"maybe_ms,omitempty"`
	// Pending: admitted, not yet synced.
	Pending bool  `json:"pending,omitempty"`
	AgeMS   int64 `json:"age_ms"`
}

// ClaimRequest claims scopes for the acting session, all or none.
type ClaimRequest struct {
	Where
	Scope []string `json:"scope"` // words as typed, 1 to 64
	// Literal takes every word as a path.
	Literal bool   `json:"literal,omitempty"`
	Mode    string `json:"mode,omitempty"` // default exclusive
	Intent  string `json:"intent,omitempty"`
	Issue   string `json:"issue,omitempty"`
	// WaitMS is how long to queue for the scope, in milliseconds; 0 means not
	// to wait. At most 24 hours.
	WaitMS int64 `json:"wait_ms,omitempty"`
	// ConfirmMS is how long to wait until every known runtime has
	// acknowledged the claim.
	ConfirmMS int64 `json:"confirm_ms,omitempty"`
	// Break fences the claims in the way, whoever holds them; it needs Reason.
	Break  bool   `json:"break,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// ClaimReply has the claim. A session that holds the whole scope already gets
// that claim with Already set, and nothing is written.
type ClaimReply struct {
	Claim
	Already  bool       `json:"already,omitempty"`
	Overlaps []Conflict `json:"overlaps,omitempty"` // advisory meetings, for information
	// MoreOverlaps counts those that are left out.
	MoreOverlaps int        `json:"more_overlaps,omitempty"`
	Fenced       []Conflict `json:"fenced,omitempty"` // claims that this one fences
	WaitedMS     int64      `json:"waited_ms,omitempty"`
	Written
}

// ReleaseRequest releases claims of the acting session: those named (keys or
// short keys, or scopes as claimed), or all.
type ReleaseRequest struct {
	Where
	Claims []string `json:"claims,omitempty"`
	All    bool     `json:"all,omitempty"`
	Reason string   `json:"reason,omitempty"` // default "done"
	// Person releases another session's claim of this user and machine; it is
	// recorded with the person's name.
	Person bool `json:"person,omitempty"`
}

// ReleaseReply has what was released now; Already what had ended before.
type ReleaseReply struct {
	Released []Claim   `json:"released"`
	Already  []Claim   `json:"already,omitempty"`
	Events   []Written `json:"events,omitempty"`
}

// CheckRequest asks whether the acting session may write paths now. It never
// writes and is answered from memory.
type CheckRequest struct {
	Where
	Paths []string `json:"paths"`
	// Claim and Epoch, when given, must be those of a claim that still stands.
	Claim string `json:"claim,omitempty"`
	Epoch uint64 `json:"epoch,omitempty"`
}

// CheckReply answers for each path; Verdict is the worst of them.
type CheckReply struct {
	Verdict string      `json:"verdict"`
	Paths   []CheckPath `json:"paths"`
	Session string      `json:"session,omitempty"`
}

// Verdicts of a check, from best to worst.
const (
	CheckFree     = "free"     // nobody has it
	CheckYours    = "yours"    // you hold it
	CheckAdvisory = "advisory" // an advisory claim of another covers it
	CheckLapsed   = "lapsed"   // yours was fenced, beaten or has ended
	CheckTaken    = "taken"    // another holds it
)

// CheckPath is the answer for one path.
type CheckPath struct {
	Path    string     `json:"path"`
	Verdict string     `json:"verdict"`
	Claim   string     `json:"claim,omitempty"` // yours, if any
	Epoch   uint64     `json:"epoch,omitempty"`
	Others  []Conflict `json:"others,omitempty"`
}
