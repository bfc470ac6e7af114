package journal_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// A handout is what a vector hands to its receiver, and who wrote it: ada, the
// receiver itself; bob, who is believed; eve, who is not.
type handout struct {
	t             *testing.T
	repo          ident.RepositoryID
	ada, bob, eve *ident.Key
	batches       []ingestBatch
}

func seedOf(n byte) []byte { return append([]byte{n}, make([]byte, 31)...) }

func newHandout(t *testing.T) *handout {
	t.Helper()
	repo, err := ident.RepositoryFromRoot(strings.Repeat("ab", 20))
	if err != nil {
		t.Fatal(err)
	}
	w := &handout{t: t, repo: repo}
	for i, k := range []**ident.Key{&w.ada, &w.bob, &w.eve} {
		if *k, err = ident.KeyFromSeed(seedOf(byte(i + 1))); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// event is one of k's first stream, in which it opens a session.
func (w *handout) event(k *ident.Key, seq, lamport uint64, prev *event.Event, sid string) *event.Event {
	w.t.Helper()
	h := event.Header{
		Repo: w.repo, Stream: ident.NewStream(k.Node(), k.Runtime(w.repo), "00000000000000a0"),
		Seq: seq, Lamport: lamport, At: 1_800_000_000 + int64(seq),
	}
	if prev != nil {
		h.Prev = hex.EncodeToString(prev.Hash[:])
	}
	e, err := event.Seal(k, h, opened(sid))
	if err != nil {
		w.t.Fatal(err)
	}
	return e
}

// line is the first events of k, each with the stamp 9 above its number.
func (w *handout) line(k *ident.Key, n int) (all []*event.Event) {
	var prev *event.Event
	for i := range n {
		prev = w.event(k, uint64(i+1), uint64(10+i), prev, "s"+string(rune('1'+i)))
		all = append(all, prev)
	}
	return all
}

// give hands over a batch, of events or of any text.
func (w *handout) give(events ...any) *ingestBatch {
	b := ingestBatch{}
	for _, e := range events {
		if e, ok := e.(*event.Event); ok {
			b.Events = append(b.Events, string(e.Raw))
			continue
		}
		b.Events = append(b.Events, e.(string))
	}
	w.batches = append(w.batches, b)
	return &w.batches[len(w.batches)-1]
}

func replaceOnce(t *testing.T, text, old, with string) string {
	t.Helper()
	if strings.Count(text, old) != 1 {
		t.Fatalf("%s is not once in %s", old, text)
	}
	return strings.Replace(text, old, with, 1)
}

// edited is e with old replaced in what k signs.
func (w *handout) edited(k *ident.Key, e *event.Event, old, with string) string {
	w.t.Helper()
	msg := replaceOnce(w.t, string(event.SignedBytes(e.Raw)), old, with)
	sig := hex.EncodeToString(k.Sign(ident.DomainEvent, []byte(msg)))
	return replaceOnce(w.t, msg, `,"stream":"`, `,"sig":"`+sig+`","stream":"`)
}

// sized is e with a member that makes its bytes n.
func (w *handout) sized(k *ident.Key, e *event.Event, n int) string {
	const member = `"v":1,"zzz":""`
	pad := n - len(e.Raw) - len(member) + len(`"v":1`)
	return w.edited(k, e, `"v":1`, member[:len(member)-1]+strings.Repeat("z", pad)+`"`)
}

var ingestHistories = map[string]struct {
	says string
	hand func(*handout)
}{
	"accepted": {"a stream comes in order, in two batches, and all of it is accepted", func(w *handout) {
		b := w.line(w.bob, 5)
		w.give(b[0], b[1], b[2])
		w.give(b[3], b[4])
	}},
	"duplicate": {"what is held or waits with the same bytes is a duplicate, within a batch too", func(w *handout) {
		b := w.line(w.bob, 4)
		w.give(b[0], b[0], b[1])
		w.give(b[1], b[3], b[3])
		w.give(b[3], b[0])
	}},
	"backwards": {"events of one batch are taken in the order of their stream, however they stand in it", func(w *handout) {
		b := w.line(w.bob, 4)
		w.give(b[3], b[1], b[0], b[2])
	}},
	"pending": {"what comes behind a gap waits, and what fills the gap releases it", func(w *handout) {
		b := w.line(w.bob, 5)
		w.give(b[0])
		w.give(b[2], b[4])
		w.give(b[1])
		w.give(b[3])
	}},
	"pending_first": {"a stream whose first event has not come waits whole", func(w *handout) {
		b := w.line(w.bob, 3)
		w.give(b[1], b[2])
		w.give(b[0])
	}},
	"capacity": {"256 places are waited for in a stream; what is beyond is refused", func(w *handout) {
		b := w.line(w.bob, 1)
		w.give(b[0])
		w.give(w.event(w.bob, 257, 1000, b[0], "far"), w.event(w.bob, 258, 1001, b[0], "farther"))
	}},
	"forked": {"of two events for one place the first stands; the second is forked if its author signed it, and so is what names another past", func(w *handout) {
		b := w.line(w.bob, 3)
		other := w.event(w.bob, 2, 11, b[0], "other")
		w.give(b[0], b[1])
		w.give(forged(w.t, other))
		w.give(other, w.event(w.bob, 3, 12, other, "after"))
		w.give(other, b[2])
	}},
	"forked_batch": {"of two events for one place in a batch that which stands first in it is held", func(w *handout) {
		b := w.line(w.bob, 2)
		w.give(w.event(w.bob, 1, 10, nil, "other"), b[0], b[1])
	}},
	"signature_alone": {"an event whose signature is bad waits for one that vouches for it, until the true one comes", func(w *handout) {
		b := w.line(w.bob, 2)
		w.give(b[0])
		w.give(forged(w.t, b[1]))
		w.give(b[1])
	}},
	"signature_first": {"a first event whose signature is bad waits too", func(w *handout) {
		b := w.line(w.bob, 1)
		w.give(forged(w.t, b[0]))
		w.give(b[0])
	}},
	"signature_reached": {"an event whose signature is bad is accepted when a later authentic one reaches it through prev", func(w *handout) {
		b := w.line(w.bob, 2)
		bad := forged(w.t, b[1])
		w.give(b[0])
		w.give(bad)
		w.give(w.event(w.bob, 3, 12, bad, "after"))
	}},
	"signature_together": {"it is accepted as well when it comes in one batch with the one that reaches it", func(w *handout) {
		b := w.line(w.bob, 2)
		bad := forged(w.t, b[1])
		w.give(b[0], bad, w.event(w.bob, 3, 12, bad, "after"))
	}},
	"signature_disowned": {"an event whose signature is bad is given up when an authentic one names another in its place", func(w *handout) {
		b := w.line(w.bob, 3)
		w.give(b[0])
		w.give(forged(w.t, b[1]))
		w.give(b[2])
		w.give(b[1])
	}},
	"clock_ahead": {"a stamp may be 2^24 above the clock of the receiver as it was when the heartbeat of 5 seconds began, and no more", func(w *handout) {
		one := w.event(w.bob, 1, 1<<24, nil, "at")
		two := w.event(w.bob, 2, 1<<24+1, one, "above")
		w.give(w.event(w.bob, 1, 1<<24+1, nil, "above"))
		w.give(one, two)
		w.give(two).After = 4
		w.give(two).After = 1
	}},
	"clock_behind": {"a stamp must be above those before it in its stream, also where events between have not come: they take one each at least", func(w *handout) {
		b := w.line(w.bob, 1)
		two := w.event(w.bob, 2, 20, b[0], "two")
		w.give(b[0], w.event(w.bob, 2, 10, b[0], "same"), w.event(w.bob, 4, 12, b[0], "four"))
		w.give(w.event(w.bob, 3, 20, two, "three"))
		w.give(two)
	}},
	"repository": {"an event of another repository is refused", func(w *handout) {
		here := w.repo
		w.repo = ident.RepositoryID(strings.Repeat("0f", 16))
		other := w.event(w.bob, 1, 10, nil, "elsewhere")
		w.repo = here
		w.give(other, w.line(w.bob, 1)[0])
	}},
	"untrusted": {"an event by a key that is not believed is refused; the receiver's own is believed", func(w *handout) {
		w.give(w.line(w.eve, 1)[0], w.line(w.bob, 1)[0], w.line(w.ada, 1)[0])
	}},
	"identity": {"the node of a stream is the digest of the key of its events, and seq is at least 1", func(w *handout) {
		b := w.line(w.bob, 1)[0]
		w.give(
			w.edited(w.bob, b, string(w.bob.Node()), string(w.eve.Node())),
			w.edited(w.bob, b, `"seq":1`, `"seq":0`),
		)
	}},
	"oversized": {"an event has at most 49,152 bytes", func(w *handout) {
		b := w.line(w.bob, 2)
		w.give(w.sized(w.bob, b[0], event.MaxEventBytes+1), w.sized(w.bob, b[0], event.MaxEventBytes))
	}},
	"malformed": {"what is not canonical JSON, or not the envelope of an event, is refused", func(w *handout) {
		b := w.line(w.bob, 1)[0]
		raw := string(b.Raw)
		w.give(
			"",
			"event",
			"[]",
			"{}",
			raw+"\n",
			replaceOnce(w.t, raw, `"seq":1`, `"seq": 1`),
			w.edited(w.bob, b, `,"v":1`, ``),
			w.edited(w.bob, b, `"lamport":10`, `"lamport":1e1`),
			w.edited(w.bob, b, `"lamport":10`, `"lamport":0`),
			w.edited(w.bob, b, `"lamport":10,"pk"`, `"pk"`),
			w.edited(w.bob, b, `"client":"test"`, `"client":"t\u0065st"`),
			w.edited(w.bob, b, `"client":"test"`, `"client":"test","client":"test"`),
			w.edited(w.bob, b, `"prev":""`, `"prev":"`+strings.Repeat("0", 64)+`"`),
			replaceOnce(w.t, raw, hex.EncodeToString(b.Sig), strings.ToUpper(hex.EncodeToString(b.Sig))),
		)
	}},
	"version": {"an envelope of another version is refused as such, whatever else it holds", func(w *handout) {
		b := w.line(w.bob, 1)[0]
		w.give(w.edited(w.bob, b, `"v":1`, `"v":2`), `{"lamport":"ten","v":2}`, `{"v":"1"}`, `{"v":2 }`)
	}},
	"newer": {"a body of a kind that is not known, or with a member outside its bounds, is taken like any other", func(w *handout) {
		one := w.edited(w.bob, w.event(w.bob, 1, 10, nil, "s1"), `"session_opened"`, `"session_moved"`)
		w.give(one)
		e, err := event.Parse([]byte(one))
		if err != nil {
			w.t.Fatal(err)
		}
		two := w.edited(w.bob, w.event(w.bob, 2, 11, e, "s2"), `"session":"s2"`, `"session":"s 2"`)
		w.give(two)
		if e, err = event.Parse([]byte(two)); err != nil {
			w.t.Fatal(err)
		}
		w.give(w.event(w.bob, 3, 12, e, "s3"))
	}},
	"first_wrong": {"of several things that are wrong the first in the order of the protocol is named", func(w *handout) {
		b, here := w.line(w.bob, 2), w.repo
		w.give(b[0])
		w.repo = ident.RepositoryID(strings.Repeat("0f", 16))
		elsewhere := w.event(w.eve, 1, 10, nil, "elsewhere")
		w.repo = here
		w.give(
			w.edited(w.eve, elsewhere, `"v":1`, `"v":2`),                                   // and of another repository
			w.edited(w.eve, elsewhere, string(w.eve.Node())+"-", string(w.bob.Node())+"-"), // the same
			elsewhere, // and not believed
			forged(w.t, w.event(w.eve, 1, 1<<25, nil, "far")),  // not believed, ahead, not signed
			forged(w.t, w.event(w.bob, 2, 1<<25, b[0], "far")), // ahead, not signed
			forged(w.t, w.event(w.bob, 2, 9, b[0], "low")),     // behind, not signed
			w.event(w.bob, 1, 1<<25, nil, "other"),             // in a place that is held, ahead
		)
	}},
	"streams": {"the streams of a batch do not hold each other up", func(w *handout) {
		a, b := w.line(w.ada, 3), w.line(w.bob, 3)
		w.give(b[2], a[0], b[0], a[1], a[2])
		w.give(b[1])
	}},
}
