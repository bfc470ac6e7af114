// Package ident holds the identities of the cooperation wing and the bytes
// they are made of: the node's Ed25519 key, the ids derived from it, and the
// domains under which it signs. It is pure but for the key file.
//
// # Ids
//
// Every id is lowercase hex; a parser refuses any other spelling.
//
//	node        32 digits  SHA-256(public key), first 16 bytes
//	repository  32 digits  SHA-256("comity-repository/v1\nroot\n" + root commit), or
//	                       SHA-256("comity-repository/v1\ndeclared\n" + value), first 16 bytes
//	runtime     16 digits  HMAC-SHA-256(node seed, "comity-runtime/v1\n" + repository), first 8 bytes
//	checkout    16 digits  HMAC-SHA-256(node seed, "comity-checkout/v1\n" + git folder), first 8 bytes
//	instance    16 digits  random
//	run record  32 digits  random
//
// The repository enters the runtime's digest, and the root commit enters the
// repository's, as the text of its hex digits.
//
// A node is one user on one machine; a runtime is that node's daemon for one
// repository; an instance is one run of it. A stream is what one run writes:
// "<node>-<runtime>-<instance>", 66 characters. A session is named
// "<node>-<runtime>/<sid>" everywhere, whichever run speaks of it.
//
// # Signatures
//
// A signature is Ed25519 (RFC 8032) over the domain and then the message. Each
// kind of message has a domain of its own, a line that ends in a newline, so
// that a signature on one can never be presented as another. There is one rule
// of verification in the protocol: that of crypto/ed25519, one signature at a
// time. Batch and cofactored verification accept other signatures and would
// let two runtimes disagree about the same bytes.
package ident
