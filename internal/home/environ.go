package home

import (
	"runtime"
	"slices"
	"strings"
)

// environ is what a daemon sees of the environment of whoever starts it: not
// the variables that speak of one repository (git sets GIT_* for its hooks), of
// one session, or of one folder, since it serves all of them.
func environ(from []string, h Home) []string {
	env := slices.DeleteFunc(slices.Clone(from), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		if runtime.GOOS == "windows" {
			name = strings.ToUpper(name)
		}
		switch name {
		case "COMITY", "COMITY_HOME", "COMITY_SESSION", readyEnv, "PWD", "OLDPWD":
			return true
		}
		return strings.HasPrefix(name, "GIT_")
	})
	return append(env, "COMITY_HOME="+h.Dir)
}
