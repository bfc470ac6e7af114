package fold

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/internal/canon"
)

// The input of a digest is a line that names the fold version, and then what
// stands as canonical JSON (package canon): docs/format-fold.md has it member by
// member, and testdata/vectors/folds examples.

// sum is the first half of SHA-256 over that.
func (s *State) sum() string {
	sum := sha256.Sum256(s.form())
	return hex.EncodeToString(sum[:16])
}

func (s *State) form() []byte {
	b := fmt.Appendf(nil, "comity-fold/%d\n", Version)
	b = append(b, `{"claims":[`...)
	for v := range s.Claims() {
		state, by := s.standing(s.claim(v.Key))
		b = append(appendClaim(b, v, state, by), ',')
	}
	b = append(closed(b, ']'), `,"handovers":[`...)
	for v := range s.OpenHandovers() {
		b = append(appendHandover(b, v), ',')
	}
	b = append(closed(b, ']'), `,"reviews":[`...)
	for v := range s.OpenReviews() {
		b = append(appendReview(b, v), ',')
	}
	b = append(closed(b, ']'), `,"sessions":[`...)
	for v := range s.OpenSessions() {
		b = append(appendSession(b, v), ',')
	}
	return append(closed(b, ']'), '}')
}

// closed ends a list or object, whose last element is followed by a comma.
func closed(b []byte, with byte) []byte {
	if n := len(b) - 1; b[n] == ',' {
		b = b[:n]
	}
	return append(b, with)
}

// member appends a member, unless it is empty.
func member(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	b = append(append(append(b, '"'), name...), `":`...)
	return append(canon.AppendString(b, value), ',')
}

// keyMember appends the member of a key, unless it is none.
func keyMember(b []byte, name string, k event.Key) []byte {
	if k.Seq == 0 {
		return b
	}
	return member(b, name, k.String())
}

func listMember[X any](b []byte, name string, xs []X, text func(X) string) []byte {
	b = append(append(append(b, '"'), name...), `":[`...)
	for _, x := range xs {
		b = append(canon.AppendString(b, text(x)), ',')
	}
	return append(closed(b, ']'), ',')
}

func appendClaim(b []byte, v Claim, state StandingState, by event.Key) []byte {
	b = append(b, '{')
	b = keyMember(b, "by", by)
	b = member(b, "checkout", string(v.Checkout))
	b = keyMember(b, "claim", v.Key)
	b = append(strconv.AppendUint(append(b, `"epoch":`...), v.Epoch, 10), ',')
	b = member(b, "mode", string(v.Mode))
	b = listMember(b, "scope", v.Scope.Strings(), func(e string) string { return e })
	b = member(b, "session", v.Session.String())
	b = member(b, "state", string(state))
	b = member(b, "stream", string(v.Stream))
	return closed(b, '}')
}

func appendHandover(b []byte, v Handover) []byte {
	b = append(b, '{')
	if len(v.Declines) > 0 {
		b = listMember(b, "declines", v.Declines, func(d Decline) string { return d.Key.String() })
	}
	b = append(member(b, "handover", v.ID), `"publications":[`...)
	for _, p := range v.Publications {
		b = append(b, '{')
		b = keyMember(b, "publication", p.Key)
		b = member(b, "state", p.state())
		b = member(b, "to", p.To)
		b = append(closed(b, '}'), ',')
	}
	return append(closed(b, ']'), '}')
}

func (p *Publication) state() string {
	switch {
	case p.Withdrawn:
		return "withdrawn"
	case p.Taken:
		return "taken"
	}
	return "open"
}

func appendReview(b []byte, v Review) []byte {
	b = append(b, '{')
	if len(v.Answers) > 0 {
		b = listMember(b, "answers", v.Answers, func(a Answer) string { return a.Key.String() })
	}
	b = keyMember(b, "request", v.Key)
	return closed(b, '}')
}

func appendSession(b []byte, v Session) []byte {
	i := v.Info
	b = append(b, '{')
	b = member(b, "branch", i.Branch)
	b = member(b, "by", i.By)
	b = member(b, "checkout", string(i.Checkout))
	b = member(b, "client", i.Client)
	b = member(b, "context", i.Context)
	if i.Dirty != nil {
		b = append(strconv.AppendBool(append(b, `"dirty":`...), *i.Dirty), ',')
	}
	b = member(b, "head", i.Head)
	b = member(b, "host", i.Host)
	b = member(b, "intent", i.Intent)
	b = member(b, "issue", i.Issue)
	b = keyMember(b, "opened", v.Opened)
	b = member(b, "session", v.ID.String())
	b = member(b, "stream", string(v.Stream))
	b = member(b, "task", i.Task)
	b = member(b, "worker", i.Worker)
	return closed(b, '}')
}
