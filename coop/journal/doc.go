// Package journal is one repository's cooperation journal on this machine: the
// one place where events are written, kept, read back and folded.
//
// It stands over internal/seglog, which makes records durable, and coop/fold,
// which makes a state of events. It has one lock. Under it an own write is
// decided, numbered, stamped, signed and queued ([Journal.Decide]), and under it
// an event that is durable enters the fold, on the one path that every event
// takes, whoever wrote it. Nobody waits for the disk under the lock.
//
// What holds for own events, however many callers share a sync:
//
//   - The order of their numbers is the order in the log is the order in which
//     the fold sees them.
//   - Between its numbering and its sync an event is *pending*: decisions see it
//     ([View.Pending]), the fold, pages and followers do not.
//   - Numbers of a batch that the log proves not to be on disk (a full disk) are
//     given out again. After any other failed write the stream ends, the journal
//     is read-only, and reopening it begins a new run with a new stream.
//
// # Records
//
// A record of the log is
//
//	type (1 byte) | version (1) | HMAC-SHA-256 (32) | payload
//
// The key of the HMAC comes from the node's seed and the repository, and covers
// type, version and payload: it says that this node checked what it stored, so
// that a reload need not check signatures again. Type 1 is an event, its payload
// the event's own bytes. Type 2 is a local row, which is never replicated:
//
//	op (1 byte: 1 put, 2 delete) | length of kind (1) | length of key (2) | kind | key | value
//
// with the key's length little endian and the value to the end. Type 3 is the
// latest beats heard, and type 5 an event whose author signed two histories; docs
// of the formats have their bytes. A type that is not known is kept and counted.
// A version that is not known makes the journal read-only.
//
// # Starts
//
// [Open] reads every record and folds every event. A clean [Journal.Close] leaves an
// image of what came of that; where it is exactly of this log, program, limits and
// trust, the next Open takes it, and reads the log for damage alone.
//
// # Others
//
// What others write comes in through [Journal.Ingest], one batch at a time: judged
// under the lock, but for signatures; queued behind and before own writes; applied
// once it is synced. [Journal.Marks] and [Journal.Missing] say what is held and
// what a peer lacks, [Journal.Beat], [Journal.MergeMarks] and [Journal.Liveness]
// who lives. No call needs a link: whoever has one carries these values.
package journal
