package link

import (
	"errors"
	"fmt"

	"github.com/comity-dev/comity/coop/ident"
)

// A Code says why a link is refused or ended, in a word of the protocol.
type Code string

// The codes. A code that a build does not know reads as a refusal all the same.
const (
	CodeMalformed    Code = "malformed"            // bytes that are no message, or a message out of its place
	CodeOversized    Code = "oversized"            // longer than the protocol allows
	CodeProtocol     Code = "protocol_unsupported" // no version in common
	CodeSignature    Code = "signature"            // not its author's
	CodeReplay       Code = "replay"               // an answer to another greeting than ours
	CodeChannel      Code = "channel"              // signed for another channel than this one
	CodeSelf         Code = "self_link"            // our own key
	CodeRepository   Code = "repository_mismatch"  // another repository
	CodeUntrusted    Code = "untrusted"            // a key that is not believed
	CodeMisaddressed Code = "misaddressed"         // meant for somebody else
	CodeNotActive    Code = "not_active"           // here, and not serving
	CodeCapacity     Code = "capacity"             // a bound is reached
	CodeSilent       Code = "silent"               // nothing was heard for too long
)

// A ProtocolError says what a peer did that the protocol does not allow. The
// link has ended, and the peer is told the code.
type ProtocolError struct {
	Code   Code
	Detail string
}

func (e *ProtocolError) Error() string { return fmt.Sprintf("link: %s: %s", e.Code, e.Detail) }

func malformed(what, detail string) error {
	return &ProtocolError{Code: CodeMalformed, Detail: what + ": " + detail}
}

// A RefusedError is a peer's refusal.
type RefusedError struct {
	Refusal Refusal
	By      ident.NodeID // who signed it; "" when nobody did whom we dialled
}

func (e *RefusedError) Error() string {
	if e.By == "" {
		return fmt.Sprintf("link: refused, unsigned: %s: %s", e.Refusal.Code, e.Refusal.Detail)
	}
	return fmt.Sprintf("link: refused by %s: %s: %s", e.By, e.Refusal.Code, e.Refusal.Detail)
}

// A GoodbyeError is the clean end of a link by the peer.
type GoodbyeError struct{ Reason string }

func (e *GoodbyeError) Error() string { return "link: the peer left: " + e.Reason }

// ErrSilent ends a link on which nothing came for one expiry, or of which the peer reads
// nothing.
var ErrSilent = errors.New("link: the peer is silent")

// ErrCut ends a link whose stream ended without a goodbye.
var ErrCut = errors.New("link: cut without a goodbye")

// ErrLeft ends a link that we left.
var ErrLeft = errors.New("link: we left")
