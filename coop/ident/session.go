package ident

import (
	"fmt"
	"strings"
)

// MaxSIDBytes bounds the name of a session in its runtime.
const MaxSIDBytes = 64

// A SessionID names a session everywhere. It is comparable.
type SessionID struct {
	Runtime Runtime
	SID     string
}

// String returns "<node>-<runtime>/<sid>".
func (s SessionID) String() string { return s.Runtime.String() + "/" + s.SID }

// Compare orders sessions by runtime, then by sid: -1, 0 or +1.
func (s SessionID) Compare(t SessionID) int {
	if c := s.Runtime.Compare(t.Runtime); c != 0 {
		return c
	}
	return strings.Compare(s.SID, t.SID)
}

// ParseSessionID reads what SessionID.String prints, and nothing else.
func ParseSessionID(s string) (SessionID, error) {
	rt, sid, ok := strings.Cut(s, "/")
	if !ok {
		return SessionID{}, fmt.Errorf("session %.200q: want <node>-<runtime>/<sid>", s)
	}
	r, err := ParseRuntime(rt)
	if err != nil {
		return SessionID{}, fmt.Errorf("session %.200q: %w", s, err)
	}
	if err := ValidSID(sid); err != nil {
		return SessionID{}, err
	}
	return SessionID{r, sid}, nil
}

// ValidSID says what is wrong with s as the name of a session: it must be 1 to
// MaxSIDBytes bytes of letters, digits and the characters . _ : # -
func ValidSID(s string) error {
	if len(s) == 0 || len(s) > MaxSIDBytes {
		return fmt.Errorf("session id %.80q: %d bytes, want 1 to %d", s, len(s), MaxSIDBytes)
	}
	for i := range len(s) {
		if !sidByte(s[i]) {
			return fmt.Errorf("session id %q: character %q; use letters, digits and . _ : # -", s, s[i:i+1])
		}
	}
	return nil
}

func sidByte(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	}
	return c == '.' || c == '_' || c == ':' || c == '#' || c == '-'
}

// NewSID returns a random session name: "s-" and 12 hex digits.
func NewSID() string { return "s-" + randomHex(12) }
