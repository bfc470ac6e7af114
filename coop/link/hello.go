package link

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/internal/canon"
)

// The versions of the protocol that this build speaks.
const (
	ProtoMin = 1
	ProtoMax = 1
)

// DomainConfirm opens the signed message of a confirm.
const DomainConfirm ident.Domain = "comity-confirm/v1\n"

// A Hello begins a link: who dials, and whom.
type Hello struct {
	Card     Card         `json:"card"`
	Channel  string       `json:"channel,omitzero"` // 64 hex digits, or none
	Nonce    string       `json:"nonce"`            // 32 hex digits
	ProtoMax int          `json:"proto_max"`
	ProtoMin int          `json:"proto_min"`
	To       ident.NodeID `json:"to,omitzero"` // unsaid when the dialer does not know whom it will find
}

// A Welcome answers a hello.
type Welcome struct {
	Card    Card         `json:"card"`
	Channel string       `json:"channel,omitzero"`
	Clock   uint64       `json:"clock"` // the highest stamp that the runtime has seen; 0 untold
	Hello   string       `json:"hello"` // hash of the hello's body, 64 hex digits
	Nonce   string       `json:"nonce"`
	Proto   int          `json:"proto"` // the version that is spoken
	To      ident.NodeID `json:"to"`
}

// A Confirm proves that the hello was made for this welcome: it is the dialer's
// first word that no replay can hold.
type Confirm struct {
	Clock   uint64 `json:"clock"`
	Welcome string `json:"welcome"` // hash of the welcome's body
}

// A Refusal says why there is no link, or no more.
type Refusal struct {
	Code     Code   `json:"code"`
	Detail   string `json:"detail,omitzero"`
	PK       string `json:"pk"` // of who refuses
	ProtoMax int    `json:"proto_max"`
	ProtoMin int    `json:"proto_min"`
	Re       string `json:"re,omitzero"` // hash of the body of the greeting that is refused
}

const (
	nonceDigits  = 32
	digestDigits = 64
	maxDetail    = 512
)

// The body of a greeting is signature (64) and canonical JSON. What is signed is
// the domain of its type and that JSON.

func signed(k *ident.Key, t Type, d ident.Domain, v any) ([]byte, error) {
	text, err := canon.Marshal(v)
	if err != nil {
		return nil, err
	}
	return seal(append(append(begin(t), k.Sign(d, text)...), text...)), nil
}

// open reads the JSON of a greeting into v; the signature is checked by verified.
func open(what string, raw []byte, v any) error {
	if len(raw) > MaxGreeting-headerBytes {
		return &ProtocolError{Code: CodeOversized, Detail: what}
	}
	if len(raw) < ed25519.SignatureSize {
		return malformed(what, "cut short")
	}
	if err := canon.Unmarshal(raw[ed25519.SignatureSize:], v); err != nil {
		return malformed(what, err.Error())
	}
	return nil
}

func verified(pub ed25519.PublicKey, d ident.Domain, raw []byte) bool {
	return ident.Verify(pub, d, raw[ed25519.SignatureSize:], raw[:ed25519.SignatureSize])
}

// digest names a greeting by its body.
func digest(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// channelOf is what greetings say of the channel whose binding is given.
func channelOf(binding []byte) string {
	if len(binding) == 0 {
		return ""
	}
	return digest(binding)
}

// ParseHello reads the body of a hello and checks its form and its signature. A
// node that serves several repositories learns from it which one is asked for.
func ParseHello(raw []byte) (Hello, error) {
	var h Hello
	if err := open("hello", raw, &h); err != nil {
		return h, err
	}
	switch wrong := h.Card.check(); {
	case wrong != "":
		return h, malformed("hello", wrong)
	case !ident.IsHex(h.Nonce, nonceDigits) || h.Channel != "" && !ident.IsHex(h.Channel, digestDigits):
		return h, malformed("hello", "nonce or channel: want hex digits")
	case h.ProtoMin < 1 || h.ProtoMax < h.ProtoMin:
		return h, malformed("hello", "want 1 <= proto_min <= proto_max")
	case h.To != "" && !h.To.Valid():
		return h, malformed("hello", "to: want a node")
	case !verified(h.Card.public(), ident.DomainHello, raw):
		return h, &ProtocolError{Code: CodeSignature, Detail: "hello"}
	}
	return h, nil
}

func parseWelcome(raw []byte) (Welcome, error) {
	var w Welcome
	if err := open("welcome", raw, &w); err != nil {
		return w, err
	}
	switch wrong := w.Card.check(); {
	case wrong != "":
		return w, malformed("welcome", wrong)
	case !ident.IsHex(w.Nonce, nonceDigits) || w.Channel != "" && !ident.IsHex(w.Channel, digestDigits):
		return w, malformed("welcome", "nonce or channel: want hex digits")
	case !ident.IsHex(w.Hello, digestDigits) || !w.To.Valid():
		return w, malformed("welcome", "hello or to: want hex digits")
	case w.Clock > event.MaxInt:
		return w, malformed("welcome", "clock: out of its bounds")
	case !verified(w.Card.public(), ident.DomainWelcome, raw):
		return w, &ProtocolError{Code: CodeSignature, Detail: "welcome"}
	}
	return w, nil
}

func parseConfirm(raw []byte, pub ed25519.PublicKey) (Confirm, error) {
	var c Confirm
	if err := open("confirm", raw, &c); err != nil {
		return c, err
	}
	switch {
	case !ident.IsHex(c.Welcome, digestDigits) || c.Clock > event.MaxInt:
		return c, malformed("confirm", "welcome or clock: out of its bounds")
	case !verified(pub, DomainConfirm, raw):
		return c, &ProtocolError{Code: CodeSignature, Detail: "confirm"}
	}
	return c, nil
}

// parseRefusal also tells who signed it, "" when the signature is not good.
func parseRefusal(raw []byte) (r Refusal, by ident.NodeID, err error) {
	if err := open("refusal", raw, &r); err != nil {
		return r, "", err
	}
	pub := Card{PK: r.PK}.public()
	switch {
	case !isWord(string(r.Code)) || !isLine(r.Detail, maxDetail) || pub == nil:
		return r, "", malformed("refusal", "code, detail or pk: out of its bounds")
	case r.Re != "" && !ident.IsHex(r.Re, digestDigits):
		return r, "", malformed("refusal", "re: want hex digits")
	case verified(pub, ident.DomainRefusal, raw):
		by = ident.NodeOf(pub)
	}
	return r, by, nil
}
