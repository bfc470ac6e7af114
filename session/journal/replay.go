package journal

import (
	"context"
	"fmt"

	"github.com/comity-dev/comity/session/event"
)

// A ReplayRequest says what to read. The zero LoopID stands for all loops; with
// one, events of the session as a whole and those of this loop are returned.
type ReplayRequest struct {
	SessionID event.ID
	LoopID    event.ID
	From      StartPos
	// Follow goes on behind the last record: Next waits for more instead of
	// returning io.EOF. No record is left out or returned twice where those that
	// were there meet those that come.
	Follow bool
}

// An EventReplayer reads the events of sessions. Which of them, the
// implementation says: the public ones alone, or the internal ones too. What is
// no event is passed over, but read: a record that cannot be read ends the
// replay, whatever it is.
type EventReplayer interface {
	// Open begins a replay. A session that is not there has no records, which is
	// no error. The error is a *FollowUnsupportedError when Follow is asked of
	// what cannot follow.
	Open(ctx context.Context, req ReplayRequest) (EventCursor, error)
}

// A RecordReplayer reads all records of sessions, in their order. With a LoopID
// it leaves out events and commands of other loops.
type RecordReplayer interface {
	Open(ctx context.Context, req ReplayRequest) (RecordCursor, error)
}

// An EventCursor is one replay. A replay that does not follow ends where the
// journal ended when it was opened. It is for one reader; Close alone may be
// called beside Next.
type EventCursor interface {
	// Next returns the next event and its sequence. It returns io.EOF at the end
	// and after Close, and else the first thing that cannot be read: never is a
	// record passed over because it is damaged, missing or not known, and nothing
	// comes in its place. The error tells its sequence. After an error that is
	// ctx's, Next goes on where it was; every other one is returned again.
	Next(ctx context.Context) (ev event.Event, seq uint64, err error)
	// Close ends the replay and may be called any number of times.
	Close() error
}

// A RecordCursor is one replay of records. See EventCursor.
type RecordCursor interface {
	Next(ctx context.Context) (rec JournalRecord, seq uint64, err error)
	Close() error
}

// A FollowUnsupportedError reports that what was opened cannot be followed.
type FollowUnsupportedError struct {
	Stream string // the ledger
}

func (e *FollowUnsupportedError) Error() string {
	return fmt.Sprintf("journal %s can be read and not followed", e.Stream)
}

// A ReplayReadError reports that the store did not give a record back: it was
// not reached, or says that the record is damaged.
type ReplayReadError struct {
	Subject string // the ledger
	Seq     uint64 // of the record that would have been next
	Cause   error
}

func (e *ReplayReadError) Error() string {
	return fmt.Sprintf("read record %d of %s: %v", e.Seq, e.Subject, e.Cause)
}

func (e *ReplayReadError) Unwrap() error { return e.Cause }

// A ReplayDecodeError reports a record that was read and is not understood. The
// cause tells which way: a *FrameError (damaged), a *NewerFrameError or an
// *UnknownFamilyError (whole, of a newer build), an *OrderError, or the error of
// the codec of what is in the frame.
type ReplayDecodeError struct {
	Subject string
	Seq     uint64
	Cause   error
}

func (e *ReplayDecodeError) Error() string {
	return fmt.Sprintf("record %d of %s cannot be read: %v", e.Seq, e.Subject, e.Cause)
}

func (e *ReplayDecodeError) Unwrap() error { return e.Cause }

// An OrderError reports a whole frame in a place where none of its kind can be:
// before the first fence, of an epoch that is not that of the fence before it,
// behind another frame than the one it was written behind.
type OrderError struct{ Detail string }

func (e *OrderError) Error() string { return "frame in the wrong place: " + e.Detail }

// A BlobUnavailableError reports a record whose content is stored outside of
// the journal and is not there, or cannot be had.
type BlobUnavailableError struct {
	Subject string
	Seq     uint64
	Blob    Digest
	Cause   error
}

func (e *BlobUnavailableError) Error() string {
	return fmt.Sprintf("record %d of %s: its content, blob %x, cannot be read: %v", e.Seq, e.Subject, e.Blob, e.Cause)
}

func (e *BlobUnavailableError) Unwrap() error { return e.Cause }

// A BlobIntegrityError reports a record whose content, stored outside of the
// journal, is not what the record says.
type BlobIntegrityError struct {
	Subject           string
	Seq               uint64
	Blob              Digest // as the record says
	Got               Digest // zero when it was not read to its end
	WantSize, GotSize uint64
}

func (e *BlobIntegrityError) Error() string {
	return fmt.Sprintf("record %d of %s: its content, blob %x of %d bytes, is damaged (%d bytes, digest %x)",
		e.Seq, e.Subject, e.Blob, e.WantSize, e.GotSize, e.Got)
}

// A BodyTooLargeError reports a record whose content is larger than this reader
// takes. It was not fetched.
type BodyTooLargeError struct {
	Subject   string
	Seq       uint64
	Size, Max uint64
}

func (e *BodyTooLargeError) Error() string {
	return fmt.Sprintf("record %d of %s: its content has %d bytes, this reader takes %d", e.Seq, e.Subject, e.Size, e.Max)
}
