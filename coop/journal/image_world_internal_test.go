package journal

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/internal/vfs"
	"github.com/comity-dev/comity/internal/vfs/vfstest"
)

// copied is the machine with a log of its own, the same so far.
func (m *machine) copied() *machine {
	own := *m
	own.log = &damaged{memory: &memory{incarnation: m.log.incarnation, recs: slices.Clone(m.log.recs)}, damage: slices.Clone(m.log.damage)}
	return &own
}

// reopened is m's journal as the next run has it, by this image, or by the events where
// it is nil.
func (m *machine) reopened(image []byte) (*Journal, ImageUse) {
	m.t.Helper()
	disk := vfstest.New()
	if err := disk.Mkdir("/journal", 0o700); err != nil {
		m.t.Fatal(err)
	}
	place := imagePlace{disk, "/journal"}
	if image != nil {
		if err := vfs.WriteFile(disk, place.file(), image); err != nil {
			m.t.Fatal(err)
		}
	}
	j, err := read(m.t.Context(), func() *Journal {
		j := newJournal(m.cfg, m.log, m.clock)
		j.place, j.program = place, "this"
		return j
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return j, j.health.Image
}

// imageOf is the image that j would leave; nil when it leaves none.
func imageOf(t testing.TB, j *Journal) []byte {
	t.Helper()
	j.program = "this"
	if !j.well() {
		return nil
	}
	image, err := j.image()
	if err != nil {
		t.Fatal(err)
	}
	return image
}

// What of a journal is one process's own, or is compared by what it tells.
var apart = map[string]string{
	"Journal.cfg": "functions", "Journal.clock": "", "Journal.log": "compared as bytes", "Journal.trust": "a function", "Journal.seal": "",
	"Journal.place": "", "Journal.gate": "", "Journal.places": "", "Journal.mutex": "", "Journal.grown": "", "Journal.turnstile": "", "Journal.rewriting": "",
	"Journal.state":   "compared by its digests and views, and in package fold",
	"lives.changes":   "the order of marks: compared as marks",
	"Health.Image":    "the way that it took",
	"Journal.settled": "may be known by what was dropped since: compared by itself", "Journal.wrote": "as settled", "Journal.spoke": "as settled",
	"Journal.waste": "about: what a rewrite wrote itself counts at the next start",
	"tie.latest":    "", "tie.done": "", // only spare a look
}

// graph says where two journals differ.
func graph(a, b *Journal) []string {
	g := grapher{seen: map[[2]uintptr]bool{}}
	g.walk("", reflect.ValueOf(a), reflect.ValueOf(b))
	return g.found
}

type grapher struct {
	seen  map[[2]uintptr]bool
	found []string
}

func (g *grapher) differ(path string, a, b any) {
	if len(g.found) < 20 {
		g.found = append(g.found, fmt.Sprintf("%s: %v and %v", path, a, b))
	}
}

func (g *grapher) walk(path string, a, b reflect.Value) {
	switch a.Kind() {
	case reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			if a.IsNil() != b.IsNil() {
				g.differ(path, !a.IsNil(), !b.IsNil())
			}
			return
		}
		if at := [2]uintptr{a.Pointer(), b.Pointer()}; !g.seen[at] {
			g.seen[at] = true
			g.walk(path, a.Elem(), b.Elem())
		}
	case reflect.Struct:
		g.fields(path, a, b)
	case reflect.Map:
		g.entries(path, a, b)
	case reflect.Slice, reflect.Array:
		g.list(path, a, b)
	case reflect.Interface:
		if a.IsNil() != b.IsNil() || !a.IsNil() && a.Elem().Type() != b.Elem().Type() {
			g.differ(path, a, b)
		} else if !a.IsNil() {
			g.walk(path, a.Elem(), b.Elem())
		}
	case reflect.Func, reflect.Chan:
		if a.IsNil() != b.IsNil() {
			g.differ(path, !a.IsNil(), !b.IsNil())
		}
	default:
		if !a.Equal(b) {
			g.differ(path, a, b)
		}
	}
}

func (g *grapher) fields(path string, a, b reflect.Value) {
	t := a.Type()
	for i := range t.NumField() {
		name := t.Name() + "." + t.Field(i).Name
		if _, skip := apart[name]; skip {
			continue
		}
		if (t == reflect.TypeFor[life]() || t == reflect.TypeFor[tomb]()) && slices.Contains([]string{"difference", "taken", "latest"}, t.Field(i).Name) && !a.FieldByName("measured").Bool() {
			continue // they say nothing
		}
		g.walk(path+"."+t.Field(i).Name, a.Field(i), b.Field(i))
	}
}

// entries compares maps; a key without anything is as none.
func (g *grapher) entries(path string, a, b reflect.Value) {
	empty := func(v reflect.Value) bool {
		return !v.IsValid() || (v.Kind() == reflect.Map || v.Kind() == reflect.Slice) && v.Len() == 0
	}
	for _, side := range [][2]reflect.Value{{a, b}, {b, a}} {
		for it := side[0].MapRange(); it.Next(); {
			if !empty(it.Value()) && empty(side[1].MapIndex(it.Key())) {
				g.differ(fmt.Sprintf("%s[%v]", path, it.Key()), a.MapIndex(it.Key()).IsValid(), b.MapIndex(it.Key()).IsValid())
			}
		}
	}
	for it := a.MapRange(); it.Next(); {
		if v := b.MapIndex(it.Key()); v.IsValid() {
			g.walk(fmt.Sprintf("%s[%v]", path, it.Key()), it.Value(), v)
		}
	}
}

// list compares lists; lives are in no order.
func (g *grapher) list(path string, a, b reflect.Value) {
	if a.Len() != b.Len() {
		g.differ(path, fmt.Sprintf("%d: %v", a.Len(), a), fmt.Sprintf("%d: %v", b.Len(), b))
		return
	}
	order := func(v reflect.Value) []int {
		at := make([]int, v.Len())
		for i := range at {
			at[i] = i
		}
		if v.Type().Elem() == reflect.TypeFor[*life]() {
			slices.SortFunc(at, func(i, k int) int {
				return strings.Compare(v.Index(i).Elem().FieldByName("stream").String(), v.Index(k).Elem().FieldByName("stream").String())
			})
		}
		return at
	}
	as, bs := order(a), order(b)
	for i := range as {
		g.walk(fmt.Sprintf("%s[%d]", path, i), a.Index(as[i]), b.Index(bs[i]))
	}
}

// A told journal is what calls tell of one.
type toldJournal struct {
	Marks   event.Marks
	Health  Health
	Peers   []ident.Runtime
	Tallies map[ident.NodeID]Tally
	Rows    map[string]map[string][]byte
	Lives   map[ident.Stream]string
	Pages   []string
	Cursor  string
	Clock   uint64
	Shown   shownState
	Live    live
	Streams []fold.StreamInfo
	Verify  VerifyReport
	Records []string
}

func tellAll(t testing.TB, j *Journal) (all toldJournal) {
	t.Helper()
	all = toldJournal{
		Marks: j.Marks(), Health: j.Health(), Peers: j.Peers(), Tallies: j.Tallies(), Cursor: j.End(), Clock: j.Clock(), Shown: show(j),
		Rows: map[string]map[string][]byte{}, Lives: map[ident.Stream]string{},
	}
	all.Health.Image = ""
	for kind := range j.rows.values {
		if rows := j.Local(kind); len(rows) > 0 {
			all.Rows[kind] = rows
		}
	}
	for s := range j.lives.byStream {
		l, left := j.Liveness(s)
		all.Lives[s] = fmt.Sprint(l, left, j.silence(s), j.absence(s))
	}
	for cursor := ""; ; {
		p, err := j.Page(cursor, 7)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range p.Arrivals {
			all.Pages = append(all.Pages, fmt.Sprintf("%s %d %s %t", a.Cursor, a.Index, a.Event.Raw, a.Again))
		}
		if cursor = p.Next; !p.More {
			break
		}
	}
	j.View(func(v View) {
		all.Live, all.Streams = liveOf(v.State()), slices.Collect(v.State().Streams())
	})
	var err error
	if all.Verify, err = j.Verify(t.Context()); err != nil {
		t.Fatal(err)
	}
	for rec, err := range j.log.From(1) {
		if err != nil {
			t.Fatal(err)
		}
		all.Records = append(all.Records, fmt.Sprintf("%d %x", rec.Index, rec.Data))
	}
	return all
}

// An imageWorld is one whose machines are stopped and started by their images.
type imageWorld struct {
	*world
	trusted [][]bool // by machine, whom it believes
	keys    []*ident.Key
	taken   int
}

func newImageWorld(t *testing.T, rt *rapid.T) *imageWorld {
	w := &imageWorld{world: newCompactingWorld(t, rt)}
	for range w.machines {
		w.trusted = append(w.trusted, []bool{true, true, true})
	}
	for _, m := range w.machines {
		w.keys = append(w.keys, m.cfg.Key)
	}
	return w
}

func (w *imageWorld) any(what string) int {
	return rapid.IntRange(0, len(w.machines)-1).Draw(w.rt, what)
}

// save has the beats that were heard written down.
func (w *imageWorld) save(j *Journal) {
	fake(j).Advance(saveEvery)
	if err := j.SaveBeats(w.t.Context()); err != nil {
		w.rt.Fatal(err)
	}
}

// do lets something happen on machine i, whose journals are js: the same on each.
func (w *imageWorld) do(i int, js ...*Journal) {
	k := (i + 1 + rapid.IntRange(0, len(w.journals)-2).Draw(w.rt, "other")) % len(w.journals)
	m, other := w.machines[i], w.journals[k]
	each := func(f func(*Journal)) {
		for _, j := range js {
			f(j)
		}
	}
	switch what := rapid.IntRange(0, 9).Draw(w.rt, "on one"); what {
	case 0: // hears a beat
		if b, ok := other.Beat(); ok {
			each(func(j *Journal) { told(j, b, 0) })
		}
	case 1: // changes its mind
		w.trusted[i][k] = !w.trusted[i][k]
		var keys []*ident.Key
		for n, yes := range w.trusted[i] {
			if yes {
				keys = append(keys, w.keys[n])
			}
		}
		m.cfg.Trust = trust(keys...)
		for n, j := range js {
			if n == 0 {
				fake(j).Advance(saveEvery)
			}
			if err := j.SaveBeats(w.t.Context()); err != nil { // what is put aside is written no more
				w.rt.Fatal(err)
			}
			if err := j.SetTrust(w.t.Context(), m.cfg.Trust); err != nil {
				w.rt.Fatal(err)
			}
		}
	case 2: // keeps a row
		key := fmt.Sprint(rapid.IntRange(0, 3).Draw(w.rt, "row"))
		value := rapid.SampledFrom([][]byte{nil, {}, []byte("x"), []byte("y")}).Draw(w.rt, "value")
		each(func(j *Journal) {
			if _, err := j.Decide(w.t.Context(), func(tx *Tx) error { tx.PutLocal("mine", key, value); return nil }); err != nil {
				w.rt.Fatal(err)
			}
		})
	case 3: // is told another history
		if fork := w.fork(k, js[0]); fork != nil {
			each(func(j *Journal) { j.Ingest(w.t.Context(), raws(fork)) })
		}
	case 4: // forgets a machine
		each(func(j *Journal) {
			if _, err := j.Forget(w.t.Context(), other.runtime); err != nil {
				w.rt.Fatal(err)
			}
		})
	case 5, 6: // hears what another wrote
		var batch [][]byte
		for _, s := range missing(w.t, other, js[0].Marks()) {
			batch = append(batch, s.Raw)
		}
		each(func(j *Journal) { j.Ingest(w.t.Context(), batch) })
	case 7: // drops what it can
		fake(js[0]).Advance(2 * time.Second)
		p := Policy{Force: true, Silence: time.Duration(rapid.IntRange(1, 200).Draw(w.rt, "silence")) * time.Second}
		each(func(j *Journal) { m.compact(j, p) })
	default: // writes
		b := w.body(m, js[0])
		each(func(j *Journal) { m.append(j, b) })
	}
}

// meet lets two machines tell each other what they have; not all of it is believed.
func (w *imageWorld) meet() {
	i := w.any("a")
	k := (i + 1 + rapid.IntRange(0, len(w.journals)-2).Draw(w.rt, "b")) % len(w.journals)
	for _, way := range [][2]*Journal{{w.journals[i], w.journals[k]}, {w.journals[k], w.journals[i]}} {
		var batch [][]byte
		for _, s := range missing(w.t, way[0], way[1].Marks()) {
			batch = append(batch, s.Raw)
		}
		way[1].Ingest(w.t.Context(), batch)
	}
}

// body is something that the machine may say.
func (w *imageWorld) body(m *machine, j *Journal) event.Body {
	sid := fmt.Sprint("s", rapid.IntRange(0, 2).Draw(w.rt, "session"))
	switch rapid.IntRange(0, 4).Draw(w.rt, "says") {
	case 0:
		return session(sid)
	case 1:
		return event.SessionClosed{Session: sid, Reason: "done"}
	case 2:
		return event.ReviewRequested{Session: sid, Subject: "look"}
	}
	b := event.ClaimAcquired{Session: sid, Scope: m.scope("f"), Mode: event.ModeExclusive}
	for _, c := range w.claims(j) {
		if c.Session.Runtime != j.runtime {
			b.Fences = append(b.Fences, c.Key)
		}
	}
	return b
}

// fork is another event in a place that j holds one of machine k's in; nil when it
// holds none.
func (w *imageWorld) fork(k int, j *Journal) *event.Event {
	for _, a := range mustPage(w.t, j) {
		if e := a.Event; e.Stream.Node() == w.keys[k].Node() {
			h := event.Header{Repo: e.Repo, Stream: e.Stream, Seq: e.Seq, Lamport: e.Lamport, At: e.At, Prev: e.Prev}
			other, err := event.Seal(w.keys[k], h, session("another"))
			if err != nil {
				w.t.Fatal(err)
			}
			return other
		}
	}
	return nil
}

func mustPage(t testing.TB, j *Journal) []Arrival {
	t.Helper()
	p, err := j.Page("", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return p.Arrivals
}

// same holds that two journals of a machine cannot be told apart.
func (w *imageWorld) same(when string, byImage, byEvents *Journal) {
	if d := cmp.Diff(tellAll(w.t, byEvents), tellAll(w.t, byImage), cmp.Comparer(sameError)); d != "" {
		w.rt.Fatalf("%s (-by the events +by the image):\n%s\n%s", when, d, strings.Join(graph(byEvents, byImage), "\n"))
	}
	if byEvents.settled && !byImage.settled || byEvents.wrote > byImage.wrote || byEvents.spoke > byImage.spoke {
		w.rt.Fatalf("%s: by the image it knows of less that was said", when)
	}
	if found := graph(byEvents, byImage); len(found) > 0 {
		w.rt.Fatalf("%s, by the events and by the image:\n%s", when, strings.Join(found, "\n"))
	}
}

func sameError(a, b error) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

// stop closes a machine's journal and opens it twice: by its image and by its events.
func (w *imageWorld) stop(i int) {
	m, j := w.machines[i], w.journals[i]
	w.save(j)
	image := imageOf(w.t, j)
	for _, t := range j.tombs.order { // by the events, a beat that came before them is not heard: the image knows more
		if l := j.lives.byStream[t.stream]; t.returned && l != nil && l.beat != nil {
			image = nil
		}
	}
	if image == nil {
		w.journals[i] = w.start(m)
		return
	}
	w.taken++
	if rapid.IntRange(0, 4).Draw(w.rt, "boots") == 0 {
		m.clock.Reboot(fmt.Sprint("boot of ", m.run))
		m.clock.Advance(time.Minute) // nobody beats in the moment in which its machine starts
	}
	m.run++
	sids := []string{"s0", "s1"}
	m.cfg.Continue = func(View) []string { return sids }
	second := m.copied()
	byImage, use := m.reopened(image)
	if use != ImageTaken {
		w.rt.Fatalf("the image was not taken: %s", use)
	}
	byEvents, _ := second.reopened(nil)
	instance := ident.InstanceID(fmt.Sprintf("%016x", m.run))
	for _, one := range []*Journal{byImage, byEvents} {
		one.own.stream = ident.NewStream(one.runtime.Node, one.runtime.ID, instance)
	}
	if byImage.run.Run == 1 { // the record is new, and random
		byEvents.run.Record = byImage.run.Record
	}
	w.same("opened", byImage, byEvents)
	w.journals[i] = byImage
	for range rapid.IntRange(0, 6).Draw(w.rt, "then") {
		w.do(i, byImage, byEvents)
	}
	w.same("and went on", byImage, byEvents)
	if a, b := imageOf(w.t, byImage), imageOf(w.t, byEvents); (a == nil) != (b == nil) {
		w.rt.Fatalf("one would leave an image and the other would not: %t, %t", a != nil, b != nil)
	} else if !bytes.Equal(a, imageOf(w.t, byImage)) {
		w.rt.Fatal("two images of one journal differ")
	}
}

// However a journal came to what it knows: opened by its image it is the journal that
// its events make, and it stays so whatever happens next.
func TestImageIsWhatTheEventsMake(t *testing.T) {
	worlds, taken := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		worlds++
		w := newImageWorld(t, rt)
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			i := w.any("machine")
			switch rapid.IntRange(0, 9).Draw(rt, "step") {
			case 0, 1:
				w.stop(i)
			case 2:
				w.meet()
			case 3, 4, 5:
				w.busy()
			default:
				w.do(i, w.journals[i])
			}
		}
		w.stop(w.any("last"))
		taken += w.taken
	})
	if taken < worlds/5 {
		t.Errorf("%d images were taken in %d worlds: too few to tell", taken, worlds)
	}
}
