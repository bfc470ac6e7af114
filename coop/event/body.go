package event

import (
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/scope"
)

// A Body is what an event says: a value, not a pointer, of one of the structs
// of this package. Kind is the word of the protocol.
type Body interface{ Kind() string }

// The kinds this build knows.
const (
	KindSessionOpened     = "session_opened"
	KindSessionClosed     = "session_closed"
	KindClaimAcquired     = "claim_acquired"
	KindClaimReleased     = "claim_released"
	KindHandoverPublished = "handover_published"
	KindHandoverConsumed  = "handover_consumed"
	KindHandoverDeclined  = "handover_declined"
	KindHandoverWithdrawn = "handover_withdrawn"
	KindReviewRequested   = "review_requested"
	KindReviewAnswered    = "review_answered"
	KindReviewClosed      = "review_closed"
	KindStreamSucceeded   = "stream_succeeded"
	KindStreamCheckpoint  = "stream_checkpoint"
)

// SessionInfo is what a session says of itself. Session, Client and Checkout
// are always there; an empty string, like a nil Dirty, means unsaid.
type SessionInfo struct {
	Session  string
	Client   string // the program: "claude-code", "codex", "cli"
	By       string // the person
	Host     string
	Checkout ident.CheckoutID
	Branch   string
	Head     string // commit, 40 or 64 hex digits
	Intent   string
	Issue    string
	Task     string
	Worker   string
	Context  string
	Dirty    *bool
}

// SessionOpened opens a session, or says again, in whole, what it says of itself.
type SessionOpened struct{ Info SessionInfo }

// SessionClosed ends a session and every claim it acquired before.
type SessionClosed struct{ Session, Reason string }

// Mode is how a claim excludes others.
type Mode string

// The modes. An event with any other is unreadable.
const (
	ModeExclusive Mode = "exclusive" // of every other session
	ModeCheckout  Mode = "checkout"  // of other sessions in the same checkout
	ModeAdvisory  Mode = "advisory"  // of nobody: it tells
)

// ClaimAcquired is a claim, named by the event that carries it.
type ClaimAcquired struct {
	Session string
	Scope   scope.Set // 1 to 64 entries
	Mode    Mode
	Intent  string
	Issue   string
	Fences  []Key  // claims of the dead, or broken ones, that this one ends
	Breaks  []Key  // those of Fences that a person broke
	Reason  string // why; required with Breaks
}

// ClaimReleased ends a claim.
type ClaimReleased struct {
	Claim   Key
	Session string
	Reason  string
	Fence   *Key   // the claim that fenced it, when that is the reason
	By      string // the person who released it, when it was not the session
}

// Handover is the text that one session leaves for another, with where it stood.
type Handover struct {
	ID        string // HandoverID(Body)
	Body      string // Markdown
	Task      string
	Issue     string
	Milestone string
	Branch    string
	Head      string // commit, 40 or 64 hex digits
	CreatedAt string
	Name      string
	Files     []string // repository paths
}

// HandoverPublished offers a handover, to anybody when To is empty.
type HandoverPublished struct {
	Session  string
	To       string
	Handover Handover
}

// HandoverConsumed takes a handover, by its id and the publications it was seen in.
type HandoverConsumed struct {
	Handover     string
	Publications []Key
	Session      string
}

// HandoverDeclined refuses a handover.
type HandoverDeclined struct {
	Handover     string
	Publications []Key
	Session      string
	Reason       string
}

// HandoverWithdrawn takes a publication back.
type HandoverWithdrawn struct {
	Publication Key
	Session     string
}

// ReviewRequested asks for a review, named by the event that carries it.
type ReviewRequested struct {
	Session  string
	Subject  string
	Scope    scope.Set
	Branch   string
	Commit   string
	Tree     string
	Reviewer string
	Body     string
	Issue    string
}

// Verdict is an answer to a review request.
type Verdict string

// The verdicts. An event with any other is unreadable.
const (
	VerdictApproved         Verdict = "approved"
	VerdictChangesRequested Verdict = "changes_requested"
	VerdictCommented        Verdict = "commented"
)

// ReviewAnswered answers a review request. Whether the answer is stale is
// computed where it is shown, from Commit and Tree.
type ReviewAnswered struct {
	Request Key
	Session string
	Verdict Verdict
	Note    string
	Commit  string
	Tree    string
}

// ReviewClosed ends a review request.
type ReviewClosed struct {
	Request Key
	Session string
	Reason  string
}

// StreamSucceeded is the first event of every run of a run record. Sessions
// are the sids that go on; Streams the earlier runs in which what is theirs stands.
type StreamSucceeded struct {
	Record   string // 32 hex digits
	Run      uint64 // from 1
	Sessions []string
	Streams  []ident.Stream
}

// A Range is a run of sequence numbers, both ends in it.
type Range struct{ First, Last uint64 }

// StreamCheckpoint removes, in the streams that it covers, the effect of every
// event below it but the kept ones.
type StreamCheckpoint struct {
	Covers []ident.Stream
	Kept   map[ident.Stream][]Range // streams of Covers; ranges ascending and apart
	Digest string                   // 64 hex digits, over the hashes of the kept events by stream, then seq
}

// Opaque is the body of a kind that this build does not know: kept and relayed.
type Opaque struct {
	Name string
	Raw  []byte // canonical JSON of the body
}

// Unreadable is the body of a known kind that breaks this build's bounds: kept
// and relayed, never folded.
type Unreadable struct {
	Name   string
	Reason string // names the field and what is wrong with it
	Raw    []byte // canonical JSON of the body
}

func (SessionOpened) Kind() string     { return KindSessionOpened }
func (SessionClosed) Kind() string     { return KindSessionClosed }
func (ClaimAcquired) Kind() string     { return KindClaimAcquired }
func (ClaimReleased) Kind() string     { return KindClaimReleased }
func (HandoverPublished) Kind() string { return KindHandoverPublished }
func (HandoverConsumed) Kind() string  { return KindHandoverConsumed }
func (HandoverDeclined) Kind() string  { return KindHandoverDeclined }
func (HandoverWithdrawn) Kind() string { return KindHandoverWithdrawn }
func (ReviewRequested) Kind() string   { return KindReviewRequested }
func (ReviewAnswered) Kind() string    { return KindReviewAnswered }
func (ReviewClosed) Kind() string      { return KindReviewClosed }
func (StreamSucceeded) Kind() string   { return KindStreamSucceeded }
func (StreamCheckpoint) Kind() string  { return KindStreamCheckpoint }

// Kind returns the kind that the event names.
func (o Opaque) Kind() string { return o.Name }

// Kind returns the kind that the event names.
func (u Unreadable) Kind() string { return u.Name }
