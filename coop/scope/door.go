package scope

import "strings"

// A Kind is what stands at a path of a working tree.
type Kind uint8

const (
	Missing Kind = iota
	File         // anything that is no folder
	Folder
)

// A Tree is the working tree in which a word was typed.
type Tree interface {
	// Rel maps a word, relative to where it was typed or absolute, to a clean
	// repository path; "." is the top. A word outside the repository is an error.
	Rel(word string) (path string, err error)

	// Kind tells what stands at a repository path. A name that the system cannot
	// have is Missing, as are the names below a file. A symbolic link on the way
	// that leaves the repository is an error.
	Kind(path string) (Kind, error)
}

// Door makes the entry of a word as people and agents type it. In this order:
//
//   - a word that exists as a path is that path, or that folder;
//   - "name/" is a folder, which may not exist yet;
//   - "@name" and "@name/part" are a resource, unless their first folder
//     exists: a new file in an existing @types is a path;
//   - with literal, and with none of * ? [ {, a path that may not exist yet;
//   - else a pattern, relative to where it was typed. Folders that exist under
//     the very name are no pattern: in app/[id]/*.tsx only the last part is.
//
// The errors of the tree come through (errors.Is, errors.As), within an Error.
func Door(t Tree, word string, literal bool) (Entry, error) {
	e, err := door(t, word, literal)
	if err == nil {
		return e, nil
	}
	if ours, ok := err.(*Error); ok { // a rule's, or one that the tree made
		return Entry{}, &Error{Word: word, Reason: ours.Reason, Hint: ours.Hint, Err: ours.Err}
	}
	return Entry{}, &Error{Word: word, Reason: err.Error(), Err: err}
}

func door(t Tree, word string, literal bool) (Entry, error) {
	if err := speakable(word); err != nil {
		return Entry{}, err
	}
	bare := strings.TrimRight(word, "/")
	if bare == "" {
		bare = "/"
	}
	path, kind, err := look(t, bare)
	if err != nil {
		return Entry{}, err
	}
	slash := len(bare) < len(word)
	wild := !literal && strings.ContainsAny(bare, "*?[{")
	if wild && climbs(t, bare) {
		return Entry{}, refuse("climbs with .. out of what a wildcard matches", "write the pattern without ..")
	}
	switch {
	case kind == Folder:
		return Dir(path)
	case kind == File && slash:
		return Entry{}, refuse("is a file, not a folder", "write it without the / behind it")
	case kind == File:
		return Path(path)
	case wild && !strings.HasPrefix(word, "@"):
		return doorGlob(t, word)
	case slash && !wild:
		return Dir(path)
	case strings.HasPrefix(word, "@") && !literal:
		return doorAt(t, word, path, wild)
	}
	return Path(path)
}

func look(t Tree, word string) (string, Kind, error) {
	path, err := t.Rel(word)
	if err != nil {
		return "", Missing, err
	}
	kind, err := t.Kind(path)
	return path, kind, err
}

// doorAt takes a word with @ before it that does not exist.
func doorAt(t Tree, word, path string, wild bool) (Entry, error) {
	first, _, deeper := strings.Cut(word, "/")
	if deeper {
		_, kind, err := look(t, first)
		switch {
		case err != nil:
			return Entry{}, err
		case kind == Folder && wild:
			return doorGlob(t, word)
		case kind == Folder:
			return Path(path)
		}
	}
	return Resource(word[1:])
}

// doorGlob makes a pattern of its part that exists, or is plain, and the rest.
func doorGlob(t Tree, word string) (Entry, error) {
	base, rest, err := splitGlob(t, word)
	if err != nil {
		return Entry{}, err
	}
	at, err := t.Rel(base)
	if err != nil {
		return Entry{}, err
	}
	if !strings.ContainsAny(rest, "*?[{") { // the folders with such names exist
		path, err := t.Rel(word)
		if err != nil {
			return Entry{}, err
		}
		if strings.HasSuffix(word, "/") {
			return Dir(path)
		}
		return Path(path)
	}
	if at, err = cleanPath(at, true); err != nil {
		return Entry{}, err
	}
	if at == "." {
		return Glob(rest)
	}
	return Glob(escape(at) + "/" + rest)
}

// climbs tells that a word has .. behind a wildcard. The system would follow it
// from wherever the pattern leads, so that */.. would be the whole repository.
func climbs(t Tree, word string) bool {
	_, rest, err := splitGlob(t, word)
	if err != nil || !strings.ContainsAny(rest, "*?[{") {
		return false
	}
	for part := range strings.SplitSeq(rest, "/") {
		if part == ".." {
			return true
		}
	}
	return false
}

// splitGlob cuts a word before the first part that has a wildcard and is no
// existing folder.
func splitGlob(t Tree, word string) (base, rest string, err error) {
	at := 0
	for at < len(word) {
		end := strings.IndexByte(word[at:], '/')
		if end < 0 {
			break
		}
		if strings.ContainsAny(word[at:at+end], `*?[]{}\`) {
			_, kind, err := look(t, word[:at+end])
			if err != nil {
				return "", "", err
			}
			if kind != Folder {
				break
			}
		}
		at += end + 1
	}
	switch base = strings.TrimRight(word[:at], "/"); {
	case at == 0:
		base = "."
	case base == "":
		base = "/"
	}
	return base, word[at:], nil
}

// escape writes a path as a pattern that matches it alone.
func escape(path string) string {
	var out strings.Builder
	for _, c := range []byte(path) {
		if strings.IndexByte("*?[]{}", c) >= 0 {
			out.WriteByte('\\')
		}
		out.WriteByte(c)
	}
	return out.String()
}
