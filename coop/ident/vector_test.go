package ident_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/comity-dev/comity/coop/ident"
)

var update = flag.Bool("update", false, "write the vectors anew; a changed vector is a broken format")

// idVector is a value of each id and what it is made of.
type idVector struct {
	Seed         string            `json:"seed"` // public: bytes 0 to 31
	PublicKey    string            `json:"public_key"`
	Node         ident.NodeID      `json:"node"`
	Repositories []repositoryMade  `json:"repositories"`
	Runtimes     []runtimeMade     `json:"runtimes"`
	Checkouts    []checkoutMade    `json:"checkouts"`
	Signatures   []signatureVector `json:"signatures"`
}

type repositoryMade struct {
	How   string             `json:"how"`
	Value string             `json:"value"`
	ID    ident.RepositoryID `json:"id"`
}

type runtimeMade struct {
	Repository ident.RepositoryID `json:"repository"`
	ID         ident.RuntimeID    `json:"id"`
	Text       string             `json:"text"`
}

type checkoutMade struct {
	GitFolder string           `json:"git_folder"`
	ID        ident.CheckoutID `json:"id"`
}

// signatureVector says whether a signature is one, by the rule of the protocol.
type signatureVector struct {
	About     string       `json:"about"`
	PublicKey string       `json:"public_key"`
	Domain    ident.Domain `json:"domain"`
	Message   string       `json:"message"`
	Signature string       `json:"signature"`
	Good      bool         `json:"good"`
}

func TestIDVectors(t *testing.T) {
	k := publicKey(t)
	v := idVector{Seed: hex.EncodeToString(publicSeed()), PublicKey: k.PublicHex(), Node: k.Node()}
	for _, oid := range []string{strings.Repeat("ab", 20), strings.Repeat("ab", 32)} {
		id, err := ident.RepositoryFromRoot(oid)
		if err != nil {
			t.Fatal(err)
		}
		v.Repositories = append(v.Repositories, repositoryMade{"root", oid, id})
		v.Runtimes = append(v.Runtimes, runtimeMade{id, k.Runtime(id), ident.Runtime{Node: k.Node(), ID: k.Runtime(id)}.String()})
	}
	for _, value := range []string{"example.org/project", "café", strings.Repeat("ab", 20)} {
		id, err := ident.RepositoryDeclared(value)
		if err != nil {
			t.Fatal(err)
		}
		v.Repositories = append(v.Repositories, repositoryMade{"declared", value, id})
	}
	for _, path := range []string{"/src/project/.git", "/src/project/.git/worktrees/fix", `C:\src\project\.git`} {
		v.Checkouts = append(v.Checkouts, checkoutMade{path, k.Checkout(path)})
	}
	v.Signatures = signatures(t, k)

	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("../../testdata/vectors", "ids.json")
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n")), b.Bytes()) {
		t.Errorf("%s moved: the ids are fixed\ngot  %s\nwant %s", path, b.Bytes(), want)
	}
}

func signatures(t *testing.T, k *ident.Key) []signatureVector {
	msg := "message"
	sig := k.Sign(ident.DomainEvent, []byte(msg))
	all := []signatureVector{
		{"good", k.PublicHex(), ident.DomainEvent, msg, hex.EncodeToString(sig), true},
		{"another domain", k.PublicHex(), ident.DomainBeat, msg, hex.EncodeToString(sig), false},
		{"S with the group order added", k.PublicHex(), ident.DomainEvent, msg, hex.EncodeToString(plusOrder(t, sig)), false},
	}
	// A key and R of small order with S = 0: by the cofactored rule every
	// message verifies, by this one only where 8 divides what is hashed.
	forged := smallOrder + strings.Repeat("00", 32)
	var took, refused bool
	for _, m := range []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16", "17", "18", "19", "20"} {
		good := verifyHex(t, smallOrder, ident.DomainEvent, m, forged)
		if good && !took || !good && !refused {
			all = append(all, signatureVector{"key and R of order 8, S = 0", smallOrder, ident.DomainEvent, m, forged, good})
		}
		took, refused = took || good, refused || !good
	}
	all = append(all, spelledTwice()...)
	for _, s := range all {
		if got := verifyHex(t, s.PublicKey, s.Domain, s.Message, s.Signature); got != s.Good {
			t.Errorf("%s: Verify = %v, want %v", s.About, got, s.Good)
		}
	}
	return all
}

// spelledTwice are keys and R in encodings that RFC 8032 does not decode, with S = 0:
// a key is taken in each encoding of its point, R is compared with the bytes of the
// one that is written.
func spelledTwice() []signatureVector {
	const (
		one      = "0100000000000000000000000000000000000000000000000000000000000000" // y = 1: the neutral point
		oneSign  = "0100000000000000000000000000000000000000000000000000000000000080" // x = 0 with sign 1
		onePrime = "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f" // y = p + 1
		minus    = "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f" // y = -1: the point of order 2
		minSign  = "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
		two      = "0200000000000000000000000000000000000000000000000000000000000000" // y = 2: no point
	)
	of := func(about, pub, r, msg string, good bool) signatureVector {
		return signatureVector{about, pub, ident.DomainEvent, msg, r + strings.Repeat("00", 32), good}
	}
	return []signatureVector{
		of("key and R the neutral point, S = 0", one, one, "0", true),
		of("the key spelled y = p + 1", onePrime, one, "0", true),
		of("the key spelled x = 0 with sign 1", oneSign, one, "0", true),
		of("the key y = -1, x = 0 with sign 1", minSign, minus, "0", true),
		of("the key y = -1, x = 0 with sign 1, and R of the other parity", minSign, one, "0", false),
		of("R spelled y = p + 1", one, onePrime, "0", false),
		of("R spelled x = 0 with sign 1", one, oneSign, "0", false),
		of("key and R both spelled y = p + 1", onePrime, onePrime, "0", false),
		of("a key that is no point", two, one, "0", false),
	}
}

func verifyHex(t *testing.T, pub string, d ident.Domain, msg, sig string) bool {
	t.Helper()
	p, err := hex.DecodeString(pub)
	if err != nil {
		t.Fatal(err)
	}
	s, err := hex.DecodeString(sig)
	if err != nil {
		t.Fatal(err)
	}
	return ident.Verify(p, d, []byte(msg), s)
}
