package scope

import "strings"

// MaxEntryBytes bounds the stored form of one entry.
const MaxEntryBytes = 256

// A Form says what kind of thing an entry covers.
type Form uint8

const (
	FormPath     Form = 1 + iota // one repository path
	FormDir                      // a folder: itself and everything below it
	FormGlob                     // every path that a pattern matches
	FormResource                 // a named thing that is no path
)

var prefixes = [...]string{FormPath: "path:", FormDir: "dir:", FormGlob: "glob:", FormResource: "res:"}

func (f Form) String() string {
	if f == 0 || int(f) >= len(prefixes) {
		return "none"
	}
	return strings.TrimSuffix(prefixes[f], ":")
}

// An Entry is one thing that a claim covers. Entries are values: two are equal
// when they are stored alike. The zero Entry covers nothing and is not stored.
type Entry struct {
	form Form
	text string
}

// Form tells what kind of thing e covers.
func (e Entry) Form() Form { return e.form }

// Text is e without its form: "a/b.go", "a/b" for a folder, "." for the whole
// repository, "port/3000" for a resource.
func (e Entry) Text() string { return e.text }

// String is the stored form, the only one that Parse takes: "path:a/b.go".
func (e Entry) String() string {
	if e.form == 0 || int(e.form) >= len(prefixes) {
		return ""
	}
	return prefixes[e.form] + e.text
}

// Show is e as people type it at the top of the repository: "a/b.go", "a/b/",
// ".", "src/**/*.go", "@port/3000". A path or a pattern that begins with @ is
// shown as "./@types/a.d.ts", so that it is not taken for a resource.
func (e Entry) Show() string {
	switch e.form {
	case FormResource:
		return "@" + e.text
	case FormDir:
		if e.text == "." {
			return "."
		}
		return e.text + "/"
	case FormPath, FormGlob:
		if strings.HasPrefix(e.text, "@") {
			return "./" + e.text
		}
	}
	return e.text
}

// Parse reads a stored entry. It takes exactly what String prints: whatever
// another spelling of the same entry would be is refused, so that equal
// entries have equal bytes wherever they are signed and compared.
func Parse(stored string) (Entry, error) {
	for f := FormPath; f <= FormResource; f++ {
		text, ok := strings.CutPrefix(stored, prefixes[f])
		if !ok {
			continue
		}
		e, err := build(f, text)
		if err != nil {
			return Entry{}, about(stored, err)
		}
		if e.text != text {
			return Entry{}, &Error{Word: stored, Reason: "not in its stored form", Hint: "write " + e.String()}
		}
		return e, nil
	}
	return Entry{}, &Error{Word: stored, Reason: "no form", Hint: "a stored entry begins with path:, dir:, glob: or res:"}
}

// Path makes the entry of one repository path. It cleans: "./a//b/" is a/b.
// A path that names the top is refused, because the top is a folder.
func Path(p string) (Entry, error) { return named(FormPath, p) }

// Dir makes the entry of a folder; "." is the whole repository.
func Dir(p string) (Entry, error) { return named(FormDir, p) }

// Glob makes the entry of a pattern in the grammar of this package.
func Glob(pattern string) (Entry, error) { return named(FormGlob, pattern) }

// Resource makes the entry of a named resource, without the @: "port/3000".
func Resource(name string) (Entry, error) { return named(FormResource, name) }

func named(f Form, word string) (Entry, error) {
	e, err := build(f, word)
	if err != nil {
		return Entry{}, about(word, err)
	}
	return e, nil
}

func build(f Form, text string) (Entry, error) {
	text, err := cleanText(text)
	if err != nil {
		return Entry{}, err
	}
	switch f {
	case FormPath, FormDir:
		text, err = cleanPath(text, f == FormDir)
	case FormResource:
		err = checkResource(text)
	case FormGlob:
		text = tidyGlob(text)
	}
	if err != nil {
		return Entry{}, err
	}
	e := Entry{form: f, text: text}
	if n := len(prefixes[f]) + len(text); n > MaxEntryBytes {
		return Entry{}, refuse(tooLong(n), "claim the folder above it")
	}
	if f == FormGlob {
		if _, err := compileGlob(text); err != nil {
			return Entry{}, err
		}
	}
	return e, nil
}
