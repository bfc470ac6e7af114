package room

import (
	"fmt"
	"strings"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
)

// maxBriefing bounds what a starting session is told, in bytes: about 300
// tokens.
const maxBriefing = 1200

// briefing tells a starting session who is here, what they hold, and what waits
// for it. Alone it is empty.
func (r *Room) briefing(v look, a Actor) string {
	self, ok := v.State().Session(r.id(a.Session))
	if !ok {
		return ""
	}
	var b brief
	for s := range v.State().OpenSessions() {
		if s.ID != self.ID && !(r.own(s.ID) && r.siblings(a.Session, s.ID.SID)) {
			b.line("%s", presence(v, s, a))
		}
	}
	for _, h := range r.handoverViews(v, false) {
		if h.From != a.Session && (h.To == "" && h.Branch == self.Info.Branch || h.To != "" && addressed(h.To, self)) {
			b.line("handover %s from %s: %s", h.Short, h.From, fact(h.Summary, 160))
		}
	}
	for _, q := range r.reviewViews(v, false) {
		if q.Session != a.Session && (q.Reviewer == "" || addressed(q.Reviewer, self)) {
			b.line("review %s asked by %s: %s", q.Short, q.Session, fact(q.Subject, 160))
		}
	}
	return b.String()
}

// presence is one line on another session.
func presence(v look, s fold.Session, a Actor) string {
	line := who(api.Conflict{Session: s.ID.SID, Client: s.Info.Client, By: s.Info.By})
	switch {
	case s.Info.Checkout == a.Checkout:
		line += " works in this same checkout"
	case s.Info.Branch != "":
		line += " works on branch " + s.Info.Branch
	default:
		line += " works here"
	}
	if s.Info.Intent != "" {
		line += ": " + fact(s.Info.Intent, 160)
	}
	return line + holds(v, s.ID)
}

// holds names what a session has claimed, the first few.
func holds(v look, id ident.SessionID) string {
	const most = 4
	var all []string
	more := 0
	for _, c := range v.State().ClaimsOf(id) {
		switch {
		case c.Mode == event.ModeAdvisory:
		case len(all) == most:
			more++
		default:
			all = append(all, showSet(c.Scope))
		}
	}
	if len(all) == 0 {
		return ""
	}
	s := "; holds " + strings.Join(all, ", ")
	if more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}

// neighbours are the other sessions that work in the actor's checkout.
func (r *Room) neighbours(v look, a Actor) []fold.Session {
	var out []fold.Session
	for s := range v.State().OpenSessions() {
		if s.ID != r.id(a.Session) && s.Info.Checkout == a.Checkout && !(r.own(s.ID) && r.siblings(a.Session, s.ID.SID)) {
			out = append(out, s)
		}
	}
	return out
}

// A brief is a text of lines within maxBriefing; what does not fit is counted.
type brief struct {
	text strings.Builder
	more int
}

func (b *brief) line(format string, args ...any) {
	line := fmt.Sprintf(format, args...) + "\n"
	if b.more > 0 || b.text.Len()+len(line) > maxBriefing-80 {
		b.more++
		return
	}
	b.text.WriteString(line)
}

func (b *brief) String() string {
	if b.more > 0 {
		fmt.Fprintf(&b.text, "and %d more: comity status\n", b.more)
	}
	return strings.TrimRight(b.text.String(), "\n")
}
