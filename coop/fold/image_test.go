package fold_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
)

func imageOf(t fataler, s *fold.State) []byte {
	t.Helper()
	image, err := s.AppendImage(nil)
	if err != nil {
		t.Fatal(err)
	}
	return image
}

func restored(t fataler, image []byte) *fold.State {
	t.Helper()
	s, err := fold.Restore(image)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A state and what is made of its image are the same objects, and go on alike:
// whatever comes, also what was lost, and what is taken back.
func TestImageIsTheState(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := drawHistory(rt, t, 60, true)
		steps := h.interleave(rt, "order")
		at := rapid.IntRange(0, len(steps)).Draw(rt, "image after")
		s := fold.New()
		for _, x := range steps[:at] {
			x.apply(s)
		}
		undo(rt, h, "undone before", s)
		image := imageOf(rt, s)
		back := restored(rt, image)
		clear(image) // nothing of it is in use
		same(rt, "restored", s, back)
		if again := imageOf(rt, back); !bytes.Equal(again, imageOf(rt, s)) {
			rt.Fatal("the image of what was restored is another one")
		}
		for i, x := range steps[at:] {
			want, got := x.apply(s), x.apply(back)
			if d := cmp.Diff(want, got, equate); d != "" {
				rt.Fatalf("event %d behind the image changes something else:\n%s", i, d)
			}
		}
		undo(rt, h, "undone after", s, back)
		h.mustEqual(rt, s, back)
		same(rt, "gone on", s, back)
	})
}

// undo takes back the end of some streams of all of the same states.
func undo(rt *rapid.T, h *history, label string, all ...*fold.State) {
	for _, id := range rapid.SliceOfNDistinct(rapid.SampledFrom(h.streams), 0, 2, rapid.ID[ident.Stream]).Draw(rt, label) {
		from := rapid.Uint64Range(1, 8).Draw(rt, "from")
		for _, s := range all {
			s.Undo(id, from)
		}
	}
}

func same(rt *rapid.T, when string, a, b *fold.State) {
	rt.Helper()
	if d := fold.Differs(a, b); d != "" {
		rt.Fatalf("%s: %s", when, d)
	}
}

// Every word that an event can have is in the image.
func TestImageHasEveryWord(t *testing.T) {
	w := newWriter(t, 1)
	a, b := w.stream(0, 1), w.stream(0, 2)
	yes, commit, tree := true, strings.Repeat("c0", 20), strings.Repeat("d1", 20)
	s := fold.New()
	say := func(st ident.Stream, body event.Body) event.Key {
		e := w.write(st, body)
		s.Apply(e)
		return e.Key()
	}
	info := open("s", '1').Info
	info.By, info.Host, info.Worker, info.Branch, info.Head, info.Dirty = "ada", "desk", "main", "trunk", commit, &yes
	info.Intent, info.Issue, info.Task, info.Context = "parse", "#1", "t-1", "a page"
	say(a, event.SessionOpened{Info: info})
	claim := say(a, event.ClaimAcquired{Session: "s", Scope: set(t, "dir:a", "glob:b/*.go"), Mode: event.ModeCheckout, Intent: "read", Issue: "#2"})
	say(b, open("t", '1'))
	fence := say(b, event.ClaimAcquired{
		Session: "t", Scope: set(t, "path:a/b.go"), Mode: event.ModeExclusive, Intent: "write", Issue: "#3",
		Fences: []event.Key{claim}, Breaks: []event.Key{claim}, Reason: "it hangs",
	})
	say(a, event.ClaimReleased{Claim: claim, Session: "s", Reason: "fenced", Fence: &fence, By: "bob"})
	text := "# where it stands"
	handover := say(a, event.HandoverPublished{Session: "s", To: "bob", Handover: event.Handover{
		ID: event.HandoverID(text), Body: text, Task: "t-1", Issue: "#1", Milestone: "m", Branch: "trunk", Head: commit,
		CreatedAt: "2026-01-02T03:04:05Z", Name: "a name", Files: []string{"a.go", "b.go"},
	}})
	say(b, event.HandoverDeclined{Handover: event.HandoverID(text), Publications: []event.Key{handover}, Session: "t", Reason: "busy"})
	asked := say(a, event.ReviewRequested{
		Session: "s", Subject: "look", Scope: set(t, "dir:a"), Branch: "trunk", Commit: commit, Tree: tree, Reviewer: "t", Body: "all of it", Issue: "#1",
	})
	say(b, event.ReviewAnswered{Request: asked, Session: "t", Verdict: event.VerdictCommented, Note: "fine", Commit: commit, Tree: tree})

	back := restored(t, imageOf(t, s))
	if d := fold.Differs(s, back); d != "" {
		t.Error(d)
	}
	if want, got := s.Form(), back.Form(); !bytes.Equal(want, got) {
		t.Errorf("what stands differs:\n%s", cmp.Diff(string(want), string(got)))
	}
}

// What Restore is given may be anything.
func TestDamagedImageIsRefusedOrHarmless(t *testing.T) {
	s, m := fold.New(), newBulk(t, 3)
	m.fill(t, s, 60)
	image := imageOf(t, s)
	for n := range image {
		if _, err := fold.Restore(image[:n]); err == nil {
			t.Errorf("%d of %d bytes are taken", n, len(image))
		}
		for bit := range 8 {
			image[n] ^= 1 << bit
			fold.Restore(image) // must not panic
			image[n] ^= 1 << bit
		}
	}
}

func FuzzRestore(f *testing.F) {
	s, m := fold.New(), newBulk(f, 3)
	m.fill(f, s, 200)
	f.Add(imageOf(f, s))
	f.Add(imageOf(f, fold.New()))
	f.Fuzz(func(t *testing.T, image []byte) { fold.Restore(image) })
}

// One operation is the making of a state of 100,000 events from its image. "x-fold" is
// how much faster that is than folding them, parsed.
func BenchmarkRestore(b *testing.B) {
	const n = 100_000
	s, m := fold.New(), newBulk(b, 64)
	start := time.Now()
	m.fill(b, s, n)
	folding := time.Since(start)
	start = time.Now()
	image := imageOf(b, s)
	writing := time.Since(start)
	b.ReportAllocs()
	for b.Loop() {
		restored(b, image)
	}
	b.ReportMetric(float64(folding)/(float64(b.Elapsed())/float64(b.N)), "x-fold")
	b.ReportMetric(float64(len(image))/n, "B/event")
	b.ReportMetric(float64(writing.Milliseconds()), "ms/image")
}
