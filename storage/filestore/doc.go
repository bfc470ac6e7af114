// Package filestore is a storage.Backend in a folder: all its ledgers, grants and
// rows are records of one log (package seglog), so that one sync serves
// whatever was written at the same time, and its blobs are files. One process
// holds a store; OpenReadOnly looks at it beside that process.
//
// # What it promises
//
// A write that returned nil is synced: it survives a loss of power. A write that
// fails before it reached the log is definite. When the log itself fails, the
// outcome of the writes in flight is open (*storage.AmbiguousError), all later
// ones are refused (storage.ErrBroken), and opening the store again resolves
// them. Grants do not expire: they end with the process, by Release, by
// Takeover, or by Close.
//
// # Files
//
//	log/             the log
//	index            a checkpoint of the index
//	blobs/<tag>/     a space: tag is that of its name, in hexadecimal
//	    space        its name
//	    <digest>     a blob: a header of 64 bytes, and the content
//	blobs/tmp/       blobs in the making; opening removes them
//
// All folders are 0700, all files 0600. Integers are little endian.
//
//	record of the log, 48 bytes, the name, the data
//	 0  1  kind: 1 record of a ledger, 2 end of a ledger, 3 grant, 4 row,
//	       5 end of a row, 6 mark
//	 1  1  zero
//	 2  2  length of the name
//	 4  4  CRC-32C of the log's incarnation, bytes 0 to 3, 8 to 47, and the name
//	 8 16  tag of the owner: the first 16 bytes of the SHA-256 of 'l', 'g' or 'r'
//	       (ledger, grant, row) and its name
//	24  8  life: the generation of the ledger, the epoch of the grant, the
//	       revision of the row
//	32  8  number of the record in its ledger
//	40  8  highest number given out when it was written
//	48     name: in the first record of a ledger's life and in all other kinds
//
// Generations, epochs and revisions come from one counter of the store, so none
// is ever given out twice, whatever is deleted. Every record carries the
// counter: an epoch is below what any record carries that its holder wrote, so
// that the loss of a grant's own record does not bring the epoch back.
//
//	index
//	 0  8  magic "cmtyidx\n"
//	 8  4  version, 1
//	12  4  CRC-32C of all that follows
//	16 16  incarnation of the log
//	32  8  c: the log up to this index is in it
//	40  8  the counter
//	48     number of ledgers; of each one tag, name, generation, tip, index of
//	       its last record, bytes of marks, marks
//	       number of rows; of each one its key, revision, index
//
// There, numbers are varints, strings have their length in front, and a mark is
// a number in the ledger and an index in the log, both less that of the mark
// before. Reading a ledger goes from mark to mark and skips what others wrote;
// a record lies less than 4 indexes behind its mark.
//
//	header of a blob
//	 0  8  magic "cmtyblb\n"
//	 8  4  version, 1
//	12  4  CRC-32C of all that follows in the header
//	16  8  when it was stored, in milliseconds since 1970 UTC
//	24  8  size of the content
//	32 32  its SHA-256
//
// # What a crash leaves
//
// An append is one batch of the log, whole or not there; its commit point is the
// log's. The index is written beside it and renamed, and nothing depends on it
// but the time that opening takes: the records behind c are read again, and what
// is in it already changes nothing. Without a good index the whole log is read.
//
// A blob is written and synced under blobs/tmp, renamed into its space, and the
// folder is synced: the commit point. The folder of a space, and its name,
// are synced before its first blob.
//
// Compact writes an index first and drops only what lies before its c. The log
// drops in ascending order, each segment durably before the next, and the end of
// a ledger or a row is dropped only in a pass that finds nothing before it:
// so no crash brings back what was ended.
//
// # Damage
//
// Damage in front of c costs the records that it hit and nothing else: they read
// as *storage.DamagedError, and the index knows the tips. Behind c, a damaged
// place may have held the last records of any ledger, whose numbers would be
// given out again. Whose they were is told by the header of a record, which has
// a checksum of its own; by the numbers that are missing in the ledgers that
// go on; or by nothing. In the last case, all that nothing behind the damage
// attests is read-only until Verify has told of it.
package filestore
