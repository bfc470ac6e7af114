package cli

import "strings"

// scopes is stored scope entries as people type them.
func scopes(entries []string) string {
	shown := make([]string, len(entries))
	for i, e := range entries {
		shown[i] = scope(e)
	}
	return strings.Join(shown, " ")
}

func scope(entry string) string {
	kind, rest, ok := strings.Cut(entry, ":")
	switch {
	case !ok:
		return entry
	case kind == "dir" && rest == ".":
		return "."
	case kind == "dir":
		return rest + "/"
	case kind == "res":
		return "@" + rest
	case kind == "path", kind == "glob":
		return rest
	}
	return entry
}
