// Package link is one link between two runtimes that work on one repository:
// the frames that cross it, the greeting, and what each side sends given what the
// other one holds. It stands over any stream of bytes; carriers, dialling and
// lists of peers are elsewhere.
//
// A [Core] is one end, a pure machine: frames, the time and news go in, frames
// come out. A simulation drives it step by step. A [Link] drives one over an
// io.ReadWriteCloser.
//
// # Frames
//
// A frame is
//
//	type (1 byte) | length of the body (4, big endian) | body
//
// and at most [MaxFrame] bytes long, at most [MaxGreeting] before the peer has
// proved who it is. All numbers are big endian. A type that is not known is
// passed over and counted; anything else that is not exactly as it is written
// here ends the link. Each XxxFrame type says its body.
//
// # Greeting
//
// The dialer says hello, the other side welcome, the dialer confirms. Each is
// signature (64) | canonical JSON, signed under a domain of its own. The welcome
// names the digest of the hello, the confirm that of the welcome, both the
// digest of what binds them to the carrier's channel. So each side has seen a
// signature made for this link and no replay gets one, though nobody compares
// wall clocks and nobody remembers nonces.
//
// # Exchange
//
// Each side tells all its marks once, in pieces, and then every heartbeat those
// that changed. From the peer's marks it knows what the peer lacks, and sends it
// as soon as it is there: in batches, at most [Window] of them without their
// report. What was sent counts as held, so no event crosses a link twice in one
// direction, unless its receiver refused it and asks again. The report names the streams that get no further, and the sender
// leaves those alone: until the peer's marks are past that place, or until it
// says "again". Nothing is queued: each frame is made when the one before it is
// out, of what is true then.
//
// # Example
//
// The ping with number 7:
//
//	19 00 00 00 08 00 00 00 00 00 00 00 07
//
// testdata/vectors/links has one frame of each type.
package link
