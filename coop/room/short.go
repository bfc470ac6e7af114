package room

import (
	"slices"
	"strconv"
	"strings"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// minShort is the fewest characters of an instance that a shown key has.
const minShort = 6

// short is a key as shown to people: as much of the instance part of its stream
// as tells it from the other streams held here, and its number. (Keys of one
// run have their first 67 characters in common.)
func (r *Room) short(v look, k event.Key) string {
	mine := string(k.Stream.Instance())
	n := minShort
	for s := range v.State().Streams() {
		if other := string(s.Stream.Instance()); other != mine {
			n = max(n, common(mine, other)+1)
		}
	}
	return mine[:min(n, len(mine))] + "/" + strconv.FormatUint(k.Seq, 10)
}

func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// looksLikeKey tells a key, whole or short, from a path: it is hex digits (at
// least minShort, or a whole stream), a slash and a number.
func looksLikeKey(word string) bool {
	head, seq, ok := strings.Cut(word, "/")
	if !ok || len(head) < minShort || !digits(seq) {
		return false
	}
	return strings.Trim(head, "0123456789abcdef-") == ""
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// expand finds the key that a person means.
func (r *Room) expand(v look, word string) (event.Key, error) {
	if k, err := event.ParseKey(word); err == nil {
		return k, nil
	}
	head, seq, _ := strings.Cut(word, "/")
	n, err := strconv.ParseUint(seq, 10, 53)
	if err != nil || !looksLikeKey(word) {
		return event.Key{}, api.Errorf(api.CodeUsage, "%q is not a key: want something like 3fa2c1/12", word)
	}
	var found []ident.Stream
	for s := range v.State().Streams() {
		if strings.HasPrefix(string(s.Stream.Instance()), head) {
			found = append(found, s.Stream)
		}
	}
	switch len(found) {
	case 0:
		return event.Key{}, unknownClaim(word)
	case 1:
		return event.Key{Stream: found[0], Seq: n}, nil
	}
	return event.Key{}, api.Errorf(api.CodeAmbiguous, "%q may mean any of %d runs", word, len(found)).WithHint("write more of it")
}

func sortKeys(keys []event.Key) { slices.SortFunc(keys, event.Key.Compare) }
