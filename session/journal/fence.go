package journal

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/comity-dev/comity/internal/canon"
	"github.com/comity-dev/comity/session/event"
)

// A LeaseFence is what a new owner of a session appends before anything else.
type LeaseFence struct {
	Epoch uint64 `json:"epoch"` // of the owner's lease, 1 to 2^53-1
}

// EncodeLeaseFence returns the byte form of f, one canonical JSON object with
// one member. The error is a *FenceEncodeError.
func EncodeLeaseFence(f LeaseFence) ([]byte, error) {
	if f.Epoch == 0 {
		return nil, &FenceEncodeError{errors.New("epoch 0")}
	}
	b, err := canon.Marshal(f)
	if err != nil {
		return nil, &FenceEncodeError{err}
	}
	return b, nil
}

// DecodeLeaseFence is the inverse of EncodeLeaseFence and takes nothing else. The
// error is a *FenceDecodeError.
func DecodeLeaseFence(b []byte) (LeaseFence, error) {
	var f LeaseFence
	if err := canon.Decode(b, &f); err != nil {
		return LeaseFence{}, &FenceDecodeError{"not the form of a fence", err}
	}
	if f.Epoch == 0 {
		return LeaseFence{}, &FenceDecodeError{Reason: "epoch is missing or 0"}
	}
	return f, nil
}

// A FenceEncodeError reports a fence that cannot be stored.
type FenceEncodeError struct{ Cause error }

func (e *FenceEncodeError) Error() string { return fmt.Sprintf("encode fence: %v", e.Cause) }
func (e *FenceEncodeError) Unwrap() error { return e.Cause }

// A FenceDecodeError reports bytes that are no fence.
type FenceDecodeError struct {
	Reason string
	Cause  error // may be nil
}

func (e *FenceDecodeError) Error() string {
	if e.Cause == nil {
		return "decode fence: " + e.Reason
	}
	return fmt.Sprintf("decode fence: %s: %v", e.Reason, e.Cause)
}

func (e *FenceDecodeError) Unwrap() error { return e.Cause }

// A FenceRecord is a new owner's fence: it moves the tip, so that no append of an
// earlier owner can succeed. Journals write it themselves when they are opened.
type FenceRecord struct {
	session event.ID
	fence   LeaseFence
}

// NewFenceRecord returns the record of a fence.
func NewFenceRecord(sessionID event.ID, fence LeaseFence) FenceRecord {
	return FenceRecord{sessionID, fence}
}

// IdempotencyID is the epoch in decimal.
func (r FenceRecord) IdempotencyID() string { return strconv.FormatUint(r.fence.Epoch, 10) }

// SessionID is the session whose owner it is.
func (r FenceRecord) SessionID() event.ID { return r.session }

// Fence returns the fence.
func (r FenceRecord) Fence() LeaseFence { return r.fence }
