//go:build !unix

package cli

import "io/fs"

// writable and exposed are not told by mode bits here: the user's profile folder
// is protected by its access list.
func writable(string) bool     { return true }
func exposed(fs.FileMode) bool { return false }
