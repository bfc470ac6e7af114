package room

import (
	"fmt"
	"strings"

	"github.com/comity-dev/comity/coop/event"
)

// sentence tells what an event says in one line.
func sentence(b event.Body) string {
	switch b := b.(type) {
	case event.SessionOpened:
		return join(fmt.Sprintf("%s opened (%s)", b.Info.Session, b.Info.Client), b.Info.Intent)
	case event.SessionClosed:
		return fmt.Sprintf("%s closed: %s", b.Session, words(b.Reason))
	case event.ClaimAcquired:
		return claimSentence(b)
	case event.ClaimReleased:
		return releaseSentence(b)
	case event.HandoverPublished:
		return join(fmt.Sprintf("%s offered handover %s%s", b.Session, shortID(b.Handover.ID), toWhom(b.To)), firstLine(b.Handover.Body))
	case event.HandoverConsumed:
		return fmt.Sprintf("%s took handover %s", b.Session, shortID(b.Handover))
	case event.HandoverDeclined:
		return join(fmt.Sprintf("%s declined handover %s", b.Session, shortID(b.Handover)), b.Reason)
	case event.HandoverWithdrawn:
		return fmt.Sprintf("%s withdrew its offer", b.Session)
	case event.ReviewRequested:
		return join(fmt.Sprintf("%s asked for a review%s", b.Session, ofWhom(b.Reviewer)), b.Subject)
	case event.ReviewAnswered:
		return join(fmt.Sprintf("%s answered: %s", b.Session, words(string(b.Verdict))), firstLine(b.Note))
	case event.ReviewClosed:
		return fmt.Sprintf("%s closed its review: %s", b.Session, words(b.Reason))
	case event.StreamSucceeded:
		return fmt.Sprintf("run %d began with %d sessions carried on", b.Run, len(b.Sessions))
	case event.StreamCheckpoint:
		return fmt.Sprintf("checkpoint of %d streams", len(b.Covers))
	case event.Unreadable:
		return fmt.Sprintf("unreadable %s: %s", b.Name, b.Reason)
	}
	return "of a kind that this build does not know: " + b.Kind()
}

func claimSentence(b event.ClaimAcquired) string {
	verb := "claimed"
	if b.Mode != event.ModeExclusive {
		verb += " (" + string(b.Mode) + ")"
	}
	s := fmt.Sprintf("%s %s %s", b.Session, verb, showSet(b.Scope))
	switch n := len(b.Fences); {
	case len(b.Breaks) > 0:
		s = join(fmt.Sprintf("%s, breaking %d", s, len(b.Breaks)), b.Reason)
	case n > 0:
		s += fmt.Sprintf(", ending %d lapsed", n)
	}
	return join(s, b.Intent)
}

func releaseSentence(b event.ClaimReleased) string {
	s := fmt.Sprintf("%s released its claim: %s", b.Session, words(b.Reason))
	if b.By != "" {
		s += ", by " + b.By
	}
	return s
}

func join(s, more string) string {
	if more == "" {
		return s
	}
	return s + ": " + more
}

func toWhom(to string) string {
	if to == "" {
		return ""
	}
	return " to " + to
}

func ofWhom(reviewer string) string {
	if reviewer == "" {
		return ""
	}
	return " from " + reviewer
}

func firstLine(s string) string {
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "#")); line != "" {
			return line
		}
	}
	return ""
}

// shortID is the beginning of a handover's digest, as shown to people.
func shortID(id string) string { return id[:min(8, len(id))] }
