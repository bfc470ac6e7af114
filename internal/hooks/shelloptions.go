package hooks

import (
	"slices"
	"strings"
)

// An option of a command: its letter or long name, and its value if it takes
// one.
type option struct{ name, value string }

func has(opts []option, names ...string) bool {
	return slices.ContainsFunc(opts, func(o option) bool { return slices.Contains(names, o.name) })
}

// optionValue returns the value of the last option of one of the names.
func optionValue(opts []option, names ...string) (value string, ok bool) {
	for _, o := range opts {
		if slices.Contains(names, o.name) {
			value, ok = o.value, true
		}
	}
	return value, ok
}

// parse sorts arguments into options and operands, wherever they stand. short is
// as of getopt: a letter that is followed by ":" takes a value, by "::" only one
// that is attached. long names those that take a value in the next word when
// it is not attached with "=".
func parse(args []string, short string, long ...string) (opts []option, operands []string) {
	opts, operands, _ = parseDashed(args, short, long...)
	return opts, operands
}

// parseDashed is parse that also tells how many operands stand behind "--"; -1
// when there is no "--".
func parseDashed(args []string, short string, long ...string) (opts []option, operands []string, dashed int) {
	dashed = -1
	var last []string
	if k := slices.Index(args, "--"); k >= 0 {
		args, last = args[:k], args[k+1:]
		dashed = len(last)
	}
	for {
		var o []option
		o, args = leading(args, short, long...)
		opts = append(opts, o...)
		if len(args) == 0 {
			return opts, append(operands, last...), dashed
		}
		operands = append(operands, args[0])
		args = args[1:]
	}
}

// leading takes the options in front of the first operand.
func leading(args []string, short string, long ...string) (opts []option, rest []string) {
	for len(args) > 0 {
		a := args[0]
		switch {
		case a == "--":
			return opts, args[1:]
		case strings.HasPrefix(a, "--"):
			name, value, attached := strings.Cut(a[2:], "=")
			args = args[1:]
			if !attached && slices.Contains(long, name) && len(args) > 0 {
				value, args = args[0], args[1:]
			}
			opts = append(opts, option{name, value})
		case len(a) > 1 && a[0] == '-':
			var o []option
			o, args = cluster(a[1:], args[1:], short)
			opts = append(opts, o...)
		default:
			return opts, args
		}
	}
	return opts, nil
}

// cluster takes apart letters such as rf, or o with its value.
func cluster(letters string, args []string, short string) ([]option, []string) {
	var opts []option
	for i := range len(letters) {
		o := option{name: letters[i : i+1]}
		k := strings.Index(short, o.name)
		takes := k >= 0 && o.name != ":" && strings.HasPrefix(short[k+1:], ":")
		if !takes {
			opts = append(opts, o)
			continue
		}
		o.value = letters[i+1:]
		if o.value == "" && !strings.HasPrefix(short[k+1:], "::") && len(args) > 0 {
			o.value, args = args[0], args[1:]
		}
		return append(opts, o), args
	}
	return opts, args
}
