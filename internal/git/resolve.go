package git

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxLinks is how many symbolic links a path may lead through, as in Linux.
const maxLinks = 40

// resolve follows abs through links and ".." as the system would, and takes what
// does not exist by its name: unlike filepath.EvalSymlinks it tells where a file
// that is not there yet would be made.
func resolve(abs string) (string, error) {
	root := filepath.VolumeName(abs) + string(filepath.Separator)
	done, todo := root, split(abs[len(root)-1:])
	for links := 0; len(todo) > 0; {
		part := todo[0]
		todo = todo[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			done = filepath.Dir(done)
			continue
		}
		next := filepath.Join(done, part)
		target, isLink, err := readLink(next)
		if err != nil {
			return "", err
		}
		if !isLink {
			done = next
			continue
		}
		if links++; links > maxLinks {
			return "", &os.PathError{Op: "resolve", Path: abs, Err: errors.New("too many symbolic links")}
		}
		volume := filepath.VolumeName(target)
		target = target[len(volume):]
		if target != "" && os.IsPathSeparator(target[0]) {
			done = cmp.Or(volume, filepath.VolumeName(done)) + string(filepath.Separator)
		}
		todo = append(split(target), todo...)
	}
	return trueName(done), nil
}

func split(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == filepath.Separator || r == '/' })
}

// readLink returns where the link at name leads; a name that is nothing, or
// something else, is no link.
func readLink(name string) (target string, isLink bool, err error) {
	info, err := os.Lstat(name)
	switch {
	case missing(err):
		return "", false, nil
	case err != nil:
		return "", false, err
	case info.Mode()&os.ModeSymlink == 0:
		return "", false, nil
	}
	target, err = os.Readlink(name)
	return target, true, err
}

// trueName gives the part of real that exists the spelling of the disk, where
// the system knows several for one file.
func trueName(real string) string {
	rest := ""
	for dir := real; ; dir = filepath.Dir(dir) {
		if name, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(name, rest)
		}
		if dir == filepath.Dir(dir) {
			return real
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
}

// missing says that err means nothing is there; under a name that is too long for
// the system nothing can be.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG)
}
