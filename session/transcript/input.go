package transcript

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// maxMembers bounds the members that are shown apart.
const maxMembers = 64

// maxLine is how long a value is that stands in a line with its name, in bytes.
const maxLine = 100

// A member is one member of a tool's input.
type member struct{ name, value string }

func (m member) lines() bool { return strings.Contains(m.value, "\n") }

// membersOf returns the members of an input that is a JSON object: of a text the text, of
// all else the JSON. It is false for every other input, and for one that is not shown
// rightly so: with a name twice, too many members, or none.
func membersOf(t text) ([]member, bool) {
	if t.more > 0 || !strings.HasPrefix(t.s, "{") {
		return nil, false
	}
	d := jsontext.NewDecoder(strings.NewReader(t.s))
	if _, err := d.ReadToken(); err != nil {
		return nil, false
	}
	var all []member
	for d.PeekKind() == '"' && len(all) < maxMembers {
		name, err := d.ReadToken()
		if err != nil {
			return nil, false
		}
		m := member{name: name.String()}
		value, err := d.ReadValue()
		if err != nil {
			return nil, false
		}
		m.value = string(value)
		if value.Kind() == '"' {
			s, err := jsontext.AppendUnquote(nil, value)
			if err != nil {
				return nil, false
			}
			m.value = string(s)
		}
		all = append(all, m)
	}
	if end, err := d.ReadToken(); err != nil || end.Kind() != '}' || strings.TrimSpace(t.s[d.InputOffset():]) != "" {
		return nil, false
	}
	return all, len(all) > 0
}

// glance returns what of an input is shown beside the name of the tool.
func glance(t text) string {
	if members, ok := membersOf(t); ok {
		return firstLine(members[0].value)
	}
	return firstLine(t.s)
}
