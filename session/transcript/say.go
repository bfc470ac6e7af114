package transcript

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/gate"
)

// What Markdown and HTML say in the same words.

// timeOf returns a time for people, "" if it is not known.
func timeOf(millis uint64) string {
	const year9999 = 253402300799999
	if millis == 0 || millis > year9999 {
		return ""
	}
	return time.UnixMilli(int64(millis)).UTC().Format("2006-01-02 15:04:05 UTC")
}

// lasted returns how long something took, "" if that is not known.
func lasted(millis uint64) string {
	switch {
	case millis == 0:
		return ""
	case millis < 1000:
		return strconv.FormatUint(millis, 10) + " ms"
	}
	return strconv.FormatUint(millis/1000, 10) + "." + strconv.FormatUint(millis%1000/100, 10) + " s"
}

func outcomeOf(outcome string) string {
	if outcome == open {
		return "no end yet"
	}
	return outcome
}

func usageOf(u event.Usage) string {
	if u == (event.Usage{}) {
		return ""
	}
	s := fmt.Sprintf("%d tokens in, %d out", u.Input, u.Output)
	if u.CacheRead+u.CacheWrite > 0 {
		s += fmt.Sprintf(", %d from and %d to the cache", u.CacheRead, u.CacheWrite)
	}
	return s
}

// leftOut says how much of a text is not there, "" if all is.
func leftOut(t text) string {
	if t.more == 0 {
		return ""
	}
	return strconv.Itoa(t.more) + " more bytes are left out"
}

func fileOf(b block) string {
	s := "File " + b.Name
	if b.Name == "" {
		s = "A file"
	}
	if b.Media != "" {
		s += ", " + b.Media
	}
	if b.Size > 0 {
		s += fmt.Sprintf(", %d bytes", b.Size)
	}
	if b.Digest != "" {
		s += ", sha256 " + b.Digest
	}
	return s
}

// speaker returns whose words an input or a message is.
func speaker(role event.Role, agency event.Agency) string {
	switch {
	case role == event.RoleAssistant:
		return "Assistant"
	case role == event.RoleSystem:
		return "System"
	case agency == event.Machine:
		return "Input of a machine"
	}
	return "User"
}

func askedOf(g *gateEntry) string {
	what := "Question"
	switch g.asks {
	case gate.KindPermission:
		what = "Permission"
	case gate.KindForm:
		what = "Form"
	}
	if g.subject != "" {
		what += " for " + g.subject
	}
	return what
}

// decidedOf says how a gate ended and who ended it.
func decidedOf(g *gateEntry) string {
	d := g.decision
	if d.Action == "" {
		return "no decision yet"
	}
	s := string(d.Action)
	switch d.Scope {
	case gate.ScopeOnce:
		s += " for this call"
	case gate.ScopeSession:
		s += " for the session"
	case gate.ScopeProject:
		s += " for the project"
	}
	s += " by " + deciders[d.By.Kind]
	if d.By.Name != "" {
		s += " " + d.By.Name
	}
	if d.By.Via != "" {
		s += " via " + d.By.Via
	}
	return s + because(d.Reason)
}

var deciders = map[gate.DeciderKind]string{
	gate.Person: "the person", gate.Policy: "the rule", gate.Model: "the model", gate.System: "the system",
}

// privateOf returns what only a private transcript has of a gate, as lines.
func privateOf(g *gateEntry) string {
	var lines []string
	if p := g.payload; p != nil && p.Permission != nil {
		lines = add(lines, p.Permission.Description, p.Permission.Input)
	} else if p != nil && p.Form != nil {
		lines = add(lines, p.Form.Message)
		for _, f := range p.Form.Fields {
			line := "? " + f.Name + " (" + string(f.Type) + ") " + f.Label
			for _, c := range f.Choices {
				line += " [" + c.Value + "]"
			}
			lines = add(lines, line)
		}
	}
	for _, a := range g.decision.Answers {
		lines = add(lines, "= "+a.Field+": "+strings.Join(a.Values, ", "))
	}
	if g.decision.Audit != "" {
		lines = add(lines, "Audit: "+g.decision.Audit)
	}
	return strings.Join(lines, "\n")
}

func add(lines []string, more ...string) []string {
	for _, s := range more {
		if s != "" {
			lines = append(lines, s)
		}
	}
	return lines
}

// callOf returns the name of a tool and how its call ended.
func callOf(c *call) (name, how string) {
	name = c.name
	if name == "" {
		name = "a tool that is not here"
	}
	how = outcomeOf(c.outcome)
	if s := lasted(c.millis); s != "" {
		how += ", " + s
	}
	if c.late {
		how += ", a result that came later"
	}
	return name, how
}

func delegateOf(d *delegate) (name, how string) {
	name = d.agent
	if name == "" {
		name = "delegate"
	}
	how = outcomeOf(d.outcome)
	switch {
	case d.part:
		how += ", shown in part; it goes on below"
	case d.work == nil:
		how += ", its work is above"
	}
	return name, how
}

// endOf says in one line how the session ended.
func endOf(f foot) string {
	if f.sum.Stopped {
		return fmt.Sprintf("The session stopped. %d records.", f.sum.Last)
	}
	return fmt.Sprintf("The session had not stopped at record %d.", f.sum.Last)
}

func factsOf(h head) [][2]string {
	var facts [][2]string
	put := func(name, value string) {
		if value = strings.TrimSpace(value); value != "" {
			facts = append(facts, [2]string{name, value})
		}
	}
	put("Session", string(h.session))
	put("Program", h.start.Program+" "+h.start.Version)
	put("Model", h.start.Model)
	put("Workspace", h.start.Workspace)
	put("Started", timeOf(h.at))
	put("Exported", timeOf(h.exported))
	return facts
}

func titleFor(h head) string {
	if h.title != "" {
		return h.title
	}
	return "Session " + string(h.session)
}
