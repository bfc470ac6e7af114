// Package store is the one implementation of package journal, over any
// storage.Backend: a Store holds the journals of sessions, a Writer is one of
// them that is open for appends, and everything else reads.
//
// # What holds
//
//   - A session has one writer. Opening acquires its lease and then appends
//     a fence at the tip: whatever an earlier writer still sends finds another tip
//     and is refused. Before that nothing is appended.
//   - An append takes effect at the tip that the writer knows, whole or not at
//     all. If the backend cannot tell whether it did, the token in each frame
//     does; see Writer.Resolve.
//   - A failed append moves nothing: neither the tip, nor the index of ids, nor
//     what the delivery phases of a command have reached.
//   - Content that is too long for a frame is a blob, durable before the frame.
//   - Reading passes nothing over. What is damaged, missing or unknown ends it
//     with an error that names the record.
//
// # Beside the journals
//
// Of each session there are, in the backend's rows and blobs, what can be made
// anew from the journal, and is when it is missing or wrong: checkpoints of the
// index, so that opening reads the tail alone, and the row of the catalog.
//
// Package store starts a goroutine for each open Writer, which watches the
// lease, and one now and then for a checkpoint; Close waits for them.
package store
