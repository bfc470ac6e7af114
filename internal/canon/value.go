package canon

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Marshal returns the canonical form of v, a value that JSON can write: the
// names and rules of its fields are those of package json's version 2. A float,
// an integer out of range or a string that is not UTF-8 is an error. It costs the
// least where the fields of structs are declared in the order of their names.
func Marshal(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("canonical JSON: %w", err)
	}
	if Check(b) == nil {
		return b, nil
	}
	// Numbers stay as they were printed, so that Check sees one that would change.
	err = (*jsontext.Value)(&b).Canonicalize(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false))
	if err != nil {
		return nil, fmt.Errorf("canonical JSON: %w", err)
	}
	if err := Check(b); err != nil {
		return nil, err
	}
	return b, nil
}

// Append appends what Marshal returns to dst. On an error it returns dst as it was.
func Append(dst []byte, v any) ([]byte, error) {
	b, err := Marshal(v)
	if err != nil {
		return dst, err
	}
	return append(dst, b...), nil
}

// Unmarshal reads b into v when b is canonical; else it returns an *Error and
// leaves v alone. Members that v has no field for are ignored.
func Unmarshal(b []byte, v any) error {
	if err := Check(b); err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("canonical JSON: %w", err)
	}
	return nil
}
