package seglog

import (
	"errors"

	"github.com/comity-dev/comity/internal/vfs"
)

var (
	// ErrPoisoned reports that a write or a sync of this log failed. Nothing
	// more can be appended and nothing is retried; reading goes on. The way
	// back is to close the log and open it again.
	ErrPoisoned = errors.New("log refuses writes after a failed write; reopen it")
	// ErrNoSpace reports that the disk is full. Nothing of the append is on
	// disk and the log is usable: the append can be tried again.
	ErrNoSpace = errors.New("no space left for the log")
	// ErrClosed reports the use of a closed log.
	ErrClosed = errors.New("log is closed")
	// ErrNotFound reports an index that holds no record: not written yet, or
	// dropped by Rewrite.
	ErrNotFound = errors.New("no such record")
	// ErrDamaged reports an index whose record was written and cannot be read
	// back. The report of the log names the place.
	ErrDamaged = errors.New("record is damaged")
	// ErrTooLarge reports a record of more than MaxRecordBytes, or an append
	// that does not fit into one batch.
	ErrTooLarge = errors.New("too large for the log")
	// ErrNewerFormat reports a log written by a newer format than this program
	// knows. Nothing was changed.
	ErrNewerFormat = errors.New("log has a newer format than this program knows")
	// ErrLocked reports that another process has the log open for writing.
	ErrLocked = vfs.ErrLocked
)
