//go:build !linux

package journal

import (
	"errors"
	"os"
)

// begun is the file of the program as it was when the program began.
var begun, errBegun = statSelf()

func statSelf() (os.FileInfo, error) {
	name, err := os.Executable()
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(name)
	if err == nil {
		os.SameFile(info, info) // Windows looks up which file it is when it is first asked
	}
	return info, err
}

var errReplaced = errors.New("the program's file was replaced since it began")

// runningFile is the file of the program that runs; an error when its name is another
// file's by now.
func runningFile() (*os.File, error) {
	if errBegun != nil {
		return nil, errBegun
	}
	name, err := os.Executable()
	if err != nil {
		return nil, err
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	if now, err := f.Stat(); err != nil || !os.SameFile(begun, now) {
		f.Close()
		return nil, errors.Join(errReplaced, err)
	}
	return f, nil
}
