package hooks

import (
	"slices"
	"strings"
)

// toolOf returns what notes the writes of a command, nil for one that is not
// known to write. mkdir and rmdir are none: an empty folder is nothing that git
// keeps or that another session could lose.
func toolOf(name string) func(sh *shell, args []string) {
	switch name {
	case "rm", "unlink", "shred":
		return operandsOf("n:s:")
	case "touch":
		return operandsOf("d:r:t:", "date", "reference", "time")
	case "truncate":
		return operandsOf("s:r:", "size", "reference")
	case "tee":
		return operandsOf("")
	case "chmod":
		return chmod
	case "cp":
		return copies{short: "t:S:"}.run
	case "scp":
		return scp
	case "mv":
		return copies{short: "t:S:", moves: true}.run
	case "ln":
		return copies{short: "t:S:", links: true}.run
	case "install":
		return copies{short: "t:S:m:o:g:", install: true}.run
	case "rsync":
		return rsync
	case "dd":
		return dd
	case "sed", "gsed":
		return sed
	case "perl", "ruby":
		return perl
	case "awk", "gawk":
		return awk
	case "ed", "ex":
		return operandsOf("p:c:")
	case "gofmt", "goimports", "gofumpt":
		return formatter{oneDash: true, when: []string{"w"}, long: []string{"r", "local", "cpuprofile", "lang", "modpath"}}.run
	case "clang-format":
		return formatter{oneDash: true, when: []string{"i"}, long: []string{"style", "assume-filename", "lines", "offset", "length"}}.run
	case "prettier":
		return formatter{when: []string{"w", "write"}, long: []string{"config", "parser", "ignore-path", "log-level"}}.run
	case "black", "rustfmt":
		return formatter{unless: []string{"check", "diff", "c", "code"}, long: []string{"config", "edition", "config-path", "exclude"}, short: "l:t:"}.run
	case "yq":
		return formatter{when: []string{"i", "inplace"}, script: true}.run
	case "patch":
		return patch
	case "sort":
		return outputOf("o:k:t:S:T:", "o", "output")
	case "curl":
		return outputOf("o:d:H:X:u:A:e:F:b:c:T:m:w:x:E:K:r:y:Y:z:C:t:U:Q:P:", "o", "output")
	case "wget":
		return outputOf("O:o:P:U:i:t:T:Q:e:a:A:R:D:I:X:l:w:", "O", "output-document")
	case "tar", "gtar", "bsdtar":
		return tar
	case "unzip":
		return unzip
	}
	return nil
}

// operandsOf is of a command that writes each of its operands.
func operandsOf(short string, long ...string) func(*shell, []string) {
	return func(sh *shell, args []string) {
		_, operands := parse(args, short, long...)
		for _, o := range operands {
			sh.write(o)
		}
	}
}

// outputOf is of a command that writes what one option names.
func outputOf(short string, names ...string) func(*shell, []string) {
	return func(sh *shell, args []string) {
		opts, _ := parse(args, short, names...)
		for _, o := range opts {
			if has([]option{o}, names...) && o.value != "-" {
				sh.write(o.value)
			}
		}
	}
}

// A formatter rewrites the files that it is given, and what it finds to be
// rewritten in folders.
type formatter struct {
	short        string
	long         []string
	oneDash      bool     // long names stand behind one
	when, unless []string // options with, and without, which it writes; no when: always
	script       bool     // the first operand is no file
}

func (f formatter) run(sh *shell, args []string) {
	if f.oneDash {
		args = slices.Clone(args)
		for i, a := range args {
			if len(a) > 1 && a[0] == '-' && a[1] != '-' {
				args[i] = "-" + a
			}
		}
	}
	opts, operands := parse(args, f.short, f.long...)
	if len(f.when) > 0 && !has(opts, f.when...) || has(opts, f.unless...) {
		return
	}
	if f.script && len(operands) > 0 {
		operands = operands[1:]
	}
	for _, o := range operands {
		sh.into(o)
	}
}

func chmod(sh *shell, args []string) {
	// A mode such as -x is no option.
	opts, operands := parse(args, "", "reference")
	if !has(opts, "reference") && !has(opts, "r", "w", "x", "X", "s", "t") && len(operands) > 0 {
		operands = operands[1:]
	}
	for _, o := range operands {
		sh.write(o)
	}
}

// copies is cp and those that take the same words: SOURCE... TARGET.
type copies struct {
	short                 string
	moves, links, install bool
}

func (c copies) run(sh *shell, args []string) {
	opts, operands := parse(args, c.short, "target-directory", "suffix", "mode", "owner", "group")
	if c.install && has(opts, "d", "directory") {
		return
	}
	folder, inFolder := optionValue(opts, "t", "target-directory")
	var target string
	switch {
	case inFolder:
	case c.links && len(operands) == 1:
		folder, inFolder = ".", true
	case len(operands) < 2:
		sh.unsure(operands)
		return
	default:
		target, operands = operands[len(operands)-1], operands[:len(operands)-1]
	}
	if c.moves {
		for _, o := range operands {
			sh.write(o)
		}
	}
	switch {
	case inFolder:
		sh.inFolder(folder, operands)
	case has(opts, "T", "no-target-directory"), c.links && has(opts, "n", "no-dereference"):
		sh.write(target)
	default:
		sh.target(target, operands)
	}
}

// unsure is for a command that has too few words to be told apart: an expansion
// may give more of them.
func (sh *shell) unsure(words []string) {
	for _, w := range words {
		if hasMark(w) {
			sh.found.anywhere = true
		}
	}
}

// target notes that sources go to target, which is a folder that takes them in or
// the new name.
func (sh *shell) target(target string, sources []string) {
	name := target[strings.LastIndexByte(target, '/')+1:]
	switch {
	case len(sources) != 1, name == "" || name == "." || name == "..", target == mark(markHome):
		sh.inFolder(target, sources)
	case base(sources[0]) == "":
		sh.into(target)
	default:
		sh.into(target, base(sources[0]))
	}
}

// into notes that target is written or, if it is a folder, the names in it.
func (sh *shell) into(target string, names ...string) {
	switch p, exact, ok := sh.at.place(target); {
	case !ok:
		sh.found.anywhere = true
	case exact:
		sh.found.addInto(p, names...)
	default:
		sh.found.add(&sh.found.under, "under ", p)
	}
}

// inFolder notes that sources go into folder under their own names.
func (sh *shell) inFolder(folder string, sources []string) {
	for _, s := range sources {
		name := base(s)
		switch {
		case name == "":
			sh.under(folder)
		case folder == "." || folder == "./":
			sh.write(name)
		default:
			sh.write(strings.TrimSuffix(folder, "/") + "/" + name)
		}
	}
}

func scp(sh *shell, args []string) {
	_, operands := parse(args, "F:i:P:o:c:l:J:S:")
	if k := len(operands) - 1; k > 0 && !strings.Contains(operands[k], ":") {
		sh.target(operands[k], operands[:k])
	}
}

func rsync(sh *shell, args []string) {
	opts, operands := parse(args, "e:f:B:T:M:", "exclude", "include", "rsh", "files-from", "exclude-from", "filter")
	if len(operands) < 2 || has(opts, "n", "dry-run") {
		return
	}
	if target := operands[len(operands)-1]; !strings.Contains(target, ":") {
		sh.under(target)
	}
}

func dd(sh *shell, args []string) {
	for _, a := range args {
		if name, ok := strings.CutPrefix(a, "of="); ok {
			sh.write(name)
		}
	}
}

// sed writes the files that it edits in place. The sed of BSD takes the
// suffix as a word of its own, which is empty as a rule.
func sed(sh *shell, args []string) {
	for k, a := range args {
		if k > 0 && a == "" && strings.HasSuffix(args[k-1], "i") && strings.HasPrefix(args[k-1], "-") {
			args = append(args[:k:k], args[k+1:]...)
			break
		}
	}
	opts, operands := parse(args, "e:f:l:i::I::", "expression", "file", "line-length")
	if !has(opts, "i", "I", "in-place") {
		return
	}
	if !has(opts, "e", "f", "expression", "file") && len(operands) > 0 {
		operands = operands[1:]
	}
	for _, o := range operands {
		sh.write(o)
	}
}

// perl and ruby write the files that they edit in place with -i.
func perl(sh *shell, args []string) {
	opts, operands := leading(args, "i::e:E:I:M::m::F::C::D::x::0::l::")
	if !has(opts, "i") {
		return
	}
	if !has(opts, "e", "E") && len(operands) > 0 {
		operands = operands[1:]
	}
	for _, o := range operands {
		sh.write(o)
	}
}

func awk(sh *shell, args []string) {
	opts, operands := parse(args, "i:f:F:v:", "include", "file", "assign", "field-separator")
	if how, _ := optionValue(opts, "i", "include"); how != "inplace" {
		return
	}
	if !has(opts, "f", "file") && len(operands) > 0 {
		operands = operands[1:]
	}
	for _, o := range operands {
		sh.write(o)
	}
}

// patch writes what the patch names, unless the file stands in the command.
func patch(sh *shell, args []string) {
	opts, operands := parse(args, "p:d:i:o:r:B:D:F:V:Y:z:", "strip", "directory", "input", "output", "reject-file")
	dir, there := optionValue(opts, "d", "directory")
	if there {
		outer := sh.at
		defer func() { sh.at = outer }()
		sh.at = outer.inner()
		sh.at.cd(dir)
	}
	out, hasOut := optionValue(opts, "o", "output")
	switch {
	case has(opts, "dry-run", "C", "check", "v", "version"):
	case hasOut:
		sh.write(out)
	case len(operands) > 0:
		sh.write(operands[0])
	default:
		sh.found.anywhere = true
	}
}

// tar writes below a folder when it extracts, and the archive when it creates.
func tar(sh *shell, args []string) {
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		args = append([]string{"-" + args[0]}, args[1:]...)
	}
	opts, _ := parse(args, "f:C:T:X:b:", "file", "directory", "exclude", "files-from")
	file, hasFile := optionValue(opts, "f", "file")
	dir, hasDir := optionValue(opts, "C", "directory")
	switch {
	case has(opts, "x", "extract", "get"):
		if !hasDir {
			dir = "."
		}
		if !has(opts, "O", "to-stdout") {
			sh.under(dir)
		}
	case hasFile && file != "-" && has(opts, "c", "r", "u", "A", "create", "append", "update", "concatenate"):
		sh.write(file)
	}
}

func unzip(sh *shell, args []string) {
	opts, _ := parse(args, "d:x:P:")
	if has(opts, "l", "t", "p", "v", "z", "Z") {
		return
	}
	dir, ok := optionValue(opts, "d")
	if !ok {
		dir = "."
	}
	sh.under(dir)
}
