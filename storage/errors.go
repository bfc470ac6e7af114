package storage

import (
	"errors"
	"fmt"
)

var (
	// ErrClosed reports the use of a closed backend.
	ErrClosed = errors.New("store is closed")
	// ErrNoSpace reports that the store is full. Nothing was written; the
	// write can be tried again once there is room.
	ErrNoSpace = errors.New("no space left for the store")
	// ErrUnavailable reports that the store cannot be reached. Nothing was
	// written.
	ErrUnavailable = errors.New("store cannot be reached")
	// ErrBroken reports that the store refuses writes since one of them failed
	// on its disk. Nothing of this one was written, and reading goes on; the way
	// back is to close the store and open it again.
	ErrBroken = errors.New("store refuses writes after a failed write; close it and open it again")
	// ErrLocked reports that another process holds the store.
	ErrLocked = errors.New("store is held by another process")
	// ErrNewerFormat reports a store written by a newer version than this
	// program knows. Nothing was changed.
	ErrNewerFormat = errors.New("store has a newer format than this program knows; use a newer version")
)

// An InvalidNameError reports a name against the rules of CheckName.
type InvalidNameError struct {
	Name string
	Rule string // which rule it breaks, in words
}

func (e *InvalidNameError) Error() string {
	return fmt.Sprintf("name %q is not valid: %s", e.Name, e.Rule)
}

// A ConflictError reports an append at a tip that was not the ledger's.
// Nothing was written. The caller was overtaken: what it wanted to append may
// not fit any more.
type ConflictError struct {
	Name     string
	Expected Tip
	Tip      Tip // as it was found
}

func (e *ConflictError) Error() string {
	if e.Expected.Gen != e.Tip.Gen && e.Expected.Seq != 0 {
		return fmt.Sprintf("append to ledger %s: expected record %d at the tip of an earlier life of it, which was deleted", e.Name, e.Expected.Seq)
	}
	return fmt.Sprintf("append to ledger %s: expected record %d at the tip, found %d", e.Name, e.Expected.Seq, e.Tip.Seq)
}

// A RevisionError reports a row that was written or removed meanwhile. Nothing
// was written.
type RevisionError struct {
	Key      string
	Expected uint64
	Revision uint64 // as it was found, 0 when there is no row
}

func (e *RevisionError) Error() string {
	return fmt.Sprintf("write row %s: expected revision %d, found %d", e.Key, e.Expected, e.Revision)
}

// An AmbiguousError reports a write whose outcome is not known. The package
// comment says how to find out about an append.
type AmbiguousError struct {
	Op    string // "append", "acquire", "put" and so on
	Name  string
	Cause error
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%s %s: it is not known whether it was done: %v", e.Op, e.Name, e.Cause)
}

func (e *AmbiguousError) Unwrap() error { return e.Cause }

// A HeldError reports a lease that another grant holds.
type HeldError struct {
	Name  string
	Epoch uint64 // of the grant that holds it
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("lease %s is held by epoch %d", e.Name, e.Epoch)
}

// A NotFoundError reports a row, a blob or a whole store that is not there.
type NotFoundError struct {
	What string // "row", "blob" or "store"
	Name string // the key, space/digest, or what the store is called
}

func (e *NotFoundError) Error() string { return fmt.Sprintf("%s %s: not found", e.What, e.Name) }

// A DamagedError reports a record, or with Seq 0 a row, that was stored and
// cannot be read back. What lies before and behind it is not touched.
type DamagedError struct {
	Name  string
	Seq   uint64
	Cause error // may be nil
}

func (e *DamagedError) Error() string {
	s := fmt.Sprintf("record %d of ledger %s is damaged", e.Seq, e.Name)
	if e.Seq == 0 {
		s = fmt.Sprintf("row %s is damaged", e.Name)
	}
	if e.Cause != nil {
		s += ": " + e.Cause.Error()
	}
	return s
}

func (e *DamagedError) Unwrap() error { return e.Cause }

// A DeletedError reports that a ledger was deleted while it was read.
type DeletedError struct {
	Name string
	Seq  uint64 // the record that would have been next
}

func (e *DeletedError) Error() string {
	return fmt.Sprintf("ledger %s was deleted before record %d was read", e.Name, e.Seq)
}

// A TooLargeError reports a record, batch, or value over a bound of Traits.
type TooLargeError struct {
	What      string // "record", "batch", "value"; with units other than bytes, those
	Size, Max int64
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("%s of %d, at most %d", e.What, e.Size, e.Max)
}

// A ReadOnlyError reports a write to what may only be read. Reason ends with
// the next step.
type ReadOnlyError struct {
	Name   string // "" when it is the whole store
	Reason string
}

func (e *ReadOnlyError) Error() string {
	if e.Name == "" {
		return "store is read-only: " + e.Reason
	}
	return fmt.Sprintf("%s is read-only: %s", e.Name, e.Reason)
}

// A DigestError reports content that is not what its digest says.
type DigestError struct {
	Want, Got Digest
	Size      int64 // of the content that was read
}

func (e *DigestError) Error() string {
	if e.Got == (Digest{}) {
		return fmt.Sprintf("content of %v is damaged after %d bytes", e.Want, e.Size)
	}
	return fmt.Sprintf("content has digest %v, want %v (%d bytes)", e.Got, e.Want, e.Size)
}
