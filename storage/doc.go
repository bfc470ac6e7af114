// Package storage is the ground floor under the session wing: four small
// contracts, each of which a backend can be written from by its comments alone.
//
//   - Ledger: named sequences of records, appended to only at the expected tip
//   - Leaser: one holder of a name at a time, with epochs that only rise
//   - KV: small rows, written by compare-and-set
//   - Blobs: large content, stored under its own digest
//
// A Backend is all four over one store. What is in it is opaque to it: it knows
// nothing of sessions. Package storagetest holds the suite that every backend
// passes. This package is a leaf: values, errors and interfaces, no I/O.
//
// # What holds for all of them
//
// All methods are safe for concurrent use. A write that returns nil is as durable
// as the backend's Traits say. A write that returns an error is in one of two
// states, and the error tells which:
//
//   - *AmbiguousError: the outcome is not known. It may have happened, may not,
//     and may yet happen. The next section says how to find out.
//   - anything else is definite: nothing was written, now or later.
//
// A context bounds the wait of the caller. When it ends before a write was
// handed to the store, the error wraps the context's cause and is definite;
// when it ends afterwards, a backend either waits for the outcome or returns an
// *AmbiguousError. It never calls a write failed of which it does not know
// that.
//
// # After an ambiguous append
//
// An append takes effect at its expected tip or never. So once any record has
// taken that place, nothing more can come of it: read the record behind the
// expected tip and see whose it is. Callers put a random token into each record
// for this. While the place is empty, append again at the same expected tip: if
// that succeeds, the first one never happened; if it is a *ConflictError,
// read the place again.
package storage
