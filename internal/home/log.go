package home

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"sync"
)

// MaxLog is the size at which the daemon's log begins anew; what was before is
// kept in one file daemon.log.1. Together they stay below twice this size and
// one write.
const MaxLog = 1 << 20

// A Log appends to the daemon's log file. It may be used concurrently.
type Log struct {
	name string

	mu   sync.Mutex // guards file, and the order of rotation and writes
	file *os.File
}

// OpenLog opens the daemon's log file for appending. A daemon in the
// background writes its log here rather than to standard error, which is the
// same file and knows no bound.
func (h Home) OpenLog() (*Log, error) {
	f, err := os.OpenFile(h.LogFile(), os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the daemon's log: %w", err)
	}
	return &Log{name: h.LogFile(), file: f}, nil
}

// Write appends p whole.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.rotate(len(p)); err != nil {
		return 0, err
	}
	return l.file.Write(p)
}

// Close closes the file.
func (l *Log) Close() error { return l.file.Close() }

// rotate makes room for n more bytes. The content moves and the file stays, so
// that standard error of the daemon, opened by whoever started it, goes on into
// the same log.
func (l *Log) rotate(n int) error {
	info, err := l.file.Stat()
	if err != nil {
		return err
	}
	if info.Size() == 0 || info.Size()+int64(n) <= MaxLog {
		return nil
	}
	// Only the end is kept of what standard error made too long.
	from := max(0, info.Size()-MaxLog)
	before, err := os.OpenFile(l.name+".1", os.O_WRONLY|os.O_TRUNC|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	// The log is cut even when the copy fails, for instance on a full disk:
	// that it is bounded matters more.
	_, copyErr := io.Copy(before, io.NewSectionReader(l.file, from, info.Size()-from))
	if err := before.Close(); copyErr == nil {
		copyErr = err
	}
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	if copyErr != nil {
		fmt.Fprintf(l.file, "the log before this line is lost: %v\n", copyErr)
	}
	return nil
}

// lastLine is the last line written to the log after it had the given size.
func (h Home) lastLine(after int64) string {
	const most = 4 << 10
	f, err := os.Open(h.LogFile())
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	if info.Size() < after { // rotated meanwhile
		after = 0
	}
	from := max(after, info.Size()-most)
	tail := make([]byte, info.Size()-from)
	n, _ := f.ReadAt(tail, from)
	tail = bytes.TrimRight(tail[:n], "\r\n \t")
	return string(tail[bytes.LastIndexByte(tail, '\n')+1:])
}
