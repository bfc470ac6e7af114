package link_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/link"
	"github.com/comity-dev/comity/coop/link/linktest"
)

// Whatever is wrong with a greeting, both sides learn it, in a word that the
// refusing side signed.
func TestRefusals(t *testing.T) {
	stranger := linktest.NewStore("eve")
	for _, tt := range []struct {
		name    string
		code    link.Code
		refuser int // side
		change  func(*[2]link.Config)
	}{
		{"a stranger dials", link.CodeUntrusted, 1, func(c *[2]link.Config) { c[1].Trust = func(ident.NodeID) bool { return false } }},
		{"nobody is trusted", link.CodeUntrusted, 1, func(c *[2]link.Config) { c[1].Trust = nil }},
		{"a stranger answers", link.CodeUntrusted, 0, func(c *[2]link.Config) { c[0].Trust = nil }},
		{"another repository", link.CodeRepository, 1, func(c *[2]link.Config) {
			c[0].Card.Repo = ident.RepositoryID(strings.Repeat("ab", 16))
		}},
		{"ourselves", link.CodeSelf, 1, func(c *[2]link.Config) { c[0].Key = c[1].Key }},
		{"another channel", link.CodeChannel, 1, func(c *[2]link.Config) { c[0].Channel = []byte("elsewhere") }},
		{"a channel on one side", link.CodeChannel, 1, func(c *[2]link.Config) { c[1].Channel = []byte("here") }},
		{"meant for another", link.CodeMisaddressed, 1, func(c *[2]link.Config) { c[0].To = stranger.Key.Node() }},
		{"not admitted", link.CodeCapacity, 1, func(c *[2]link.Config) {
			c[1].Admit = func(link.Card) link.Code { return link.CodeCapacity }
		}},
		{"not admitted by the dialer", link.CodeNotActive, 0, func(c *[2]link.Config) {
			c[0].Admit = func(link.Card) link.Code { return link.CodeNotActive }
		}},
	} {
		a, b := duo()
		a.Append(3, 100)
		b.Append(3, 100)
		w := join(t, time.Hour, a, b, tt.change)
		w.settle()
		var wrong *link.ProtocolError
		if err := w.side[tt.refuser].core.Err(); !errors.As(err, &wrong) || wrong.Code != tt.code {
			t.Errorf("%s: the refusing side ended with %v, want %s", tt.name, err, tt.code)
		}
		var no *link.RefusedError
		by := []*linktest.Store{a, b}[tt.refuser].Key.Node()
		if tt.code == link.CodeMisaddressed {
			by = "" // not whom it dialled: its word is nobody's
		}
		if err := w.side[1-tt.refuser].core.Err(); !errors.As(err, &no) || no.Refusal.Code != tt.code || no.By != by {
			t.Errorf("%s: the refused side ended with %v, want %s by %s", tt.name, err, tt.code, by)
		}
		if len(a.Held()) != 1 || len(b.Held()) != 1 {
			t.Errorf("%s: events crossed", tt.name)
		}
		if w.side[0].sentOf(link.TypeMarks)+w.side[1].sentOf(link.TypeMarks) > 0 && tt.refuser == 1 {
			t.Errorf("%s: marks crossed", tt.name)
		}
		if a.Joins()+b.Joins() != 0 {
			t.Errorf("%s: a first exchange is under way", tt.name)
		}
	}
}

// A hello that was recorded gets its sender a welcome and no more.
func TestReplayedHelloGetsNoLink(t *testing.T) {
	a, b := duo()
	b.Append(1, 100)
	w := join(t, 0, a, b)
	w.settle()
	if !w.side[1].core.Up() {
		t.Fatal("no link to record")
	}
	again := join(t, 0, a, b, func(c *[2]link.Config) { c[1].Rand = rand.NewChaCha8([32]byte{99}) })
	answer := again.side[1].core
	for _, f := range w.side[0].sent { // all that the dialer ever said
		answer.Receive(0, f)
	}
	var wrong *link.ProtocolError
	if err := answer.Err(); !errors.As(err, &wrong) || wrong.Code != link.CodeReplay {
		t.Errorf("a replayed greeting ended with %v, want %s", err, link.CodeReplay)
	}
	// And a recorded welcome does not answer another hello.
	dialer := again.side[0].core
	dialer.Next(0)
	other := join(t, 0, a, b, func(c *[2]link.Config) { c[0].Rand = rand.NewChaCha8([32]byte{98}) })
	other.step(0)
	dialer.Receive(0, frame(t, other.side[1].core.Next(0)))
	if err := dialer.Err(); !errors.As(err, &wrong) || wrong.Code != link.CodeReplay {
		t.Errorf("a replayed welcome ended with %v, want %s", err, link.CodeReplay)
	}
}

// No bit of a greeting can be changed.
func TestChangedGreetingsAreRefused(t *testing.T) {
	a, b := duo()
	for step := range 3 {
		for bit := 0; bit < 8*800; bit += 37 {
			w := join(t, 0, a, b)
			for range step {
				w.step(0)
				w.step(1)
			}
			from := step % 2
			if step == 2 {
				from = 0
			}
			raw := bytes.Clone(w.side[from].core.Next(0))
			if 5+bit/8 >= len(raw) {
				break
			}
			raw[5+bit/8] ^= 1 << (bit % 8)
			to := w.side[1-from].core
			if to.Receive(0, frame(t, raw)) == nil && (to.Up() || step < 2) {
				t.Fatalf("step %d of the greeting with bit %d flipped is taken", step, bit)
			}
		}
	}
}

// An old refusal, played to a new link, ends it and is nobody's word.
func TestReplayedRefusalIsNobodysWord(t *testing.T) {
	a, b := duo()
	no := join(t, 0, a, b, func(c *[2]link.Config) { c[1].Trust = nil })
	no.step(0)
	old := frame(t, no.side[1].core.Next(0))
	w := join(t, 1, a, b)
	w.side[0].core.Next(1)
	var refused *link.RefusedError
	if err := w.side[0].core.Receive(1, old); !errors.As(err, &refused) || refused.By != "" {
		t.Errorf("an old refusal: %v, want one that nobody signed", err)
	}
}

// A refusal of our welcome is the word of whom it was made for, and of nobody else.
func TestRefusalOfAWelcomeIsItsDialersWord(t *testing.T) { refusalIsItsDialersWord(t, false) }

// Nor is the refusal of a link that is up the word of anybody but the peer.
func TestRefusalOfALinkIsThePeersWord(t *testing.T) { refusalIsItsDialersWord(t, true) }

func refusalIsItsDialersWord(t *testing.T, up bool) {
	t.Helper()
	a, b := duo()
	eve := linktest.NewStore("eve")
	for by, want := range map[*linktest.Store]ident.NodeID{a: a.Key.Node(), eve: ""} {
		w := join(t, 0, a, b)
		w.step(0)
		welcome := frame(t, w.side[1].core.Next(0))
		if up {
			w.side[0].core.Receive(0, welcome)
			w.step(0)
		}
		if w.side[1].core.Up() != up {
			t.Fatalf("the link is up: %v, want %v", !up, up)
		}
		no := frame(t, link.Refuse(by.Key, link.CodeCapacity, "", welcome))
		var refused *link.RefusedError
		if err := w.side[1].core.Receive(0, no); !errors.As(err, &refused) || refused.By != want {
			t.Errorf("refused by %s: %v, want it to be the word of %q", by.Key.Node(), err, want)
		}
	}
}

func TestNothingButGreetingsBeforeTheGreeting(t *testing.T) {
	for name, b := range samples(t) {
		w := join(t, 0, linktest.NewStore("ada"), linktest.NewStore("bob"))
		err := w.side[1].core.Receive(0, frame(t, b))
		var wrong *link.ProtocolError
		if name != "goodbye" && (!errors.As(err, &wrong) || wrong.Code != link.CodeMalformed) {
			t.Errorf("%s before the greeting: %v", name, err)
		}
	}
	a, b := duo()
	w := join(t, 0, a, b)
	w.settle()
	for _, f := range w.side[0].sent[:2] {
		w.side[1].core.Receive(0, f)
	}
	if w.side[1].core.Err() == nil {
		t.Error("a second hello passes")
	}
}

func TestGreetingMustNotLast(t *testing.T) {
	a, b := duo()
	w := join(t, 0, a, b)
	for i, s := range w.side {
		s.core.Tick(5 * time.Second)
		if s.core.Err() != nil {
			t.Errorf("side %d gave up within the time of a request", i)
		}
		s.core.Tick(5*time.Second + 1)
		if !errors.Is(s.core.Err(), link.ErrSilent) {
			t.Errorf("side %d waits for ever: %v", i, s.core.Err())
		}
	}
}

func TestUnknownFramesArePassedOver(t *testing.T) {
	a, b := duo()
	a.Append(1, 100)
	w := join(t, 0, a, b)
	for _, kind := range []link.Type{99, 32, 255} {
		w.side[1].core.Receive(0, link.Frame{Type: kind, Size: 5})
		w.settle()
	}
	agree(t, a, b)
	if n := w.side[1].core.Stats().Unknown; n != 3 {
		t.Errorf("%d unknown frames counted, want 3", n)
	}
}

// A node with several repositories reads the hello first, and refuses or goes on.
func TestHelloIsReadBeforeTheLinkIsMade(t *testing.T) {
	a, b := duo()
	w := join(t, 0, a, b)
	f := frame(t, w.side[0].core.Next(0))
	h, err := link.ParseHello(f.Body)
	if err != nil || h.Card.Repo != a.Repo || h.Card.Peer().Node != a.Key.Node() {
		t.Fatalf("the hello says %+v, %v", h, err)
	}
	var no *link.RefusedError
	refusal := frame(t, link.Refuse(b.Key, link.CodeRepository, "not served\there", f))
	if err := w.side[0].core.Receive(0, refusal); !errors.As(err, &no) || no.By != b.Key.Node() || no.Refusal.Code != link.CodeRepository {
		t.Errorf("refused with %v", err)
	}
	l, err := link.New(linktest.ConfigOf(b, false), b, func() time.Duration { return 0 })
	if err != nil {
		t.Fatal(err)
	}
	l.Receive(f)
	if err := l.Stats().Err; err != nil {
		t.Errorf("a hello that was read before ends the link: %v", err)
	}
}

// Who answers in another's place is not taken for it, though it is trusted.
func TestDialerFindsWhomItMeans(t *testing.T) {
	a, b := duo()
	eve := linktest.NewStore("eve")
	w := join(t, 0, a, b, func(c *[2]link.Config) { c[0].To = eve.Key.Node() })
	hello := frame(t, w.side[0].core.Next(0))
	card := linktest.ConfigOf(b, false).Card
	card.PK, card.Runtime = b.Key.PublicHex(), b.Key.Runtime(b.Repo)
	welcome, err := link.Signed(b.Key, link.TypeWelcome, ident.DomainWelcome, link.Welcome{
		Card: card, Hello: fmt.Sprintf("%x", sha256.Sum256(hello.Body)), Nonce: strings.Repeat("0", 32), Proto: 1, To: a.Key.Node(),
	})
	if err != nil {
		t.Fatal(err)
	}
	var wrong *link.ProtocolError
	if err := w.side[0].core.Receive(0, frame(t, welcome)); !errors.As(err, &wrong) || wrong.Code != link.CodeMisaddressed {
		t.Errorf("dialled eve, found bob: %v", err)
	}
}
