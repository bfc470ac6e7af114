// Package natsstore is a storage.Backend over NATS JetStream: any number of
// processes on any number of machines share one store, which a server or
// a cluster of servers keeps. It stands on package storage and on nats.go.
//
// # What it promises
//
// A write that returned nil is as durable as the server is told to be
// (storage.Replicas):
//
//   - With one replica it is in the server's file. A server syncs its files every
//     two minutes unless it is told otherwise, so a loss of power may take what
//     was acknowledged since. Set sync_interval: always (server.Options.SyncAlways
//     when it is embedded) where that must not be.
//   - With three replicas it is in the files of two servers at least, and
//     survives the loss of one for good; a loss of power of all of them may take
//     as much as it may take of one.
//
// Options.Replicas is for the streams that Open makes. Those that are there stay
// as they are: their limits and replicas are the operator's.
//
// An append is refused unless its ledger's last message on the server is the one
// that the caller expects, so at most one append ever succeeds at a tip, whoever
// believes to hold what lease.
//
// A write whose answer does not come is sent again under the same message id,
// until it is answered, the caller's context ends, or Options.Timeout is over.
// Then it is an *storage.AmbiguousError if any of the attempts may have reached
// the server, and the caller resolves it as package storage says. A cancelled
// write is ambiguous in the same way. ErrUnavailable means that no attempt
// reached a server that could store it. ErrNoSpace means that a limit of the
// server, the account or the stream is reached; the streams refuse new
// messages then, and never drop old ones. A Delete needs room for one small
// message.
//
// What is acknowledged to this Store is seen by every later call on it. A
// server that was cut off from its cluster, and does not know yet that it leads
// no more, may show another Store a tip that is a little old; what is
// appended on such knowledge is refused. A ledger whose acknowledged records
// a server has lost is not to be read or written through the Store that knows
// of them: its calls wait for a server that has them, and say so.
//
// # Leases
//
// A grant is a message that the server removes after Options.LeaseTTL, by the
// server's clock, unless its holder has renewed it, which it does each third of
// that time. The epoch is the sequence number of the grant in its stream, which
// never goes back. A holder that could not renew within nine tenths of the
// time, by its own monotonic clock, has lost. That clock stands still while
// a machine sleeps: a holder that wakes up learns of its loss when it renews,
// which is within a third of the time, and until then only the expected tip
// keeps it from writing.
//
// # What a server must have
//
// Version 2.12 or later, and a max_payload of 1 MiB and 16 KiB at least (the
// default is 1 MiB): a record of 1 MiB is one message. Records of up to 8 MiB
// are taken when max_payload allows them.
//
// # Format
//
// A store named N is four streams. In subjects and keys "=" stands for the "."
// of a name; a name has none, so that this can be undone.
//
//	N_ledgers    N.l.<name>            records, and the end of an earlier life
//	KV_N_rows    $KV.N_rows.<key>      the row; a bucket that tools can show
//	KV_N_leases  $KV.N_leases.<name>   the grant, renewed; with a time to live
//	N_blobs      N.b.<space>.<digest>  what a blob is: the id of its content
//	             N.c.<id>              content, in chunks
//
// Each message has the header "Comity: kind a b crc": a letter, two decimal
// numbers, and eight hexadecimal digits, the CRC-32C of the subject, a line feed,
// "kind a b", a line feed, and the data.
//
//	r  record         a: generation of the ledger, b: number
//	p  records        a: generation of the ledger, b: number of the last one; the
//	                  data is the length of each, a varint, in front of it
//	e  end of ledger  a: generation that ended, b: its tip
//	v  row            a: 0, b: 0
//	g  grant          a: epoch, 0 in the message that makes it, b: 0
//	b  blob           a: size, b: number of chunks
//	c  chunk          a: number, from 1, b: 0
//	x  removed        a row, grant or blob; the server forgets it after a minute
//
// For example, the second record of the first life of the ledger "a", with the
// data "hello", is on the subject N.l.a with the header "Comity: r 0 2 238ef0b2",
// which is the sum of "N.l.a\nr 0 2\nhello".
//
// The generation of a ledger is the stream's sequence number of the end before
// it, 0 for the first. An end is stored and rolls up its subject in one step:
// all earlier messages of the subject are removed. The records of a batch are
// one message, or, beyond 1 MiB, an atomic batch of the server. If a record was
// stored twice, which the server should not do, the first one counts.
//
// A blob is there with its message b, which is published last. Chunks without
// one are left by a Put that died; Sweep removes them.
package natsstore
