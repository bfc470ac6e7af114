package journal

import "fmt"

// An OpaqueRecord is a record of a harness's own kind: the journal stores and
// returns it through the same fence, with the same idempotency, and does not look
// inside. Give the store an OpaqueKind to have bodies checked.
type OpaqueRecord struct {
	// Kind is 1 to MaxKindBytes of a-z, 0-9 and, behind the first, . - _ /. ID is
	// unique within the kind: 1 to MaxIDBytes of UTF-8. Neither is parsed.
	Kind, ID string
	// Schema is the version of the form of Body; 0 is 1.
	Schema uint16
	// Body is private: no public view has it.
	Body []byte
	// Public is what public views have; nil when they have nothing of it.
	Public []byte
	// Digest stands for the content in comparisons, if it is not zero: a record of
	// this id with another body and the same Digest is the same record.
	Digest Digest
}

// IdempotencyID is the ID.
func (r OpaqueRecord) IdempotencyID() string { return r.ID }

// An OpaqueKind is what a journal knows of one kind of opaque records.
type OpaqueKind struct {
	Name string
	// Schema is the highest version of the body's form that this program knows,
	// and the one that is written; 0 is 1. A higher one is a *NewerSchemaError,
	// on writing and on reading.
	Schema uint16
	// Check returns why a body is refused, before it is appended and when it is
	// read. nil takes all.
	Check func(schema uint16, body []byte) error
}

// OpaqueKinds are the kinds of opaque records that a journal knows. It is never
// changed. A nil *OpaqueKinds knows none, and takes all.
type OpaqueKinds struct {
	byName map[string]OpaqueKind
	closed bool
}

// NewOpaqueKinds returns the kinds of list. Opaque records of other kinds are taken
// as they are, unless closed is set: then they are an *UnknownKindError, on
// writing and on reading. The families of this package need no kind.
func NewOpaqueKinds(closed bool, list ...OpaqueKind) (*OpaqueKinds, error) {
	k := &OpaqueKinds{make(map[string]OpaqueKind), closed}
	for _, kind := range list {
		if err := checkKind(kind.Name); err != nil || kind.Name == "" {
			return nil, fmt.Errorf("kind %.80q of opaque records cannot be a name: %w", kind.Name, err)
		}
		if _, ok := k.byName[kind.Name]; ok {
			return nil, fmt.Errorf("kind %q of opaque records is there twice", kind.Name)
		}
		kind.Schema = max(kind.Schema, 1)
		k.byName[kind.Name] = kind
	}
	return k, nil
}

// check returns why a body of a kind is refused.
func (k *OpaqueKinds) check(name string, schema uint16, body []byte) error {
	if k == nil {
		return nil
	}
	kind, ok := k.byName[name]
	switch {
	case !ok && k.closed:
		return &UnknownKindError{name}
	case !ok:
		return nil
	case schema > kind.Schema:
		return &NewerSchemaError{"opaque/" + name, schema, kind.Schema}
	case kind.Check == nil:
		return nil
	}
	return kind.Check(schema, body)
}

// An UnknownKindError reports an opaque record of a kind that was not given to
// closed OpaqueKinds.
type UnknownKindError struct{ Kind string }

func (e *UnknownKindError) Error() string { return fmt.Sprintf("kind %q is not known here", e.Kind) }

// A NewerSchemaError reports a body of a later version of its form than this
// program knows.
type NewerSchemaError struct {
	Kind            string // "event", "opaque/<kind>"
	Schema, Highest uint16
}

func (e *NewerSchemaError) Error() string {
	return fmt.Sprintf("a body of %s has version %d of its form; this program reads up to %d", e.Kind, e.Schema, e.Highest)
}

// A TypedKind writes and reads values of T as opaque records.
type TypedKind[T any] struct {
	Name   string
	Schema uint16 // 0 is 1
	Encode func(T) ([]byte, error)
	Decode func(schema uint16, body []byte) (T, error)
	// Public makes the public form; nil when there is none.
	Public func(T) ([]byte, error)
}

// Kind returns what NewOpaqueKinds wants to know: a body is taken if Decode takes it.
func (k TypedKind[T]) Kind() OpaqueKind {
	return OpaqueKind{Name: k.Name, Schema: k.Schema, Check: func(schema uint16, body []byte) error {
		_, err := k.Decode(schema, body)
		return err
	}}
}

// Record returns v as a record of that id.
func (k TypedKind[T]) Record(id string, v T) (r OpaqueRecord, err error) {
	r = OpaqueRecord{Kind: k.Name, ID: id, Schema: max(k.Schema, 1)}
	if r.Body, err = k.Encode(v); err != nil {
		return OpaqueRecord{}, fmt.Errorf("encode %s %s: %w", k.Name, id, err)
	}
	if k.Public == nil {
		return r, nil
	}
	if r.Public, err = k.Public(v); err != nil {
		return OpaqueRecord{}, fmt.Errorf("make the public form of %s %s: %w", k.Name, id, err)
	}
	if r.Public == nil {
		r.Public = []byte{}
	}
	return r, nil
}

// Value returns the value that r holds; ok is false when r is of another kind.
func (k TypedKind[T]) Value(r OpaqueRecord) (v T, ok bool, err error) {
	if r.Kind != k.Name {
		return v, false, nil
	}
	if v, err = k.Decode(max(r.Schema, 1), r.Body); err != nil {
		return v, true, fmt.Errorf("decode %s %s: %w", k.Name, r.ID, err)
	}
	return v, true, nil
}
