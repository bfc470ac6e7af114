package natsstore

import "strings"

// token returns a name as one token of a subject. storage.CheckName lets no
// name have a "=", and of the characters that are special in subjects only the
// ".", so that two names never meet.
func token(name string) string { return strings.ReplaceAll(name, ".", "=") }

// untoken is the inverse of token.
func untoken(t string) string { return strings.ReplaceAll(t, "=", ".") }
