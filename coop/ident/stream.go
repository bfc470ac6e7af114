package ident

import (
	"fmt"
	"strings"
)

const (
	runtimeLen = nodeDigits + 1 + runtimeDigits
	streamLen  = runtimeLen + 1 + instanceDigits
)

// A Runtime is a node's daemon for one repository, named across nodes.
type Runtime struct {
	Node NodeID
	ID   RuntimeID
}

// String returns "<node>-<runtime>".
func (r Runtime) String() string { return string(r.Node) + "-" + string(r.ID) }

// Valid reports whether both parts have their form.
func (r Runtime) Valid() bool { return r.Node.Valid() && r.ID.Valid() }

// Compare orders runtimes by node, then by id: -1, 0 or +1.
func (r Runtime) Compare(s Runtime) int {
	if c := strings.Compare(string(r.Node), string(s.Node)); c != 0 {
		return c
	}
	return strings.Compare(string(r.ID), string(s.ID))
}

// ParseRuntime reads what Runtime.String prints, and nothing else.
func ParseRuntime(s string) (Runtime, error) {
	if len(s) == runtimeLen && s[nodeDigits] == '-' {
		if r := (Runtime{NodeID(s[:nodeDigits]), RuntimeID(s[nodeDigits+1:])}); r.Valid() {
			return r, nil
		}
	}
	return Runtime{}, fmt.Errorf("runtime %.80q: want 32 hex digits, a dash, 16 hex digits", s)
}

// A Stream names what one run of a runtime writes:
// "<node>-<runtime>-<instance>", 66 characters. Its methods are safe on any
// string: a malformed stream has no parts.
type Stream string

// NewStream joins the parts of a stream.
func NewStream(n NodeID, r RuntimeID, i InstanceID) Stream {
	return Stream(string(n) + "-" + string(r) + "-" + string(i))
}

// ParseStream returns s as a stream when it is one.
func ParseStream(s string) (Stream, error) {
	if st := Stream(s); st.Valid() {
		return st, nil
	}
	return "", fmt.Errorf("stream %.80q: want 32, 16 and 16 lowercase hex digits joined by dashes", s)
}

// Valid reports whether s has the form of a stream.
func (s Stream) Valid() bool {
	return len(s) == streamLen && s[nodeDigits] == '-' && s[runtimeLen] == '-' &&
		IsHex(string(s[:nodeDigits]), nodeDigits) &&
		IsHex(string(s[nodeDigits+1:runtimeLen]), runtimeDigits) &&
		IsHex(string(s[runtimeLen+1:]), instanceDigits)
}

// Node returns the node part, "" when s is malformed.
func (s Stream) Node() NodeID {
	if !s.Valid() {
		return ""
	}
	return NodeID(s[:nodeDigits])
}

// RuntimeID returns the runtime part, "" when s is malformed.
func (s Stream) RuntimeID() RuntimeID {
	if !s.Valid() {
		return ""
	}
	return RuntimeID(s[nodeDigits+1 : runtimeLen])
}

// Instance returns the instance part, "" when s is malformed.
func (s Stream) Instance() InstanceID {
	if !s.Valid() {
		return ""
	}
	return InstanceID(s[runtimeLen+1:])
}

// Runtime returns node and runtime, the zero Runtime when s is malformed.
func (s Stream) Runtime() Runtime { return Runtime{s.Node(), s.RuntimeID()} }
