package event

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/comity-dev/comity/internal/canon"
)

// MaxKind bounds the name of a kind, in bytes.
const MaxKind = 64

// A Kind is what is known of one kind of events: its place in the model and its
// codec. NewKind makes one.
type Kind struct {
	Name       string
	Version    uint64 // newest version of the body's schema, from 1
	Class      Class
	Visibility Visibility
	Least      Level // how deep the coordinates must reach
	Most       Level // and how deep they may

	decode func(body []byte) (Body, error)
	check  func(Body) error
	public func(Header, Body) Body // nil: a body is public as it is
}

// Rules are those of a kind whose bodies are values of B. The zero Rules are those
// of an enduring, public kind anywhere in a session, whose bodies are all valid
// and public as they are.
type Rules[B Body] struct {
	Version    uint64 // 0 means 1
	Class      Class
	Visibility Visibility
	Least      Level // AtNone means AtSession
	Most       Level // AtNone means AtStep
	// Check returns what is wrong with a body, a *FieldError if it can; nil
	// finds nothing wrong. It bounds the body's fields: an encoded event is
	// bounded by MaxEventBytes in any case.
	Check func(B) error
	// Public returns what a public view may hold of a body; nil is all of it.
	Public func(Header, B) B
}

// NewKind returns the kind whose bodies are values of the struct B. B's Kind must
// return the same on every value; package json (version 2, github.com/go-json-experiment/json)
// says how B's fields are written. A field that is added later is omitted when it
// is zero, and Version rises; a field is never removed and never gets another meaning.
func NewKind[B Body](r Rules[B]) Kind {
	var zero B
	k := Kind{Name: zero.Kind(), Version: max(r.Version, 1), Class: r.Class, Visibility: r.Visibility, Least: max(r.Least, AtSession), Most: r.Most}
	if k.Most == AtNone {
		k.Most = AtStep
	}
	k.decode = func(body []byte) (Body, error) {
		var b B
		if err := canon.Read(body, &b); err != nil {
			return nil, refuse(k.Name, err)
		}
		return b, nil
	}
	k.check = func(b Body) error {
		own, ok := b.(B)
		if !ok {
			return &FieldError{k.Name, "body", fmt.Sprintf("is a %T, want %T", b, zero)}
		}
		if r.Check == nil {
			return nil
		}
		return r.Check(own)
	}
	if r.Public != nil {
		k.public = func(h Header, b Body) Body { return r.Public(h, b.(B)) } // check has seen that it is one
	}
	return k
}

// Kinds is a registry: the kinds of this package and those of a harness. The nil
// *Kinds has those of this package alone. It never changes and is safe for
// concurrent use.
type Kinds struct {
	byName map[string]Kind
}

// NewKinds returns a registry with the kinds of this package and own ones. The
// name of an own kind has a dot, so that it never meets one of this package's:
// "acme.plan_agreed". Each part is lower-case letters, digits and "_", and begins
// with a letter; the whole has at most MaxKind bytes.
func NewKinds(own ...Kind) (*Kinds, error) {
	all := maps.Clone(builtin)
	for _, k := range own {
		switch _, twice := all[k.Name]; {
		case !validName(k.Name) || !strings.Contains(k.Name, "."):
			return nil, fmt.Errorf("kind %.80q: want lower-case words with a dot between them, at most %d bytes", k.Name, MaxKind)
		case twice:
			return nil, fmt.Errorf("kind %s: there twice", k.Name)
		case k.decode == nil:
			return nil, fmt.Errorf("kind %s: not made by NewKind", k.Name)
		case k.Least > k.Most || k.Most > AtStep:
			return nil, fmt.Errorf("kind %s: its coordinates reach from level %d to %d", k.Name, k.Least, k.Most)
		case k.Visibility != Public && k.Visibility != Internal || k.Class != Enduring && k.Class != Ephemeral:
			return nil, fmt.Errorf("kind %s: unknown visibility or class", k.Name)
		case k.Version > MaxInt:
			return nil, errors.New("kind " + k.Name + ": version out of range")
		}
		all[k.Name] = k
	}
	return &Kinds{all}, nil
}

// Lookup returns the kind of that name.
func (ks *Kinds) Lookup(name string) (Kind, bool) {
	k, ok := ks.table()[name]
	return k, ok
}

// All returns every kind in the order of the names.
func (ks *Kinds) All() []Kind {
	table := ks.table()
	all := make([]Kind, 0, len(table))
	for _, name := range slices.Sorted(maps.Keys(table)) {
		all = append(all, table[name])
	}
	return all
}

func (ks *Kinds) table() map[string]Kind {
	if ks == nil {
		return builtin
	}
	return ks.byName
}

func validName(s string) bool {
	if len(s) > MaxKind {
		return false
	}
	for word := range strings.SplitSeq(s, ".") {
		if word == "" || word[0] < 'a' || word[0] > 'z' {
			return false
		}
		for i := range len(word) {
			if c := word[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
				return false
			}
		}
	}
	return true
}
