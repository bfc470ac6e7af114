//go:build unix

package home_test

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

func (r *report) describe() {
	r.Session, _ = unix.Getsid(0)
	names, _ := filepath.Glob("/proc/self/fd/*")
	for _, name := range names {
		if to, err := os.Readlink(name); err == nil {
			r.Files = append(r.Files, to)
		}
	}
}
