package scope

import (
	"errors"
	"fmt"
)

// An Error reports a word, a stored entry or a list of them that is no scope.
// Nothing is wrong with the caller's machine: the words must change.
type Error struct {
	Word   string // what was given
	Reason string // what is wrong with it
	Hint   string // what to write instead; may be empty
	Err    error  // the tree's answer, when it was the tree that refused
}

func (e *Error) Error() string {
	s := fmt.Sprintf("scope %q: %s", e.Word, e.Reason)
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// refuse is the answer of an inner rule, which does not know the word.
func refuse(reason, hint string) *Error { return &Error{Reason: reason, Hint: hint} }

// about names the word in a refusal of an inner rule, and keeps any other error.
func about(word string, err error) error {
	var e *Error
	if errors.As(err, &e) && e.Word == "" {
		return &Error{Word: word, Reason: e.Reason, Hint: e.Hint, Err: e.Err}
	}
	return err
}
