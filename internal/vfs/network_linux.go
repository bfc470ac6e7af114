package vfs

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Network names the kind of file system that dir lies on and reports whether
// its files live on another machine. dir must exist. Where the kind cannot be
// told it returns an empty kind and false.
func Network(dir string) (kind string, remote bool, err error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", false, err
	}
	if abs, err = filepath.EvalSymlinks(abs); err != nil {
		return "", false, err
	}
	mounts, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return "", false, nil
	}
	defer mounts.Close()
	kind = mountKind(bufio.NewScanner(mounts), abs)
	return kind, remoteKind(kind), nil
}

// mountKind finds the innermost mount above abs; of several at one place the
// last covers the others.
func mountKind(lines *bufio.Scanner, abs string) string {
	kind, best := "", -1
	for lines.Scan() {
		// 36 35 98:0 /root /mount/point options [optional ...] - type source options
		before, after, ok := strings.Cut(lines.Text(), " - ")
		fields, rest := strings.Fields(before), strings.Fields(after)
		if !ok || len(fields) < 5 || len(rest) < 1 {
			continue
		}
		point := unescape(fields[4])
		above := point == "/" || abs == point || strings.HasPrefix(abs, point+"/")
		if above && len(point) >= best {
			kind, best = rest[0], len(point)
		}
	}
	return kind
}

// unescape undoes the octal escapes of mountinfo (\040 is a space).
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
