// Package seglog is a log on disk: records of opaque bytes, appended durably
// with group commit, read by index, and dropped by rewriting. It stands on
// package vfs alone and knows nothing of what the records mean.
//
// # What it promises
//
// Every record has an index, 1, 2, 3 and so on over the whole life of the log.
// An index is never used twice and stays valid when other records are dropped.
// An append is all or nothing and is on disk when it returns nil. Readers see only
// what is on disk. Damage to what was on disk is found when it is read, is told,
// and costs no complete record before or behind it.
//
// # Files
//
// The folder of a log (0700) holds segments (0600), each named by the first index
// that it stands for, 20 digits and ".seg"; the file "lock"; files in the making,
// "*.tmp"; and "damage/", the bytes of bad places. A segment is at most 64 MiB.
// All integers are little endian, all frames begin at multiples of 8.
//
// A segment has its header at offset 0 and again at 4096; one good copy is
// enough. Frames begin at 8192.
//
//	header, 80 bytes
//	 0  8  magic  89 'S' 'E' 'G' 'L' 0d 0a 1a
//	 8  4  format version, 1
//	12  4  flags: 1 rewritten (indexes may be missing), 2 recovered
//	16 16  incarnation of the log
//	32  8  salt of the segment, random
//	40  8  first index that it stands for
//	48  8  last one, of a rewritten segment; 0: up to the next segment
//	56 20  zero
//	76  4  CRC-32C of the offset of this copy (8 bytes) and the bytes 0 to 75
//
// Magic, version and checksum keep their places in later versions: a version
// that is not known is an error and not damage.
//
//	frame, 40 bytes, the body, and zeros up to a multiple of 8
//	 0  4  magic  a3 f5 67 6c
//	 4  2  flags: 1 first of a batch, 2 last of a batch, 4 mark
//	 6  2  kind of a mark: 1 clean close, 2 idle, 3 footer; of a record 0
//	 8  8  index; of a mark the last index before it
//	16  8  synced: the highest index known to be synced when it was written
//	24  4  length of the body
//	28  4  records of the batch behind this one
//	32  4  CRC-32C of the body, xor CRC-32C of the salt
//	36  4  CRC-32C of the salt (8), the offset of the frame (8), and bytes 0 to 35
//
// The checksums bind a frame to its segment and its offset, so that neither a
// copy of it in a body nor what a block held before is taken for one. A record is
// at most 16 MiB, the frames of a batch at most 32 MiB and 4096 bytes; a batch
// is what one Append stores, and lies in one segment. Behind the last frame
// there are zeros, written ahead, in steps, so that a sync has no new blocks to
// record.
//
//	body of a footer and of a clean close
//	 0  8  last index that the segment stands for
//	 8  8  first index that is there, 0 when none is
//	16  8  records
//	24  8  p, places
//	32  8  r, rows of the table (of a clean close)
//	40 16p places: an index and the offset of its frame, 8 bytes each, about one
//	       for 32 KiB
//	 . 40r table of the segments before: first, last, first that is there,
//	       records, size of the file, 8 bytes each
//	 .  8  size of the whole frame
//	 .  8  magic  67 6c 66 6f 6f 74 65 72 ("glfooter")
//
// Such a mark ends the file, and is found from there. The body of an idle mark
// is empty.
//
// An example: the first record of a log, "hello", with the salt 01 to 08.
//
//	2000  a3 f5 67 6c 03 00 00 00  01 00 00 00 00 00 00 00  first, last; index 1
//	2010  00 00 00 00 00 00 00 00  05 00 00 00 00 00 00 00  synced 0; 5 bytes
//	2020  cd a4 f8 dc b8 9d 70 69  68 65 6c 6c 6f 00 00 00  checksums, hello
//	2030  a3 f5 67 6c 04 00 02 00  01 00 00 00 00 00 00 00  idle; behind index 1
//	2040  01 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  synced 1; empty
//	2050  81 1f 89 46 aa 5a c1 a1
//
// # Damage and the unsynced tail
//
// A checksum alone cannot tell a write that a crash has torn from a record that
// has rotted; to cut at the first bad one would throw away what was
// acknowledged. A bad, zero or missing place is damage if its segment has a
// successor or a footer, or if a later frame or mark says that its index was
// synced. Else it belongs to the unsynced tail, of which nobody was told anything:
// its complete batches are kept up to the first incomplete one, the rest is
// dropped and counted. Zeros written ahead are no frames and are followed by
// none, so they are never taken for damage.
//
// Behind a bad place, the next valid frame with an index between its neighbours
// is searched for. If only a body is bad, its length leads over it.
//
// # What a crash leaves
//
// Append: one write behind the last frame, then a sync: the commit point. Before
// it a crash leaves any part of the batch, which is the unsynced tail; after it
// the batch. A sync that failed proves nothing about the file, so the log
// is poisoned: no more writes to it, no retry. A write that found no space is
// cut off, the cut is synced, and the log goes on; if that fails it is poisoned.
//
// Next segment: the new file is written and synced under a temporary name; the
// footer of the old segment is written and synced; the new file is renamed and
// the folder synced: the commit point. Before it a crash leaves the old segment
// as the last one, with a footer or without; after it both.
//
// Recovery: the kept part of the unsynced tail goes to a new segment, marked
// recovered, synced under a temporary name, renamed, folder synced: the commit
// point. Then the old segment is cut and gets its footer. Between the two a crash
// leaves frames in the old segment that the new one has as well: those behind
// the successor's first index do not count, and the next opening cuts them. When
// nothing in the old segment is attested, the new one is renamed over it.
//
// Rewrite: the new file stands for the range of one or more neighbours. It is
// synced under a temporary name and renamed over the first of them, folder synced:
// the commit point. Before it a crash leaves the old segments; after it the new
// one and perhaps others within its range, which do not count and are removed at
// the next opening.
//
// Idle mark, clean close: one write and a sync. Nothing depends on them but the
// answer to whether a bad place is damage, and the time that opening takes.
//
// Damage that recovery finds is copied to damage/ under a temporary name and
// renamed, before anything else is changed.
package seglog
