package link

import (
	"crypto/ed25519"
	"fmt"
	"unicode/utf8"

	"github.com/comity-dev/comity/coop/ident"
)

// Bounds of a card.
const (
	MaxName      = 64 // bytes
	MaxVersion   = 32 // bytes
	MaxFeatures  = 16
	MaxEndpoints = 8
	MaxEndpoint  = 64 // bytes
)

// A Card says who a runtime is. It proves nothing by itself: it lies in what is
// signed.
type Card struct {
	PK        string             `json:"pk"` // 64 hex digits; the node is its digest
	Repo      ident.RepositoryID `json:"repo"`
	Runtime   ident.RuntimeID    `json:"runtime"`
	Instance  ident.InstanceID   `json:"instance"` // of this run of the program
	Fold      int                `json:"fold"`     // equal fold versions promise equal state
	Name      string             `json:"name,omitzero"`
	Version   string             `json:"version,omitzero"`   // of the program
	Features  []string           `json:"features,omitempty"` // words
	Endpoints []string           `json:"endpoints,omitempty"`
}

// Peer is the runtime that c names.
func (c Card) Peer() ident.Runtime {
	return ident.Runtime{Node: ident.NodeOf(c.public()), ID: c.Runtime}
}

// public is the key, nil when it is none.
func (c Card) public() ed25519.PublicKey {
	pub := make(ed25519.PublicKey, ed25519.PublicKeySize)
	if !ident.Unhex(pub, c.PK) {
		return nil
	}
	return pub
}

// check says what is wrong with c, "" when nothing is.
func (c Card) check() string {
	switch {
	case c.public() == nil:
		return "pk: want 64 hex digits"
	case !c.Repo.Valid() || !c.Runtime.Valid() || !c.Instance.Valid():
		return "repo, runtime or instance: want hex digits"
	case c.Fold < 1:
		return "fold: want an integer from 1"
	case !isLine(c.Name, MaxName) || !isLine(c.Version, MaxVersion):
		return fmt.Sprintf("name or version: want lines of at most %d and %d bytes", MaxName, MaxVersion)
	case len(c.Features) > MaxFeatures || len(c.Endpoints) > MaxEndpoints:
		return fmt.Sprintf("want at most %d features and %d endpoints", MaxFeatures, MaxEndpoints)
	}
	for _, f := range c.Features {
		if !isWord(f) {
			return "features: want words"
		}
	}
	for _, e := range c.Endpoints {
		if e == "" || !isLine(e, MaxEndpoint) {
			return fmt.Sprintf("endpoints: want lines of 1 to %d bytes", MaxEndpoint)
		}
	}
	return ""
}

// isLine reports whether s is at most limit bytes of UTF-8 without control
// characters.
func isLine(s string, limit int) bool {
	if len(s) > limit || !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if r < 0x20 || r >= 0x7f && r < 0xa0 {
			return false
		}
	}
	return true
}
