package ident

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
)

// A Domain is the line that opens every signed message of one kind, with its
// newline: "comity-<what>/v<number>\n". No domain is a prefix of another.
type Domain string

// The domains of the protocol.
const (
	DomainEvent   Domain = "comity-event/v1\n"
	DomainBeat    Domain = "comity-beat/v1\n"
	DomainHello   Domain = "comity-hello/v1\n"
	DomainWelcome Domain = "comity-welcome/v1\n"
	DomainRefusal Domain = "comity-refusal/v1\n"
	DomainCard    Domain = "comity-card/v1\n"
)

// A Key is the secret of a node. It is safe for concurrent use and never
// prints its secret: every way to format it shows the node id at most.
type Key struct {
	// secret returns the private key. A function has no content that fmt, a
	// logger or a dumper could walk into, however deep a Key lies in a value.
	secret func() ed25519.PrivateKey
	node   NodeID
}

// Generate makes a new key from the system's randomness.
func Generate() (*Key, error) {
	_, secret, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a node key: %w", err)
	}
	return keyOf(secret), nil
}

// KeyFromSeed makes the key of a 32-byte seed: for test vectors, whose seeds
// are public. A real node's key comes from LoadOrCreateKey.
func KeyFromSeed(seed []byte) (*Key, error) {
	if len(seed) != ed25519.SeedSize {
		return nil, fmt.Errorf("seed of a node key: %d bytes, want %d", len(seed), ed25519.SeedSize)
	}
	return keyOf(ed25519.NewKeyFromSeed(seed)), nil
}

func keyOf(secret ed25519.PrivateKey) *Key {
	return &Key{
		secret: func() ed25519.PrivateKey { return secret },
		node:   NodeOf(secret[ed25519.SeedSize:]),
	}
}

// Node returns the id of k's node.
func (k *Key) Node() NodeID { return k.node }

// Public returns a copy of the public key.
func (k *Key) Public() ed25519.PublicKey {
	return append(ed25519.PublicKey(nil), k.secret()[ed25519.SeedSize:]...)
}

// PublicHex returns the public key as 64 lowercase hex digits.
func (k *Key) PublicHex() string { return hex.EncodeToString(k.secret()[ed25519.SeedSize:]) }

// Sign signs msg under d.
func (k *Key) Sign(d Domain, msg []byte) []byte {
	return ed25519.Sign(k.secret(), under(d, msg, nil))
}

// Verify reports whether sig is pub's signature on msg under d, by the rule of
// crypto/ed25519, the only rule of the protocol. It never panics: a key or
// signature of another size verifies nothing.
func Verify(pub ed25519.PublicKey, d Domain, msg, sig []byte) bool {
	return VerifyParts(pub, d, msg, nil, sig)
}

// VerifyParts is Verify of a message in two pieces.
func VerifyParts(pub ed25519.PublicKey, d Domain, msg, rest, sig []byte) bool {
	return len(pub) == ed25519.PublicKeySize && ed25519.Verify(pub, under(d, msg, rest), sig)
}

func under(d Domain, msg, rest []byte) []byte {
	b := make([]byte, 0, len(d)+len(msg)+len(rest))
	return append(append(append(b, d...), msg...), rest...)
}

// Runtime returns the id of this node's daemon for repo.
func (k *Key) Runtime(repo RepositoryID) RuntimeID {
	return RuntimeID(hex.EncodeToString(k.mac("comity-runtime/v1\n" + string(repo))[:runtimeDigits/2]))
}

// Checkout returns the id of the worktree whose git folder, by its real path,
// is gitDir. Only the holder of the key can tell a path from it.
func (k *Key) Checkout(gitDir string) CheckoutID {
	return CheckoutID(hex.EncodeToString(k.mac("comity-checkout/v1\n" + gitDir)[:checkoutDigits/2]))
}

// DeriveMAC returns a 32-byte key for a use of its own on this machine, named
// by label. The same key and label give the same bytes for ever.
func (k *Key) DeriveMAC(label string) []byte { return k.mac("comity-mac/v1\n" + label) }

func (k *Key) mac(msg string) []byte {
	m := hmac.New(sha256.New, k.secret().Seed())
	m.Write([]byte(msg))
	return m.Sum(nil)
}

// String returns a text that holds the node id alone.
func (k *Key) String() string {
	if k == nil {
		return "node key (none)"
	}
	return "node key of " + string(k.node)
}

// GoString is String: %#v would print the secret.
func (k *Key) GoString() string { return k.String() }

// Format is String under every verb: %d and %x would print the secret.
func (k *Key) Format(f fmt.State, _ rune) { fmt.Fprint(f, k.String()) }

// LogValue is String.
func (k *Key) LogValue() slog.Value { return slog.StringValue(k.String()) }

// MarshalText is String.
func (k *Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// MarshalJSON is String as a JSON string.
func (k *Key) MarshalJSON() ([]byte, error) { return []byte(`"` + k.String() + `"`), nil }
