package event

import (
	"strconv"

	"github.com/comity-dev/comity/internal/canon"
)

// usualHeader is room for most headers, so that they are made on the stack.
const usualHeader = 640

// appendHeader appends the canonical form of a header that was checked: what
// canon.Marshal returns, without reflection. Every event that is written or read
// passes through it.
func appendHeader(b []byte, h *Header) []byte {
	b = append(b, '{')
	b = appendMember(b, "agent", h.Agent)
	b = appendCoordinates(appendName(b, "at"), &h.At)
	if h.Cause != (Cause{}) {
		b = appendCause(appendName(b, "cause"), &h.Cause)
	}
	if h.CreatedAt != 0 {
		b = strconv.AppendUint(appendName(b, "created_at"), h.CreatedAt, 10)
	}
	b = canon.AppendString(appendName(b, "id"), string(h.ID))
	b = appendMember(b, "visibility", string(h.Visibility))
	return append(b, '}')
}

func appendCause(b []byte, c *Cause) []byte {
	b = append(b, '{')
	b = appendMember(b, "agency", string(c.Agency))
	if c.At != (Coordinates{}) {
		b = appendCoordinates(appendName(b, "at"), &c.At)
	}
	b = appendMember(b, "command", string(c.Command))
	b = appendMember(b, "event", string(c.Event))
	b = appendMember(b, "tool", string(c.Tool))
	return append(b, '}')
}

func appendCoordinates(b []byte, c *Coordinates) []byte {
	b = append(b, '{')
	b = appendMember(b, "loop", string(c.Loop))
	b = appendMember(b, "session", string(c.Session))
	b = appendMember(b, "step", string(c.Step))
	b = appendMember(b, "turn", string(c.Turn))
	return append(b, '}')
}

// appendMember appends a member, unless its value is empty.
func appendMember(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	return canon.AppendString(appendName(b, name), value)
}

// appendName appends the name of a member to what begins an object or has one.
func appendName(b []byte, name string) []byte {
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	return append(append(append(b, '"'), name...), '"', ':')
}
