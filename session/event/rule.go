package event

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// The rules of fields. Each returns nil or a *FieldError.

func text(kind, field, s string, least, most int) error {
	switch {
	case len(s) < least:
		return &FieldError{kind, field, "missing"}
	case len(s) > most:
		return tooLong(kind, field, len(s), most)
	case !utf8.ValidString(s):
		return &FieldError{kind, field, "not UTF-8"}
	}
	return nil
}

func tooLong(kind, field string, got, limit int) error {
	return &FieldError{kind, field, fmt.Sprintf("%d bytes, limit %d", got, limit)}
}

func needID(kind, field string, id ID) error {
	if id == "" {
		return &FieldError{kind, field, "missing"}
	}
	return mayID(kind, field, id)
}

func mayID(kind, field string, id ID) error {
	if id != "" && !id.Valid() {
		return &FieldError{kind, field, "not an id: want a UUID with lower-case digits, not all zero"}
	}
	return nil
}

// memberID is mayID of a member of a field. Its name is made only for an error:
// this is done several times for each event.
func memberID(kind, field, member string, id ID) error {
	if id == "" || id.Valid() {
		return nil
	}
	return mayID(kind, field+"."+member, id)
}

func count(kind, field string, n, least uint64) error {
	switch {
	case n < least:
		return &FieldError{kind, field, fmt.Sprintf("missing, or below %d", least)}
	case n > MaxInt:
		return &FieldError{kind, field, "above 2^53-1"}
	}
	return nil
}

func word[W comparable](kind, field string, w W, known ...W) error {
	if !slices.Contains(known, w) {
		return &FieldError{kind, field, "missing or unknown"}
	}
	return nil
}

// hexDigits refuses what is not empty and not of one of these lengths in digits.
func hexDigits(kind, field, s string, lengths ...int) error {
	if s == "" || slices.Contains(lengths, len(s)) && strings.Trim(s, "0123456789abcdef") == "" {
		return nil
	}
	return &FieldError{kind, field, fmt.Sprintf("want one of %d lower-case hexadecimal digits", slices.Clone(lengths))}
}

func needDigest(kind, field, s string) error {
	if s == "" {
		return &FieldError{kind, field, "missing"}
	}
	return hexDigits(kind, field, s, 64)
}

// CheckContent reports whether blocks can be stored under a field of a kind: nil,
// or a *FieldError.
func CheckContent(kind, field string, blocks []Block) error {
	if len(blocks) > MaxBlocks {
		return &FieldError{kind, field, fmt.Sprintf("%d blocks, limit %d", len(blocks), MaxBlocks)}
	}
	for _, b := range blocks {
		if err := b.check(kind, field); err != nil {
			return err
		}
	}
	return nil
}

func (b Block) check(kind, field string) error {
	switch b.Type {
	case BlockText, BlockThinking:
		if b != (Block{Type: b.Type, Text: b.Text}) {
			return &FieldError{kind, field, "a text has no digest, media type, name or size"}
		}
		return text(kind, field+".text", b.Text, 0, MaxEventBytes)
	case BlockFile:
		if b.Text != "" {
			return &FieldError{kind, field + ".text", "a file has none"}
		}
		return cmp.Or(
			hexDigits(kind, field+".digest", b.Digest, 64),
			text(kind, field+".media", b.Media, 0, MaxName),
			text(kind, field+".name", b.Name, 0, MaxName),
			count(kind, field+".size", b.Size, 0),
		)
	}
	return &FieldError{kind, field + ".type", "missing or unknown"}
}
