package link

import (
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/comity-dev/comity/coop/ident"
)

// Greeting takes three messages. The hello says who dials; the welcome is over
// the hello's digest, and so was made for it; the confirm is over the welcome's.
// Each side has then seen a signature that no replay can hold, without a look at
// anybody's wall clock and without a memory of nonces: a hello that is replayed
// gets a welcome, and no further.

func (c *Core) greet() error {
	nonce := make([]byte, nonceDigits/2)
	if _, err := io.ReadFull(c.cfg.Rand, nonce); err != nil {
		return fmt.Errorf("nonce: %w", err)
	}
	c.nonce = hex.EncodeToString(nonce)
	if !c.cfg.Dialer {
		return nil
	}
	c.stage = dialling
	return c.say(TypeHello, ident.DomainHello, Hello{
		Card: c.cfg.Card, Channel: channelOf(c.cfg.Channel), Nonce: c.nonce, ProtoMin: ProtoMin, ProtoMax: ProtoMax, To: c.cfg.To,
	})
}

func (c *Core) say(t Type, d ident.Domain, v any) error {
	frame, err := signed(c.cfg.Key, t, d, v)
	if err != nil {
		return err
	}
	c.said = digest(frame[headerBytes:])
	c.ready = append(c.ready, frame)
	return nil
}

func (c *Core) takeGreeting(f Frame) error {
	switch {
	case f.Type == TypeHello && c.stage == answering:
		return c.takeHello(f.Body)
	case f.Type == TypeWelcome && c.stage == dialling:
		return c.takeWelcome(f.Body)
	case f.Type == TypeConfirm && c.stage == proving:
		return c.takeConfirm(f.Body)
	}
	return malformed("greeting", fmt.Sprintf("type %d out of its place", f.Type))
}

func (c *Core) takeHello(raw []byte) error {
	c.heard = digest(raw)
	h, err := ParseHello(raw)
	if err != nil {
		return err
	}
	if h.ProtoMax < ProtoMin || h.ProtoMin > ProtoMax {
		return &ProtocolError{CodeProtocol, fmt.Sprintf("%d to %d, this build speaks %d to %d", h.ProtoMin, h.ProtoMax, ProtoMin, ProtoMax)}
	}
	if err := c.judge(h.Card, h.Channel, h.To); err != nil {
		return err
	}
	c.hello = h
	c.stage = proving
	return c.say(TypeWelcome, ident.DomainWelcome, Welcome{
		Card: c.cfg.Card, Channel: channelOf(c.cfg.Channel), Clock: c.replica.Clock(), Hello: c.heard, Nonce: c.nonce,
		Proto: min(h.ProtoMax, ProtoMax), To: h.Card.Peer().Node,
	})
}

func (c *Core) takeWelcome(raw []byte) error {
	c.heard = digest(raw)
	w, err := parseWelcome(raw)
	switch {
	case err != nil:
		return err
	case w.Hello != c.said:
		return &ProtocolError{CodeReplay, "a welcome to another hello"}
	case w.Proto < ProtoMin || w.Proto > ProtoMax:
		return &ProtocolError{CodeProtocol, fmt.Sprintf("%d, this build speaks %d to %d", w.Proto, ProtoMin, ProtoMax)}
	}
	if err := c.judge(w.Card, w.Channel, w.To); err != nil {
		return err
	}
	if found := w.Card.Peer().Node; c.cfg.To != "" && found != c.cfg.To {
		return &ProtocolError{CodeMisaddressed, "dialled " + string(c.cfg.To) + ", found " + string(found)}
	}
	if err := c.say(TypeConfirm, DomainConfirm, Confirm{Clock: c.replica.Clock(), Welcome: c.heard}); err != nil {
		return err
	}
	c.greeted(w.Card, w.Proto, w.Clock, len(raw))
	return nil
}

func (c *Core) takeConfirm(raw []byte) error {
	c.heard = digest(raw)
	confirm, err := parseConfirm(raw, c.hello.Card.public())
	switch {
	case err != nil:
		return err
	case confirm.Welcome != c.said:
		return &ProtocolError{CodeReplay, "a confirm of another welcome"}
	case !c.cfg.Trust(c.hello.Card.Peer().Node): // it may have changed since the hello
		return c.untrusted()
	}
	c.greeted(c.hello.Card, min(c.hello.ProtoMax, ProtoMax), confirm.Clock, len(raw))
	return nil
}

// judge decides whether a peer that signed for itself gets a link.
func (c *Core) judge(card Card, channel string, to ident.NodeID) error {
	node := card.Peer().Node
	switch {
	case card.PK == c.cfg.Card.PK:
		return &ProtocolError{CodeSelf, "our own key"}
	case channel != channelOf(c.cfg.Channel):
		return &ProtocolError{CodeChannel, "signed for another channel"}
	case card.Repo != c.cfg.Card.Repo:
		return &ProtocolError{CodeRepository, "not this repository"}
	case c.cfg.Trust == nil || !c.cfg.Trust(node):
		return c.untrusted()
	case to != "" && to != c.cfg.Key.Node():
		return &ProtocolError{CodeMisaddressed, "meant for another node"}
	}
	if c.cfg.Admit != nil {
		if code := c.cfg.Admit(card); code != "" {
			return &ProtocolError{code, "not admitted"}
		}
	}
	return nil
}

func (c *Core) untrusted() error {
	return &ProtocolError{CodeUntrusted, "not on the list of " + string(c.cfg.Key.Node())}
}

// greeted opens the link: the first exchange begins. The last word of the greeting has
// so many bytes and answers ours, which tells something of the way.
func (c *Core) greeted(card Card, proto int, clock uint64, size int) {
	c.answered(c.size+size, c.now-c.made)
	c.stage, c.peer, c.stats.Proto = up, card, proto
	if clock > 0 {
		c.replica.Welcome(clock)
	}
	c.join(c.replica.Joining(card.Peer()))
	c.news, c.tellDue, c.first = true, true, true
	c.beatDue, c.pingDue = true, true
	c.lastPulse = c.now
	c.listen()
	if c.cfg.Up != nil {
		c.cfg.Up(card)
	}
}

// refusal is a signed no.
func (c *Core) refusal(code Code, detail string) []byte {
	return refuse(c.cfg.Key, code, detail, c.heard)
}

// Refuse returns the frame that refuses a hello for which there is no Core: a
// node that serves several repositories does not serve the one that is asked for.
func Refuse(k *ident.Key, code Code, detail string, hello Frame) []byte {
	return refuse(k, code, detail, digest(hello.Body))
}

func refuse(k *ident.Key, code Code, detail, re string) []byte {
	frame, err := signed(k, TypeRefusal, ident.DomainRefusal, Refusal{
		Code: code, Detail: line(detail), PK: k.PublicHex(), ProtoMin: ProtoMin, ProtoMax: ProtoMax, Re: re,
	})
	if err != nil {
		return nil // unreachable: the detail is a line
	}
	return frame
}

// line makes a detail fit to be sent.
func line(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < 0x20 || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	return strings.ToValidUTF8(s[:min(len(s), maxDetail)], "")
}

// takeRefusal believes who signed it when it answers our latest greeting: an old
// one that somebody replays does not.
func (c *Core) takeRefusal(raw []byte) error {
	r, by, err := parseRefusal(raw)
	if err != nil {
		return err
	}
	expected := c.cfg.To
	switch c.stage {
	case proving:
		expected = c.hello.Card.Peer().Node
	case up:
		expected = c.peer.Peer().Node
	}
	if r.Re != c.said || expected != "" && by != expected || !slices.Contains([]stage{dialling, up, proving}, c.stage) {
		by = ""
	}
	return &RefusedError{Refusal: r, By: by}
}
