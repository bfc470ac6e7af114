// Package journal is the contract of a session journal: what one is, apart from
// where it is stored. Package session/store has the one implementation; whoever
// writes a decorator, a reader or an agent harness needs this package alone. It
// does no I/O.
//
// A session journal is the line of all that was asked of a session and all that
// happened in it. One owner at a time appends to it; everything else that shows
// or resumes the session is made from it and can be thrown away.
//
//   - A Lease says who the owner is. Its epoch rises with each owner. The first
//     record that an owner appends is a fence with that epoch: it moves the end of
//     the journal, so that whatever an earlier owner still sends does not fit any
//     more.
//   - A JournalRecord is an event, a command, one of the private records around
//     gates and commands from outside, a fence, or an OpaqueRecord of a kind that
//     a harness made up. It has an id; a Fingerprint is its content.
//   - SessionJournal, IdempotentJournal, CommittedPublicJournal and BatchJournal
//     are what it can be appended to by, each with all of the one before. Decorate
//     wraps one and keeps what it can.
//   - EventReplayer and RecordReplayer read it back, to its end or on behind it.
//   - A Frame is the record as it is stored.
//
// All errors are typed, and used as pointers. Those about a stored record name
// the ledger and the sequence.
//
// docs/session-journal.md describes the whole, with the bytes of a frame.
package journal
