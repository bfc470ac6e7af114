package ident_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/comity-dev/comity/coop/ident"
)

// publicSeed is public: bytes 0 to 31. No node may ever use it.
func publicSeed() []byte {
	seed := make([]byte, 32)
	for i := range seed {
		seed[i] = byte(i)
	}
	return seed
}

func publicKey(t *testing.T) *ident.Key {
	t.Helper()
	k, err := ident.KeyFromSeed(publicSeed())
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestSeedHasOneLength(t *testing.T) {
	for _, n := range []int{0, 31, 33, 64} {
		if _, err := ident.KeyFromSeed(make([]byte, n)); err == nil {
			t.Errorf("KeyFromSeed of %d bytes succeeded", n)
		}
	}
}

func TestGeneratedKeysDiffer(t *testing.T) {
	a, err := ident.Generate()
	if err != nil {
		t.Fatal(err)
	}
	b, err := ident.Generate()
	if err != nil {
		t.Fatal(err)
	}
	if a.Node() == b.Node() || !a.Node().Valid() {
		t.Errorf("nodes %s and %s: want two valid, different ids", a.Node(), b.Node())
	}
	if a.Node() != ident.NodeOf(a.Public()) {
		t.Error("the node is not the digest of the public key")
	}
}

func TestSignatureBelongsToItsDomain(t *testing.T) {
	k := publicKey(t)
	msg := []byte("message")
	sig := k.Sign(ident.DomainEvent, msg)
	if !ident.Verify(k.Public(), ident.DomainEvent, msg, sig) {
		t.Fatal("a good signature does not verify")
	}
	if ident.Verify(k.Public(), ident.DomainBeat, msg, sig) {
		t.Error("verifies under another domain")
	}
	if ident.Verify(k.Public(), ident.DomainEvent, []byte("Message"), sig) {
		t.Error("verifies another message")
	}
	other, err := ident.Generate()
	if err != nil {
		t.Fatal(err)
	}
	if ident.Verify(other.Public(), ident.DomainEvent, msg, sig) {
		t.Error("verifies under another key")
	}
	for _, pub := range []ed25519.PublicKey{nil, make([]byte, 31), make([]byte, 33)} {
		if ident.Verify(pub, ident.DomainEvent, msg, sig) {
			t.Errorf("verifies under a key of %d bytes", len(pub))
		}
	}
	for _, s := range [][]byte{nil, sig[:63], append(bytes.Clone(sig), 0)} {
		if ident.Verify(k.Public(), ident.DomainEvent, msg, s) {
			t.Errorf("a signature of %d bytes verifies", len(s))
		}
	}
}

// The order of the group of Ed25519, little-endian: a signature whose second
// half has it added is the same equation in another spelling.
const groupOrder = "edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010"

// smallOrder encodes a point of order 8.
const smallOrder = "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"

func plusOrder(t *testing.T, sig []byte) []byte {
	t.Helper()
	order, err := hex.DecodeString(groupOrder)
	if err != nil {
		t.Fatal(err)
	}
	high, carry := bytes.Clone(sig), 0
	for i := range 32 {
		sum := int(high[32+i]) + int(order[i]) + carry
		high[32+i], carry = byte(sum), sum>>8
	}
	return high
}

// One rule: a verifier of batches, which must use the cofactored equation,
// would take signatures that this one refuses.
func TestVerifyHasTheRuleOfCryptoEd25519(t *testing.T) {
	k := publicKey(t)
	msg := []byte("message")
	if ident.Verify(k.Public(), ident.DomainEvent, msg, plusOrder(t, k.Sign(ident.DomainEvent, msg))) {
		t.Error("a signature with S >= L verifies")
	}
	small, err := hex.DecodeString(smallOrder)
	if err != nil {
		t.Fatal(err)
	}
	forged := append(bytes.Clone(small), make([]byte, 32)...)
	accepted := 0
	for i := range 64 {
		m := fmt.Appendf(nil, "%d", i)
		got := ident.Verify(small, ident.DomainEvent, m, forged)
		if want := ed25519.Verify(small, append([]byte(ident.DomainEvent), m...), forged); got != want {
			t.Fatalf("message %d: Verify = %v, crypto/ed25519 = %v", i, got, want)
		}
		if got {
			accepted++
		}
	}
	if accepted == 64 {
		t.Error("every forged signature under a key of small order verifies: that is the cofactored rule")
	}
}

func TestKeyNeverPrintsItsSecret(t *testing.T) {
	k := publicKey(t)
	asJSON, err := json.Marshal(struct{ K *ident.Key }{k})
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("m", "key", k, "value", *k)
	prints := []string{string(asJSON), log.String(), k.String(), k.GoString()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%X", "%T", "%p"} {
		prints = append(prints, fmt.Sprintf(verb, k), fmt.Sprintf(verb, *k), fmt.Sprintf(verb, []any{k, *k, struct{ K ident.Key }{*k}, struct{ k ident.Key }{*k}, struct{ k *ident.Key }{k}}))
	}
	// The seed is the bytes 0 to 31.
	for _, s := range prints {
		for _, secret := range []string{"00010203", "0, 1, 2, 3", "0 1 2 3", "0x0, 0x1", "000102"} {
			if strings.Contains(s, secret) {
				t.Errorf("prints the secret: %s", s)
			}
		}
	}
	if !strings.Contains(fmt.Sprintf("%v", k), string(k.Node())) {
		t.Errorf("%%v = %v, want the node in it", k)
	}
}

func TestDerivedValuesDependOnTheirInput(t *testing.T) {
	k := publicKey(t)
	other, err := ident.Generate()
	if err != nil {
		t.Fatal(err)
	}
	a, b := ident.RepositoryID(strings.Repeat("a", 32)), ident.RepositoryID(strings.Repeat("b", 32))
	seen := map[string]string{}
	for name, v := range map[string]string{
		"runtime a": string(k.Runtime(a)), "runtime b": string(k.Runtime(b)), "other's runtime a": string(other.Runtime(a)),
		"checkout a": string(k.Checkout(string(a))), "checkout b": string(k.Checkout(string(b))), "other's checkout": string(other.Checkout(string(a))),
		"mac a": hex.EncodeToString(k.DeriveMAC("a")), "mac b": hex.EncodeToString(k.DeriveMAC("b")), "other's mac": hex.EncodeToString(other.DeriveMAC("a")),
	} {
		if was, dup := seen[v]; dup {
			t.Errorf("%s and %s are both %s", name, was, v)
		}
		seen[v] = name
	}
	if n := len(k.DeriveMAC("a")); n != 32 {
		t.Errorf("DeriveMAC gives %d bytes, want 32", n)
	}
	if !k.Runtime(a).Valid() || !k.Checkout("/x").Valid() {
		t.Error("derived ids are not 16 hex digits")
	}
}
