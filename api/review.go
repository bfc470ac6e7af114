package api

// A Review is a request to look at something, with the answers to it.
type Review struct {
	Review   string   `json:"review"` // <stream>/<seq>
	Short    string   `json:"short"`
	State    string   `json:"state"` // open, answered, closed
	Subject  string   `json:"subject"`
	Session  string   `json:"session"`
	Client   string   `json:"client,omitempty"`
	Reviewer string   `json:"reviewer,omitempty"`
	Branch   string   `json:"branch,omitempty"`
	Commit   string   `json:"commit,omitempty"`
	Tree     string   `json:"tree,omitempty"`
	Scope    []string `json:"scope,omitempty"`
	Body     string   `json:"body,omitempty"`
	Issue    string   `json:"issue,omitempty"`
	// Verdict is the one of the newest answer that is not stale, if any.
	Verdict string   `json:"verdict,omitempty"`
	Answers []Answer `json:"answers,omitempty"`
	Reason  string   `json:"reason,omitempty"`
	At      int64    `json:"at"`
	AgeMS   int64    `json:"age_ms"`
}

// An Answer is one session's verdict on what it saw.
type Answer struct {
	Session string `json:"session"`
	Client  string `json:"client,omitempty"`
	Verdict string `json:"verdict"`
	Note    string `json:"note,omitempty"`
	Commit  string `json:"commit,omitempty"`
	Tree    string `json:"tree,omitempty"`
	// Stale: the branch's tree is not the one that the verdict is about.
	Stale bool  `json:"stale,omitempty"`
	At    int64 `json:"at"`
}

// Verdicts of a review.
const (
	Approved         = "approved"
	ChangesRequested = "changes_requested"
	Commented        = "commented"
)

// ReviewRequestRequest asks for a review of a branch, a commit or a scope.
type ReviewRequestRequest struct {
	Where
	Subject  string   `json:"subject"`
	Branch   string   `json:"branch,omitempty"` // default: the checkout's branch
	Commit   string   `json:"commit,omitempty"` // any revision; resolved
	Scope    []string `json:"scope,omitempty"`
	Reviewer string   `json:"reviewer,omitempty"`
	Body     string   `json:"body,omitempty"`
	Issue    string   `json:"issue,omitempty"`
}

// ReviewAnswerRequest answers one. The verdict is bound to the tree that
// Commit (default: the branch's present commit) has.
type ReviewAnswerRequest struct {
	Where
	Review  string `json:"review"`
	Verdict string `json:"verdict"`
	Note    string `json:"note,omitempty"`
	Commit  string `json:"commit,omitempty"`
}

// ReviewCloseRequest ends a review; only the requesting session may.
type ReviewCloseRequest struct {
	Where
	Review string `json:"review"`
	Reason string `json:"reason,omitempty"` // default "done"
}

// ReviewReply has one review.
type ReviewReply struct {
	Review  Review `json:"review"`
	Already bool   `json:"already,omitempty"`
	Written
}

// ReviewListRequest lists reviews: the open ones, or all.
type ReviewListRequest struct {
	Where
	All bool `json:"all,omitempty"`
}

// ReviewListReply has them newest first.
type ReviewListReply struct {
	Reviews []Review `json:"reviews"`
}
