package event

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
)

// HandoverID returns the id of a handover: the first 16 bytes of SHA-256 of
// its body, as 32 hex digits.
func HandoverID(body string) string {
	sum := sha256.Sum256([]byte(body))
	return hex.EncodeToString(sum[:16])
}

func (b *SessionOpened) visit(c *codec) {
	f := c.enter("info")
	b.Info.visit(c)
	c.leave(f)
	c.kindIs()
}

func (i *SessionInfo) visit(c *codec) {
	c.str("branch", &i.Branch, line(256), optional)
	c.str("by", &i.By, line(128), optional)
	c.str("checkout", (*string)(&i.Checkout), hex16, required)
	c.str("client", &i.Client, line(64), required)
	c.str("context", &i.Context, line(128), optional)
	c.flag("dirty", &i.Dirty)
	c.str("head", &i.Head, isOID, optional)
	c.str("host", &i.Host, line(64), optional)
	c.str("intent", &i.Intent, text(MaxText), optional)
	c.str("issue", &i.Issue, line(64), optional)
	c.str("session", &i.Session, isIdent, required)
	c.str("task", &i.Task, line(64), optional)
	c.str("worker", &i.Worker, line(128), optional)
}

func (b *SessionClosed) visit(c *codec) {
	c.kindIs()
	c.str("reason", &b.Reason, isIdent, required)
	c.str("session", &b.Session, isIdent, required)
}

func (b *ClaimAcquired) visit(c *codec) {
	list(c, "breaks", &b.Breaks, span{max: MaxFences}, keys())
	list(c, "fences", &b.Fences, span{max: MaxFences}, keys())
	c.str("intent", &b.Intent, text(MaxText), optional)
	c.str("issue", &b.Issue, line(64), optional)
	c.kindIs()
	c.str("mode", (*string)(&b.Mode), isMode, required)
	c.str("reason", &b.Reason, text(MaxText), optional)
	c.scopes("scope", &b.Scope, span{min: 1, max: MaxScopeEntries})
	c.str("session", &b.Session, isIdent, required)
	for _, k := range b.Breaks {
		if _, in := slices.BinarySearchFunc(b.Fences, k, Key.Compare); !in {
			c.fail("breaks", "not all in fences")
		}
	}
	if len(b.Breaks) > 0 && b.Reason == "" {
		c.fail("reason", "missing: breaks need one")
	}
}

func (b *ClaimReleased) visit(c *codec) {
	c.str("by", &b.By, line(128), optional)
	c.key("claim", &b.Claim)
	c.keyOr("fence", &b.Fence)
	c.kindIs()
	c.str("reason", &b.Reason, isIdent, required)
	c.str("session", &b.Session, isIdent, required)
}

func (b *HandoverPublished) visit(c *codec) {
	f := c.enter("handover")
	b.Handover.visit(c)
	c.leave(f)
	c.kindIs()
	c.str("session", &b.Session, isIdent, required)
	c.str("to", &b.To, line(64), optional)
}

func (h *Handover) visit(c *codec) {
	c.str("body", &h.Body, isBody, required)
	c.str("branch", &h.Branch, line(256), optional)
	c.str("created_at", &h.CreatedAt, line(64), optional)
	list(c, "files", &h.Files, span{max: MaxFiles}, strs(isFile))
	c.str("head", &h.Head, isOID, optional)
	c.str("id", &h.ID, hex32, required)
	c.str("issue", &h.Issue, line(64), optional)
	c.str("milestone", &h.Milestone, line(64), optional)
	c.str("name", &h.Name, line(256), optional)
	c.str("task", &h.Task, line(64), optional)
	if c.err == nil && h.ID != HandoverID(h.Body) {
		c.fail("id", "not the digest of the body")
	}
}

func (b *HandoverConsumed) visit(c *codec) {
	c.str("handover", &b.Handover, hex32, required)
	c.kindIs()
	list(c, "publications", &b.Publications, span{min: 1, max: MaxPublications}, keys())
	c.str("session", &b.Session, isIdent, required)
}

func (b *HandoverDeclined) visit(c *codec) {
	c.str("handover", &b.Handover, hex32, required)
	c.kindIs()
	list(c, "publications", &b.Publications, span{min: 1, max: MaxPublications}, keys())
	c.str("reason", &b.Reason, text(MaxText), optional)
	c.str("session", &b.Session, isIdent, required)
}

func (b *HandoverWithdrawn) visit(c *codec) {
	c.kindIs()
	c.key("publication", &b.Publication)
	c.str("session", &b.Session, isIdent, required)
}

func (b *ReviewRequested) visit(c *codec) {
	c.str("body", &b.Body, text(MaxReviewBody), optional)
	c.str("branch", &b.Branch, line(256), optional)
	c.str("commit", &b.Commit, isOID, optional)
	c.str("issue", &b.Issue, line(64), optional)
	c.kindIs()
	c.str("reviewer", &b.Reviewer, line(64), optional)
	c.scopes("scope", &b.Scope, span{max: MaxScopeEntries})
	c.str("session", &b.Session, isIdent, required)
	c.str("subject", &b.Subject, line(256), required)
	c.str("tree", &b.Tree, isOID, optional)
}

func (b *ReviewAnswered) visit(c *codec) {
	c.str("commit", &b.Commit, isOID, optional)
	c.kindIs()
	c.str("note", &b.Note, text(MaxNote), optional)
	c.key("request", &b.Request)
	c.str("session", &b.Session, isIdent, required)
	c.str("tree", &b.Tree, isOID, optional)
	c.str("verdict", (*string)(&b.Verdict), isAnswer, required)
}

func (b *ReviewClosed) visit(c *codec) {
	c.kindIs()
	c.str("reason", &b.Reason, isIdent, required)
	c.key("request", &b.Request)
	c.str("session", &b.Session, isIdent, required)
}

func (b *StreamSucceeded) visit(c *codec) {
	c.kindIs()
	c.str("record", &b.Record, hex32, required)
	c.count("run", &b.Run)
	list(c, "sessions", &b.Sessions, span{max: MaxSessions, always: true}, strs(isIdent))
	list(c, "streams", &b.Streams, span{max: MaxStreams, always: true}, streams())
}

func (b *StreamCheckpoint) visit(c *codec) {
	list(c, "covers", &b.Covers, span{min: 1, max: unbounded}, streams())
	c.str("digest", &b.Digest, hex64, required)
	c.kept(&b.Kept)
	c.kindIs()
	for s := range b.Kept {
		if _, covered := slices.BinarySearch(b.Covers, s); !covered {
			c.fail("kept", "a stream that is not covered")
		}
	}
}
