// Package event is the signed statement of the cooperation journal: its
// envelope, the bodies of each kind, their bounds, and the limits of what
// others may send. It is pure: no I/O, no clock, no state.
//
// # Envelope
//
// An event is one JSON object in the canonical form of package canon, at most
// MaxEventBytes long:
//
//	at       integer   the author's wall clock, Unix seconds; decides nothing
//	body     object    what is said; its member kind says which kind it is
//	lamport  integer   from 1, rises strictly in a stream
//	pk       64 hex    the author's Ed25519 public key
//	prev     64 hex    hash of the stream's previous event; "" at seq 1
//	repo     32 hex    the repository
//	seq      integer   from 1, dense in a stream
//	sig      128 hex   the author's signature
//	stream   66 chars  "<node>-<runtime>-<instance>"; the node is the digest of pk
//	v        integer   1
//
// All hex is lowercase, all integers lie within ±(2^53-1). The hash of an event
// is SHA-256 of its bytes, signature included. The signed message is
// "comity-event/v1\n" and then the canonical form of the object without sig,
// which is its bytes with that member cut out. One rule verifies it: Ed25519 as
// crypto/ed25519 has it, one signature at a time, never a batch.
//
// An event is named "<stream>/<seq>", its key; so are the claim, the review
// request and the publication that it makes.
//
// # Bodies
//
// Lists are sorted without repeats: strings by their bytes, keys by stream and
// then by number. An optional member is left out when it is unsaid; it is never
// null and never empty. A required string has at least one byte. Members that a
// kind does not define are ignored, at any level, and stay in the bytes.
//
// A reader that finds a kind it does not know has an Opaque body; one that
// finds a kind it knows outside its bounds, or with a mode or verdict it does
// not know, has an Unreadable one. Both are stored, relayed and counted, so that
// a newer peer never blocks its stream. Bytes that are not the envelope are
// refused with a FormError. The visit methods are the table of members and
// bounds; docs/format-event.md prints it.
//
// # Example
//
// The session s-0123456789ab of the node whose seed is the bytes 0 to 31 ends.
// These are the signed bytes after their domain, each line break added here:
//
//	{"at":1800000660,
//	"body":{"kind":"session_closed","reason":"owner-gone","session":"s-0123456789ab"},
//	"lamport":75,
//	"pk":"03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8",
//	"prev":"308949edff77ba5ec1bc4cb68efa88bf968f8b93e454cc91fd16b7ab08428332",
//	"repo":"371b8cf8ab25e623fbca17db51b43c03",
//	"seq":12,
//	"stream":"56475aa75463474c0285df5dbf2bcab7-8664b792cc855aa1-00000000000000aa",
//	"v":1}
//
// The stored bytes have, between seq and stream,
//
//	"sig":"ba08936f2883bb7fae5b94d1102f27a3140f25884b2b8bbb90f7ec59979e61d3
//	721c97e18cffad56389edbfa602cb3d6886f5f131becd07febc0894776243c0a",
//
// and their hash, the prev of event 13, is
//
//	b482dfc61cbe746a617721a239ac8a563143a3fb02e240104aa3c0a0505b343a
//
// testdata/vectors/events holds this event and one of each other kind.
package event
