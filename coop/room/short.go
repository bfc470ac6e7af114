package room

import (
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
)

// minShort is the fewest characters of an instance that a shown key has.
const minShort = 6

// names are the streams held, in the order of their instances. Keys of one run
// have their first 67 characters in common, so people are shown, and may write,
// only the beginning of the instance that tells it from the others.
type names struct {
	sorted  []string // instances
	streams map[string]ident.Stream
}

func newNames() names { return names{streams: map[string]ident.Stream{}} }

func (n *names) add(s ident.Stream) {
	instance := string(s.Instance())
	if _, ok := n.streams[instance]; ok {
		return
	}
	n.streams[instance] = s
	i, _ := slices.BinarySearch(n.sorted, instance)
	n.sorted = slices.Insert(n.sorted, i, instance)
}

// fill takes in streams when there are none yet.
func (n *names) fill(streams iter.Seq[fold.StreamInfo]) {
	for s := range streams {
		instance := string(s.Stream.Instance())
		if _, ok := n.streams[instance]; !ok {
			n.streams[instance] = s.Stream
			n.sorted = append(n.sorted, instance)
		}
	}
	slices.Sort(n.sorted)
}

// keep takes out all streams but those that keep says.
func (n *names) keep(keep func(ident.Stream) bool) {
	n.sorted = slices.DeleteFunc(n.sorted, func(instance string) bool {
		gone := !keep(n.streams[instance])
		if gone {
			delete(n.streams, instance)
		}
		return gone
	})
}

// short is a key as shown to people.
func (n *names) short(k event.Key) string {
	mine := string(k.Stream.Instance())
	i, held := slices.BinarySearch(n.sorted, mine)
	digits := minShort
	if i > 0 {
		digits = max(digits, common(mine, n.sorted[i-1])+1)
	}
	if held {
		i++
	}
	if i < len(n.sorted) {
		digits = max(digits, common(mine, n.sorted[i])+1)
	}
	return mine[:min(digits, len(mine))] + "/" + strconv.FormatUint(k.Seq, 10)
}

func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// expand finds the key that a person means. unknown is the error when there is
// none.
func (n *names) expand(word string, unknown func(string) error) (event.Key, error) {
	if k, err := event.ParseKey(word); err == nil {
		return k, nil
	}
	head, seq, _ := strings.Cut(word, "/")
	number, err := strconv.ParseUint(seq, 10, 53)
	if err != nil || number == 0 || !looksLikeKey(word) {
		return event.Key{}, api.Errorf(api.CodeUsage, "%q is not a key: want something like 3fa2c1/12", word)
	}
	from, _ := slices.BinarySearch(n.sorted, head)
	to := from
	for to < len(n.sorted) && strings.HasPrefix(n.sorted[to], head) {
		to++
	}
	switch to - from {
	case 0:
		return event.Key{}, unknown(word)
	case 1:
		return event.Key{Stream: n.streams[n.sorted[from]], Seq: number}, nil
	}
	return event.Key{}, api.Errorf(api.CodeAmbiguous, "%q may mean any of %d runs", word, to-from).WithHint("write more of it")
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

func sortKeys(keys []event.Key) { slices.SortFunc(keys, event.Key.Compare) }
