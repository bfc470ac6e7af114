package cli

import "strings"

// sentence joins names as a list in words.
func sentence(names []string) string { return strings.Join(names, ", ") }
