package event

import (
	"cmp"
	"fmt"
)

// Check reports whether e can be an event of a session: nil, an
// *UnknownEventTypeError, or a *FieldError that names what is wrong.
func (ks *Kinds) Check(e Event) error {
	if e.Body == nil {
		return &UnknownEventTypeError{}
	}
	name := e.Body.Kind()
	kind, ok := ks.Lookup(name)
	switch {
	case !ok:
		return &UnknownEventTypeError{name}
	case e.Schema > kind.Version:
		return &UnsupportedSchemaError{name, e.Schema, kind.Version}
	case e.Visibility != kind.Visibility:
		return &FieldError{name, "header.visibility", "not that of the kind"}
	}
	level := e.At.Level()
	if level < kind.Least || level > kind.Most {
		return &FieldError{name, "header.at", fmt.Sprintf("reaches to level %d, want %d to %d", level, kind.Least, kind.Most)}
	}
	return cmp.Or(e.Header.check(name), kind.check(e.Body))
}

func (h Header) check(kind string) error {
	return cmp.Or(
		text(kind, "header.agent", h.Agent, 0, MaxName),
		h.At.check(kind, "header.at"),
		h.Cause.Check(kind, "header.cause"),
		count(kind, "header.created_at", h.CreatedAt, 0),
		needID(kind, "header.id", h.ID),
	)
}

func (c Coordinates) check(kind, field string) error {
	if c.Step != "" && c.Turn == "" || c.Turn != "" && c.Loop == "" || c.Loop != "" && c.Session == "" {
		return &FieldError{kind, field, "a coordinate is there without the one that it is in"}
	}
	return cmp.Or(
		memberID(kind, field, "loop", c.Loop),
		memberID(kind, field, "session", c.Session),
		memberID(kind, field, "step", c.Step),
		memberID(kind, field, "turn", c.Turn),
	)
}

// Check reports whether c can be stored under a field of a kind: nil, or a
// *FieldError.
func (c Cause) Check(kind, field string) error {
	if c == (Cause{}) {
		return nil
	}
	return cmp.Or(
		c.Agency.Check(kind, field+".agency"),
		c.At.check(kind, field+".at"),
		memberID(kind, field, "command", c.Command),
		memberID(kind, field, "event", c.Event),
		memberID(kind, field, "tool", c.Tool),
	)
}

// Check reports whether a is known or unsaid: nil, or a *FieldError.
func (a Agency) Check(kind, field string) error {
	if a != "" && a != Human && a != Machine {
		return &FieldError{kind, field, "unknown"}
	}
	return nil
}
