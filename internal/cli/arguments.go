package cli

import (
	"errors"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/comity-dev/comity/api"
	"github.com/spf13/cobra"
)

// speakable refuses arguments that cannot travel as they are: in JSON broken
// UTF-8 would become another name.
func speakable(args []string) error {
	for _, arg := range args {
		if !utf8.ValidString(arg) {
			return usage("%q is not UTF-8", arg).
				WithHint("arguments are UTF-8 text; claim the folder above a file whose name is none")
		}
	}
	return nil
}

// wanted refuses a session or a folder that is named by nothing, as a variable
// that is not set names it: another one than was meant would be taken.
func wanted(cmd *cobra.Command) error {
	for _, name := range []string{"session", "repo"} {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed && f.Value.String() == "" {
			return usage("--%s is empty", name).WithHint("name one, or leave --%s out", name)
		}
	}
	return nil
}

// badFlag is what the parser of flags refuses, with what may be meant.
func badFlag(cmd *cobra.Command, err error) error {
	message, why, isValue := strings.Cut(err.Error(), `" flag: `)
	if isValue {
		message += `"`
	}
	e := usage("%s", message)
	var unknown interface{ GetSpecifiedName() string }
	switch {
	case strings.Contains(why, "duration"):
		e.Hint = "a time is written as 90s, 10m or 2h"
	case strings.Contains(why, "invalid syntax"), strings.Contains(why, "out of range"):
		e.Hint = "it is a whole number: " + cmd.CommandPath() + " --help"
	case strings.HasPrefix(message, "unknown flag") && errors.As(err, &unknown):
		if like := similar(unknown.GetSpecifiedName(), flagNames(cmd)); len(like) > 0 {
			e.Hint = "did you mean --" + strings.Join(like, " or --") + "?"
		}
	}
	return e
}

var flagName = regexp.MustCompile(`--([a-z-]+)`)

func flagNames(cmd *cobra.Command) []string {
	var names []string
	for _, m := range flagName.FindAllStringSubmatch(cmd.Flags().FlagUsages(), -1) {
		names = append(names, m[1])
	}
	return names
}

// similar are the names that look like what was typed, each once.
func similar(typed string, names []string) []string {
	all := &cobra.Command{SuggestionsMinimumDistance: 2}
	known := map[string]bool{}
	for _, name := range names {
		if !known[name] {
			known[name] = true
			all.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
		}
	}
	return all.SuggestionsFor(typed)
}

// meant adds to e, about a command below path that there is not, which one may
// be meant.
func meant(e *api.Error, path string, like []string) *api.Error {
	if len(like) > 0 {
		e.Hint = "did you mean " + path + " " + strings.Join(like, " or "+path+" ") + "?"
	}
	return e
}
