package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/internal/pack"
	"github.com/comity-dev/comity/internal/seglog"
)

// stopped is a machine with some history, of bob too, and the image of its stop.
func stopped(t *testing.T) (m *machine, image []byte, before shownState) {
	t.Helper()
	m = lasting(t, "ada")
	bob, eve := keyOf(t, "bob"), keyOf(t, "eve")
	m.cfg.Trust = trust(bob)
	j := m.start()
	m.claim(j, "s1", "a")
	m.append(j, event.HandoverPublished{Session: "s1", Handover: event.Handover{ID: event.HandoverID("text"), Body: "text"}})
	bobs, eves := m.line(bob, "b", 3), m.line(eve, "e", 2)
	m.ingest(j, bobs...)
	m.cfg.Trust = trust(bob, eve)
	if err := j.SetTrust(t.Context(), m.cfg.Trust); err != nil {
		t.Fatal(err)
	}
	m.ingest(j, eves...)
	m.cfg.Trust = trust(bob)
	if err := j.SetTrust(t.Context(), m.cfg.Trust); err != nil {
		t.Fatal(err)
	}
	if image = imageOf(t, j); image == nil {
		t.Fatal("no image")
	}
	return m, image, show(j)
}

// wantWay reopens m and holds that it went this way and lost nothing.
func wantWay(t *testing.T, m *machine, image []byte, want ImageUse, before shownState) *Journal {
	t.Helper()
	j, use := m.reopened(image)
	if use != want {
		t.Errorf("image %s, want %s", use, want)
	}
	if s := show(j); s.Digest != before.Digest || s.History != before.History {
		t.Errorf("the state is %+v, want %+v", s, before)
	}
	if _, err := j.place.fsys.Stat(j.place.file()); err == nil {
		t.Error("the image is still there")
	}
	return j
}

// resealed is an image with another binding, sealed by its writer.
func resealed(t *testing.T, m *machine, image []byte, change func(*binding)) []byte {
	t.Helper()
	o, err := openImage(image)
	if err != nil {
		t.Fatal(err)
	}
	change(&o.bound)
	c := pack.NewWriter([]byte(imageMagic))
	c.Part(o.bound.pack)
	for _, piece := range [][]byte{o.parts, o.state, o.kept} {
		c.Bytes(&piece)
	}
	j := newJournal(m.cfg, m.log, m.clock)
	return j.imageSum(c.Written(), c.Written())
}

func TestImageIsTakenOnceByTheJournalThatItIsOf(t *testing.T) {
	m, image, before := stopped(t)
	wantWay(t, m, image, ImageTaken, before)
	wantWay(t, m, resealed(t, m, image, func(*binding) {}), ImageTaken, before)
	wantWay(t, m, nil, ImageNone, before)
}

// What an image is bound to is broken piece by piece: each time the journal is made of
// its events, and has all of them.
func TestImageOfAnythingElseIsNotTaken(t *testing.T) {
	bound := func(change func(*binding)) func(*machine, []byte) []byte {
		return func(m *machine, image []byte) []byte { return resealed(m.t, m, image, change) }
	}
	same := func(change func(*machine)) func(*machine, []byte) []byte {
		return func(m *machine, image []byte) []byte { change(m); return image }
	}
	for _, tt := range []struct {
		name   string
		change func(*machine, []byte) []byte
		want   ImageUse
	}{
		{"another program", bound(func(b *binding) { b.program = "that" }), ImageProgram},
		{"a program that cannot be told", bound(func(b *binding) { b.program = "" }), ImageProgram},
		{"another repository", bound(func(b *binding) { b.repo += "x" }), ImageOtherLog},
		{"another incarnation", bound(func(b *binding) { b.incarnation = "00" }), ImageOtherLog},
		{"an earlier end", bound(func(b *binding) { b.end-- }), ImageOtherLog},
		{"another last record", bound(func(b *binding) { b.last[31] ^= 1 }), ImageOtherLog},
		{"a log of another incarnation", same(func(m *machine) { m.log.incarnation[0]++ }), ImageOtherLog},
		{"a record behind it", same(func(m *machine) { m.put(RecordRow, row{"k", "k", []byte("v")}.encode(), true) }), ImageOtherLog},
		{"another record at the end", same(func(m *machine) {
			m.log.recs = m.log.recs[:len(m.log.recs)-1]
			m.put(RecordRow, row{"k", "k", []byte("v")}.encode(), true)
		}), ImageOtherLog},
		{"an event less", same(func(m *machine) {
			for n, rec := range m.log.recs {
				if RecordType(rec[0]) == RecordEvent && bytes.Contains(rec, []byte("handover")) {
					m.log.recs[n] = []byte{}
				}
			}
		}), ImageOtherLog},
		{"other limits", same(func(m *machine) { m.cfg.Limits.Pending++ }), ImageLimits},
		{"nobody believed", same(func(m *machine) { m.cfg.Trust = nil }), ImageTrust},
		{"more believed", same(func(m *machine) { m.cfg.Trust = trust(keyOf(m.t, "bob"), keyOf(m.t, "eve")) }), ImageTrust},
		{"damage", same(func(m *machine) {
			m.log.damage = append(m.log.damage, seglog.Damage{Segment: "x", Reason: "test"})
		}), ImageDamagedLog},
		{"the key of somebody else", func(m *machine, image []byte) []byte {
			other := *m
			other.cfg.Key = keyOf(m.t, "bob")
			return resealed(m.t, &other, image, func(*binding) {})
		}, ImageUnsealed},
		{"who observes wants each event", same(func(m *machine) { m.cfg.Observe = func(View, Arrival, fold.Changes) {} }), ImageNotWanted},
		{"who observes cannot use it", same(func(m *machine) {
			m.cfg.Observe = func(View, Arrival, fold.Changes) {}
			m.cfg.Recall = func(View, []byte) error { return errors.New("no") }
		}), ImageNotRecalled},
		{"nothing of it", func(*machine, []byte) []byte { return []byte{} }, ImageMalformed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, image, _ := stopped(t)
			image = tt.change(m, image)
			byEvents, _ := m.copied().reopened(nil)
			wantWay(t, m, image, tt.want, show(byEvents))
		})
	}
}

// A log that ends before where it ended at the stop has lost records without a trace;
// only an image of this very log, sealed by this node, says so.
func TestImageTellsOfALogThatWasCut(t *testing.T) {
	m, image, _ := stopped(t)
	if j, _ := m.copied().reopened(image); j.Health().Shortened != 0 {
		t.Errorf("%d records of a whole log are gone", j.Health().Shortened)
	}
	m.log.recs = m.log.recs[:len(m.log.recs)-2]
	forged := slices.Clone(image)
	forged[len(forged)-1] ^= 1
	other := resealed(t, m, image, func(b *binding) { b.incarnation = "00" })
	for _, tt := range []struct {
		name  string
		image []byte
		want  uint64
	}{{"its own", image, 2}, {"one of another log", other, 0}, {"one that is not sealed", forged, 0}, {"none", nil, 0}} {
		j, use := m.copied().reopened(tt.image)
		if got := j.Health().Shortened; use == ImageTaken || got != tt.want {
			t.Errorf("%s: image %s, %d records are gone, want %d", tt.name, use, got, tt.want)
		}
	}
}

// Also whom nothing is held of counts: who was only heard by a beat, believed or not.
func TestImageNamesWhoWasOnlyHeard(t *testing.T) {
	m := lasting(t, "ada")
	m.cfg.Trust = trust(keyOf(t, "bob"))
	j := m.start()
	m.claim(j, "s1", "a")
	o := m.origin(keyOf(t, "bob"), session("b"))
	if !told(j, o.beat(), 0) {
		t.Fatal("the beat is no news")
	}
	believed := imageOf(t, j)
	if err := j.SetTrust(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if len(j.aside) != 1 {
		t.Fatalf("%d are kept aside, want bob", len(j.aside))
	}
	aside := imageOf(t, j)
	for _, tt := range []struct {
		name   string
		image  []byte
		trust  func(ident.NodeID) bool
		want   ImageUse
		beaten bool // bob is known
	}{
		{"believed and still so", believed, m.cfg.Trust, ImageTaken, true},
		{"believed and no more", believed, nil, ImageTrust, false},
		{"not believed and still so", aside, nil, ImageTaken, false},
		{"not believed and again", aside, m.cfg.Trust, ImageTrust, false},
	} {
		m.cfg.Trust = tt.trust
		j, use := m.reopened(tt.image)
		if known := j.lives.byStream[o.stream()] != nil; use != tt.want || known != tt.beaten {
			t.Errorf("%s: image %s, want %s; bob is known: %t, want %t", tt.name, use, tt.want, known, tt.beaten)
		}
	}
}

// No byte of an image can be another one, or missing, without its being noticed.
func TestEveryByteOfAnImageCounts(t *testing.T) {
	m, image, before := stopped(t)
	if len(image) > 20_000 {
		t.Errorf("%d bytes of so little", len(image))
	}
	for i := range image {
		bad := slices.Clone(image)
		bad[i] ^= 1 << (i % 8)
		if j, use := m.reopened(bad); use == ImageTaken {
			t.Fatalf("byte %d of %d was another one, and it was taken", i, len(image))
		} else if i%97 == 0 && show(j).Digest != before.Digest {
			t.Fatalf("byte %d: the state differs", i)
		}
		if _, use := m.reopened(image[:i]); use == ImageTaken {
			t.Fatalf("%d bytes of %d were taken", i, len(image))
		}
	}
}

// A journal in which anything is amiss leaves no image.
func TestImageIsLeftOnlyWhereAllIsWell(t *testing.T) {
	for _, tt := range []struct {
		name string
		harm func(*machine, *Journal)
	}{
		{"it is read-only", func(_ *machine, j *Journal) { j.ended = ErrNewerFormat }},
		{"damage", func(m *machine, _ *Journal) { m.log.damage = append(m.log.damage, seglog.Damage{Segment: "x"}) }},
		{"an event is lost", func(_ *machine, j *Journal) { j.heads[j.own.stream].whole-- }},
		{"a record of an unknown type", func(_ *machine, j *Journal) { j.health.count(99) }},
		{"a record that we did not seal", func(_ *machine, j *Journal) { j.health.BadMACs++ }},
		{"a record of a later version", func(_ *machine, j *Journal) { j.health.Newer++ }},
		{"an event was refused", func(_ *machine, j *Journal) { j.health.refuse(RefusedChain) }},
		{"the end of a stream may be lost", func(_ *machine, j *Journal) { j.health.suspect(j.own.stream, 9) }},
		{"our stream has a second writer", func(_ *machine, j *Journal) { j.forsake() }},
		{"our key has a second user", func(_ *machine, j *Journal) { j.second(j.lives.byStream[j.own.stream]) }},
		{"what was dropped is still on disk", func(_ *machine, j *Journal) { j.dead = []uint64{1} }},
		{"a stream was let back and did not come", func(m *machine, j *Journal) {
			j.tombs.put(&tomb{stream: m.streamOf(keyOf(m.t, "bob")), returned: true}, 9)
		}},
		{"the program cannot be told", func(_ *machine, j *Journal) { j.program = "" }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := lasting(t, "ada")
			m.cfg.Trust = trust(keyOf(t, "bob"))
			j := m.start()
			m.claim(j, "s1", "a")
			if image := imageOf(t, j); image == nil {
				t.Fatal("no image while all is well")
			}
			tt.harm(m, j)
			if j.well() {
				if _, err := j.image(); err == nil {
					t.Error("it left an image")
				}
			}
		})
	}
	if imageOf(t, lasting(t, "ada").start()) != nil {
		t.Error("an empty journal left an image")
	}
}

// What Keep gave comes back by Recall, once the state is there, and Observe hears of
// none of it; when Recall cannot use it, Observe hears of all.
func TestObserverIsToldByRecallOrByEachEvent(t *testing.T) {
	for _, fails := range []bool{false, true} {
		m, _, _ := stopped(t)
		heard, recalled := 0, ""
		m.cfg.Observe = func(View, Arrival, fold.Changes) { heard++ }
		m.cfg.Keep = func(v View) []byte { return []byte(v.State().Digest(nil)) }
		m.cfg.Recall = func(v View, kept []byte) error {
			recalled = string(kept)
			if v.State().Digest(nil) != recalled || v.Clock() == 0 || heard > 0 {
				t.Errorf("recalled %q with the state %q, the clock %d and %d events", kept, v.State().Digest(nil), v.Clock(), heard)
			}
			if fails {
				return errors.New("no")
			}
			return nil
		}
		j, _ := m.copied().reopened(nil)
		events := heard
		if events == 0 || recalled != "" {
			t.Fatalf("without an image it heard of %d events and recalled %q", events, recalled)
		}
		heard = 0
		_, use := m.reopened(imageOf(t, j))
		switch {
		case recalled == "":
			t.Error("nothing was recalled")
		case fails && (use != ImageNotRecalled || heard != events):
			t.Errorf("image %s; it heard of %d events of %d", use, heard, events)
		case !fails && (use != ImageTaken || heard != 0):
			t.Errorf("image %s; it heard of %d events", use, heard)
		}
	}
}

// What an earlier run heard makes nobody live, and in another boot says nothing of
// when that was.
func TestImageMakesNobodyLive(t *testing.T) {
	for _, boot := range []string{"boot", "another", "set back"} {
		m := lasting(t, "ada")
		m.cfg.Trust = trust(keyOf(t, "bob"))
		j := m.start()
		o := m.origin(keyOf(t, "bob"), session("b"))
		m.ingest(j, o.last)
		told(j, o.beat(), 0)
		m.clock.Advance(time.Second)
		wantLiveness(t, j, o.stream(), Live)
		image := imageOf(t, j)
		switch boot {
		case "another":
			m.clock.Reboot(boot)
		case "set back": // a machine that was, to before it took the measure
			m.clock.Reboot(m.clock.BootID())
		}
		j, use := m.reopened(image)
		wantLiveness(t, j, o.stream(), Unknown)
		l := j.lives.byStream[o.stream()]
		if use != ImageTaken || l.heard || l.measured != (boot == "boot") || told(j, o.beat(), 0) {
			t.Errorf("boot %q, image %s: life = %+v; the same beat must be no news", boot, use, *l)
		}
	}
}

// What was measured of a dropped stream counts in that boot, and not before it was.
func TestImageMeasuresNothingThatIsToCome(t *testing.T) {
	for _, tt := range []struct {
		boot  string
		taken time.Duration // behind the start of this run
		want  bool
	}{{"boot", 0, true}, {"boot", 1, false}, {"another", 0, false}} {
		j := lasting(t, "ada").start()
		s := ident.NewStream(keyOf(t, "bob").Node(), j.runtime.ID, ident.NewInstance())
		p := parts{boot: tt.boot, tombs: []*tomb{{stream: s, measured: true, taken: j.started + tt.taken}}}
		if tt.boot == "boot" {
			p.boot = j.clock.BootID()
		}
		if p.install(j); j.tombs.of(s).measured != tt.want {
			t.Errorf("boot %q, taken %d ns behind the start: measured %t, want %t", tt.boot, tt.taken, !tt.want, tt.want)
		}
	}
}

// A program is told from another one by each of what is looked at.
func TestProgramsAreToldApart(t *testing.T) {
	dir, at := t.TempDir(), time.Unix(1_800_000_000, 0)
	name := func(content string, at time.Time) string {
		t.Helper()
		path := filepath.Join(dir, "program")
		if err := os.WriteFile(path, []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		return programOf(f, info)
	}
	one := name("one build", at)
	if one == "" || one != name("one build", at) {
		t.Error("a program is not itself")
	}
	for _, other := range []string{name("two build", at), name("one build and more", at), name("one build", at.Add(time.Nanosecond))} {
		if other == one {
			t.Error("another program is taken for it")
		}
	}
	if long := strings.Repeat("x", programHead); name(long+"x", at) == name(long+"xx", at) {
		t.Error("a longer program is taken for it")
	}
	if this := thisProgram(); this == "" || this == one {
		t.Errorf("this program is %q", this)
	}
}

// Opening ends when its caller does, by an image as without.
func TestOpeningByAnImageEndsWithItsContext(t *testing.T) {
	m, image, _ := stopped(t)
	j, _ := m.copied().reopened(image)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := recalling{j: j}
	if r.image, _ = openImage(image); r.image.all == nil {
		t.Fatal("no image")
	}
	if use, err := r.all(ctx); !errors.Is(err, context.Canceled) || use == ImageTaken {
		t.Errorf("all = %s, %v", use, err)
	}
}

// Whoever writes what into the file of an image: reading it is an error or none, and
// never the end of the program.
func FuzzReadImage(f *testing.F) {
	j := worn(f)
	whole, err := j.image()
	if err != nil {
		f.Fatal(err)
	}
	o, err := openImage(whole)
	if err != nil {
		f.Fatal(err)
	}
	j.Close(context.Background())
	f.Add(whole)
	f.Add(o.parts)
	f.Fuzz(func(t *testing.T, b []byte) {
		if o, err := openImage(b); err == nil {
			readParts(o.parts)
		}
		p, err := readParts(b)
		if err != nil {
			return
		}
		c := pack.NewWriter(nil)
		p.pack(c)
		again, err := readParts(c.Written())
		if err != nil {
			t.Fatalf("what was read is written as what cannot be: %v", err)
		}
		d := pack.NewWriter(nil)
		if again.pack(d); !bytes.Equal(c.Written(), d.Written()) {
			t.Fatal("what was read is written another way")
		}
	})
}

// worn is a journal in memory with one of each in it.
func worn(tb testing.TB) *Journal {
	repo, err := ident.RepositoryDeclared("journal-test")
	if err != nil {
		tb.Fatal(err)
	}
	seed := [32]byte{1}
	key, err := ident.KeyFromSeed(seed[:])
	if err != nil {
		tb.Fatal(err)
	}
	j, err := Open(context.Background(), Config{Key: key, Repo: repo})
	if err != nil {
		tb.Fatal(err)
	}
	for i := range 3 {
		if _, err := j.Append(context.Background(), session(fmt.Sprint("s", i))); err != nil {
			tb.Fatal(err)
		}
	}
	beat, ok := j.Beat()
	if !ok {
		tb.Fatal("no beat")
	}
	s := j.own.stream
	j.lives.byStream[s].beat = beat
	j.tombs.put(&tomb{stream: s, head: 3, at: 4}, 9)
	j.forks[s] = fork{seq: 1}
	j.withheld[s] = []uint64{1, 1 << 40}
	j.aside[s] = j.lives.byStream[s]
	j.arrivals.append(1 << 40)
	j.heads[s].tie.refs[s], j.heads[s].tie.needs[s] = true, true
	j.program = "this"
	return j
}
