package room_test

import (
	"bytes"
	std "cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/journal"
	"github.com/comity-dev/comity/coop/room"
	"github.com/comity-dev/comity/internal/vfs/vfstest"
)

// A town is a room with sessions, agents and two other machines that do whatever
// they are told to.
type town struct {
	*fixture
	t      testing.TB
	disk   *vfstest.Disk
	life   journal.Liveness
	agents []*agent
	far    []*peer
	theirs []event.Key // claims of far that they have not released
	wrong  string      // what the ways to open it again differ in
}

func newTown(t testing.TB) *town {
	w := &town{t: t, disk: vfstest.New(), life: journal.Live, agents: []*agent{newAgent("c1", "a", 10), newAgent("c2", "b", 20)}}
	w.fixture = newFixtureOn(t, w.disk, func(f *fixture) {
		f.cfg.Journal.Trust = trustAll
		f.cfg.Liveness = func(ident.Stream) (journal.Liveness, time.Duration) { return w.life, 17 * time.Second }
	})
	for i := range 4 {
		w.joinAs(i)
	}
	for i := range 2 {
		p := newPeer(t, byte(i+1))
		w.far = append(w.far, p)
		w.take(p.opens("zoe"))
	}
	return w
}

func (w *town) who(n int) room.Actor {
	n %= 6
	if n >= 4 {
		return w.agents[n-4].Actor
	}
	return actor(fmt.Sprint("s", n), string("ab"[n%2]))
}

// joinAs opens a session that lives with a process, or for a time.
func (w *town) joinAs(n int) {
	var p *room.Process
	if n%3 == 0 {
		p = proc(100 + n)
	}
	a := w.who(n)
	a.Session = ""
	w.SessionOpen(w.Context(), a, api.SessionOpenRequest{Name: fmt.Sprint("s", n), Intent: "work"}, p)
}

// A deed is one thing that somebody does; what it is about is as a number says.
type deed struct {
	do    string
	who   int
	what  int
	other int
}

var townScopes = []string{"a/", "a/x", "a/y", "b/", "b/x", "c", "src/api/", "src/a.go"}

var deeds = []string{
	"claim", "claim", "claim", "break", "release", "release all", "release another's", "hook writes", "hook writes", "hook stops",
	"hook ends", "hook prompt", "publish", "take", "decline", "ask", "answer", "acknowledge", "acknowledge all", "close", "join", "renew",
	"far claims", "far claims", "far claims early", "far fences", "far fences", "far releases", "far publishes", "far takes", "far asks", "far answers",
	"life", "upkeep", "upkeep", "second", "process ends", "restart", "restart",
}

var someDeeds = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) deed {
	return deed{
		do:    rapid.SampledFrom(deeds).Draw(t, "do"),
		who:   rapid.IntRange(0, 5).Draw(t, "who"),
		what:  rapid.IntRange(0, 23).Draw(t, "what"),
		other: rapid.IntRange(0, 5).Draw(t, "other"),
	}
}), 5, 50)

// do does it. What the room refuses is refused.
func (w *town) do(d deed) {
	ctx, a, p := w.Context(), w.who(d.who), w.far[d.who%2]
	words := []string{townScopes[d.what%len(townScopes)]}
	modes := []string{api.ModeExclusive, api.ModeCheckout, api.ModeAdvisory}
	at := d.other * 7
	switch d.do {
	case "claim":
		w.Claim(ctx, a, api.ClaimRequest{Scope: words, Mode: modes[d.other%3], Intent: "to do"})
	case "break":
		w.Claim(ctx, a, api.ClaimRequest{Scope: words, Break: true, Reason: "urgent"})
	case "release":
		w.Release(ctx, a, api.ReleaseRequest{Claims: words})
	case "release all":
		w.Release(ctx, a, api.ReleaseRequest{All: true})
	case "release another's":
		if k, ok := w.pick(d.what, func(c api.Claim) bool { return c.Session != a.Session }); ok {
			w.Release(ctx, a, api.ReleaseRequest{Claims: []string{k.String()}, Person: true, Reason: "stale"})
		}
	case "hook writes", "hook stops", "hook ends", "hook prompt":
		g := w.agents[d.who%2]
		if d.other%2 == 0 {
			g.tree.dirty[words[0]] = "1"
		} else {
			clear(g.tree.dirty)
		}
		moment := map[string]string{"hook writes": api.HookBefore, "hook stops": api.HookStop, "hook ends": api.HookEnd, "hook prompt": api.HookPrompt}[d.do]
		w.Hook(ctx, g.Actor, api.HookRequest{Client: "claude-code", Event: moment, Conversation: g.conversation, Tool: "Write", Writes: words})
	case "publish":
		w.HandoverPublish(ctx, a, api.HandoverPublishRequest{Body: fmt.Sprint("work ", d.what), To: []string{"", "s1", "s2", "zoe"}[d.other%4]})
	case "take", "decline":
		list, _ := w.HandoverList(ctx, a, api.HandoverListRequest{})
		if n := len(list.Handovers); n > 0 {
			req := api.HandoverRequest{Handover: list.Handovers[d.what%n].Handover}
			if d.do == "take" {
				w.HandoverTake(ctx, a, req)
			} else {
				w.HandoverDecline(ctx, a, req)
			}
		}
	case "ask":
		w.ReviewRequest(ctx, a, api.ReviewRequestRequest{Subject: fmt.Sprint("look ", d.what), Reviewer: []string{"", "s1", "s3"}[d.other%3]})
	case "answer":
		list, _ := w.ReviewList(ctx, a, api.ReviewListRequest{})
		if n := len(list.Reviews); n > 0 {
			w.ReviewAnswer(ctx, a, api.ReviewAnswerRequest{Review: list.Reviews[d.what%n].Review, Verdict: api.Approved})
		}
	case "acknowledge", "acknowledge all":
		list, _ := w.Notices(ctx, a, api.NoticesRequest{})
		if n := len(list.Notices); n > 0 {
			i := n - 1
			if d.do == "acknowledge" {
				i = d.what % n
			}
			w.Notices(ctx, a, api.NoticesRequest{Ack: list.Notices[i].ID})
		}
	case "close":
		w.SessionClose(ctx, a, api.SessionCloseRequest{})
	case "join":
		w.joinAs(d.who % 4)
	case "renew":
		w.SessionRenew(ctx, a, api.SessionRenewRequest{Intent: fmt.Sprint("intent ", d.what)})
	case "far claims", "far claims early":
		lamport := uint64(0)
		if d.do == "far claims" {
			lamport = p.at.Lamport + uint64(at)
		}
		mode := []event.Mode{event.ModeExclusive, event.ModeAdvisory}[d.other%2]
		e := p.says(lamport, event.ClaimAcquired{Session: "zoe", Scope: scopes(w.t, stored(w.t, words)...), Mode: mode})
		w.take(e)
		w.theirs = append(w.theirs, e.Key())
	case "far fences":
		if k, ok := w.pick(d.what, func(c api.Claim) bool { return c.Session != "zoe" }); ok {
			e := p.says(1000+uint64(at), event.ClaimAcquired{Session: "zoe", Scope: scopes(w.t, "path:a/x"), Mode: event.ModeExclusive, Fences: []event.Key{k}, Reason: "gone"})
			w.take(e)
			w.theirs = append(w.theirs, e.Key())
		}
	case "far releases":
		for i, k := range w.theirs {
			if k.Stream == p.at.Stream {
				w.take(p.says(0, event.ClaimReleased{Claim: k, Session: "zoe", Reason: "done"}))
				w.theirs = append(w.theirs[:i:i], w.theirs[i+1:]...)
				break
			}
		}
	case "far publishes":
		body := fmt.Sprint("from afar ", d.what)
		h := event.Handover{ID: event.HandoverID(body), Body: body, Branch: "main", CreatedAt: "2026-01-01T00:00:00Z"}
		w.take(p.says(0, event.HandoverPublished{Session: "zoe", To: []string{"", "s1"}[d.other%2], Handover: h}))
	case "far takes":
		list, _ := w.HandoverList(ctx, a, api.HandoverListRequest{})
		if n := len(list.Handovers); n > 0 {
			b := event.HandoverConsumed{Session: "zoe", Handover: list.Handovers[d.what%n].Handover}
			w.j.View(func(v journal.View) {
				h, _ := v.State().Handover(b.Handover)
				for _, of := range h.Publications {
					b.Publications = append(b.Publications, of.Key)
				}
			})
			w.take(p.says(0, b))
		}
	case "far asks":
		e := p.says(0, event.ReviewRequested{Session: "zoe", Subject: "far", Branch: "main", Commit: strings.Repeat("c", 40), Tree: strings.Repeat("1", 40), Reviewer: []string{"", "s2"}[d.other%2]})
		w.take(e)
	case "far answers":
		list, _ := w.ReviewList(ctx, a, api.ReviewListRequest{})
		if n := len(list.Reviews); n > 0 {
			if k, err := event.ParseKey(list.Reviews[d.what%n].Review); err == nil {
				w.take(p.says(0, event.ReviewAnswered{Request: k, Session: "zoe", Verdict: event.Verdict(api.Approved), Commit: strings.Repeat("c", 40), Tree: strings.Repeat("1", 40)}))
			}
		}
	case "life":
		w.life = []journal.Liveness{journal.Live, journal.Unknown, journal.Expired}[d.what%3]
	case "upkeep":
		w.clock.Advance(5 * time.Second)
		w.Upkeep(ctx)
	case "second":
		w.clock.Advance(time.Second)
	case "process ends":
		w.procs.kill(*proc(100 + d.who/3*3))
	case "restart":
		w.restart()
	default:
		w.t.Fatalf("nobody can do %q", d.do)
	}
}

// pick is one of the live claims that are so.
func (w *town) pick(n int, so func(api.Claim) bool) (event.Key, bool) {
	var all []event.Key
	for _, c := range w.status(actor("", "a")).Claims {
		if k, err := event.ParseKey(c.Claim); err == nil && so(c) {
			all = append(all, k)
		}
	}
	if len(all) == 0 {
		return event.Key{}, false
	}
	return all[n%len(all)], true
}

// restart closes the room and opens what it left, as it is and by its events alone.
//
// The room that takes the image remembers and answers what the one before it did,
// where no session ended with the start: all but ages, which are then those of the
// stamps, and the run that has begun. Where the one before had not told yet how its
// claims stand, that run's first event tells it.
//
// The one that reads the events has the same sessions, claims, ages, losses, ended
// claims, names, rows and releases that are due, and the same notices of what an event
// tells by itself. How its claims stand is what the events alone tell, so the notices of
// that are others; those that no event caused are gone.
func (w *town) restart() {
	w.t.Helper()
	goOn, allTold := w.AllGoOn(), w.AllTold()
	memory, aged, answers, told := w.Memory(""), w.Aged(), w.answers(w.fixture, ""), w.told(w.fixture)
	w.shut()
	byEvents, byImage := w.copy(false), w.copy(true)
	w.open()
	defer byEvents.shut()
	defer byImage.shut()
	if use := w.j.Health().Image; use != journal.ImageTaken {
		w.wrong = fmt.Sprintf("the image is used so: %s", use)
	}
	differ := func(what, diff string) {
		if diff != "" {
			w.wrong = fmt.Sprintf("%s differ:\n%s", what, diff)
		}
	}
	if goOn {
		const what = "a room that stops (-) and the one that takes its image (+): "
		begun := w.j.Stream()
		but, now := []string{"ages", "moved"}, w.told(w.fixture)
		if !allTold {
			but = append(but, "standings", "notices")
			for sid, list := range now {
				list.Notices = slices.DeleteFunc(list.Notices, func(n api.Notice) bool { return n.Event == event.Key{Stream: begun, Seq: 1}.String() })
				now[sid] = list
			}
		}
		differ(what+"what they remember", room.MemoryDiff(memory, w.Memory(begun), but...))
		differ(what+"what has an age", cmp.Diff(aged, w.Aged()))
		differ(what+"their notices", cmp.Diff(told, now))
		differ(what+"their answers", cmp.Diff(answers, w.answers(w.fixture, begun)))
	}
	const what = "a room that reads the events (-) and one that takes the image (+): "
	differ(what+"what they remember", room.MemoryDiff(
		byEvents.Memory(byEvents.j.Stream()), byImage.Memory(byImage.j.Stream()), "notices", "standings", "fenced", "spent", "moved"))
	differ(what+"what is due", cmp.Diff(byEvents.Due(), byImage.Due()))
	differ(what+"their notices of events", cmp.Diff(w.toldByEvents(byEvents), w.toldByEvents(byImage)))
	differ(what+"their answers", cmp.Diff(nameless(byEvents, w.answers(byEvents, "")), nameless(byImage, w.answers(byImage, ""))))
	differ(what+"how they go on", cmp.Diff(w.later(byEvents), w.later(byImage)))
}

// copy opens a copy of the disk, with its image or without.
func (w *town) copy(image bool) *fixture {
	w.t.Helper()
	disk := w.disk.Clone()
	if !image {
		w.bare(disk)
	}
	f := &fixture{tb: tb{w.t}, clock: w.clock, procs: w.procs, fsys: disk, cfg: w.cfg}
	f.cfg.Open = func(ctx context.Context, cfg journal.Config) (j *journal.Journal, err error) {
		f.j, err = journal.OpenOn(ctx, cfg, disk, f.clock)
		return f.j, err
	}
	f.open()
	return f
}

// bare takes the image away.
func (w *town) bare(disk *vfstest.Disk) {
	w.t.Helper()
	if err := disk.Remove("/journal/image"); err != nil {
		w.t.Fatal(err)
	}
}

// told are the notices of everybody.
func (w *town) told(f *fixture) map[string]api.Notices {
	out := map[string]api.Notices{}
	for n := range 6 {
		list, err := f.Notices(w.Context(), w.who(n), api.NoticesRequest{})
		if err != nil {
			out[err.Error()] = list
			continue
		}
		out[list.Session] = list
	}
	return out
}

// byThemselves are the kinds of notices that do not depend on who was heard.
var byThemselves = []string{api.NoticeReleasedBy, api.NoticeOverlapped, api.NoticeHandover, api.NoticeReview, api.NoticeAnswer}

// toldByEvents are the notices of what events tell by themselves, but for those of an
// event some of whose notices are acknowledged: how many it has depends on who was
// heard.
func (w *town) toldByEvents(f *fixture) []string {
	var out []string
	rows := f.j.Local("told")
	for sid, list := range w.told(f) {
		seen, _ := strconv.ParseUint(string(rows[sid]), 10, 64)
		for _, n := range list.Notices {
			if slices.Contains(byThemselves, n.Kind) && n.ID/room.PerEvent > seen/room.PerEvent {
				out = append(out, fmt.Sprint(sid, n.ID/room.PerEvent, n.Kind, n.Text, n.Claim, n.Event, n.At))
			}
		}
	}
	slices.Sort(out)
	return nameless(f, out)
}

// nameless are words without the name of the run, which is random.
func nameless(f *fixture, words []string) []string {
	own := f.j.Stream()
	if own == "" {
		return words
	}
	replace := strings.NewReplacer(string(own), "<own>", string(own.Instance())[:6], "<short>")
	out := make([]string, len(words))
	for i, s := range words {
		out[i] = replace.Replace(s)
	}
	return out
}

var times = regexp.MustCompile(`"(age|idle)_ms":\d+,?`)

// answers are what everybody is told who asks, but for notices, for ages and what is in
// their order, and for what one stream has.
func (w *town) answers(f *fixture, but ident.Stream) []string {
	ctx := w.Context()
	var out []string
	say := func(what string, reply any, err error) {
		b, _ := json.Marshal(reply)
		out = append(out, fmt.Sprintf("%s: %s, %v", what, times.ReplaceAll(b, nil), err))
	}
	byID := func(a, b api.Session) int { return std.Compare(a.ID, b.ID) }
	for n := range 6 {
		a := w.who(n)
		status, err := f.Status(ctx, a, api.StatusRequest{})
		status.Digest, status.Cursor, status.Events, status.Notices, status.Compacted = "", "", 0, 0, 0
		slices.SortFunc(status.Sessions, byID)
		slices.SortFunc(status.Claims, func(a, b api.Claim) int { return std.Compare(a.Claim, b.Claim) })
		status.Streams = slices.DeleteFunc(status.Streams, func(s api.Stream) bool { return s.Stream == string(but) })
		slices.SortFunc(status.Streams, func(a, b api.Stream) int {
			return std.Or(std.Compare(a.Run, b.Run), std.Compare(a.Stream, b.Stream))
		})
		say("status", status, err)
		for _, s := range townScopes {
			path := strings.TrimSuffix(s, "/")
			check, err := f.Check(ctx, a, api.CheckRequest{Paths: []string{path}})
			say("check "+path, check, err)
			guard, err := f.Guard(ctx, a, api.GuardRequest{Paths: []string{path, path + "/z"}})
			say("guard "+path, guard, err)
		}
	}
	a := room.Actor{}
	sessions, err := f.SessionList(ctx, a, api.SessionListRequest{All: true})
	slices.SortFunc(sessions.Sessions, byID)
	say("sessions", sessions, err)
	handovers, err := f.HandoverList(ctx, a, api.HandoverListRequest{All: true})
	say("handovers", handovers, err)
	reviews, err := f.ReviewList(ctx, actor("", "a"), api.ReviewListRequest{All: true})
	say("reviews", reviews, err)
	page, err := f.Log(ctx, a, api.LogRequest{Limit: 1000})
	page.Events = slices.DeleteFunc(page.Events, func(e api.LogEvent) bool { return but != "" && strings.HasPrefix(e.Event, string(but)) })
	page.Next = ""
	say("log", page, err)
	return out
}

// later is what comes of a few things that are done next.
func (w *town) later(f *fixture) []string {
	ctx := w.Context()
	var out []string
	tell := func(err error) { out = append(out, fmt.Sprint(err)) }
	for n := range 6 {
		a := w.who(n)
		for _, s := range townScopes {
			reply, err := f.Release(ctx, a, api.ReleaseRequest{Claims: []string{s}})
			tell(err)
			out = append(out, fmt.Sprint(len(reply.Released), len(reply.Already)))
		}
	}
	for _, g := range w.agents {
		reply, err := f.Hook(ctx, g.Actor, api.HookRequest{Client: "claude-code", Event: api.HookStart, Conversation: g.conversation})
		tell(err)
		out = append(out, reply.Tell)
	}
	f.Upkeep(ctx)
	for n := range 6 {
		_, err := f.Claim(ctx, w.who(n), api.ClaimRequest{Scope: []string{townScopes[n]}, Mode: api.ModeAdvisory})
		tell(err)
	}
	return append(out, f.kinds()...)
}

// A room that is opened again is the one that was closed.
func TestARoomIsOpenedByWhatItKept(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		all := someDeeds.Draw(rt, "deeds")
		w := newTown(t)
		defer func() {
			w.shut()
			*w.fixture = fixture{tb: w.tb, down: true} // it is remembered until the test ends
		}()
		for _, d := range append(all, deed{do: "restart"}) {
			if w.do(d); w.wrong != "" {
				rt.Fatal(w.wrong)
			}
		}
	})
}

// Notices that gave way, and a claim that was lost, are known after a restart, also
// after one that was not clean.
func TestWhatGaveWayIsKept(t *testing.T) {
	w := newTown(t)
	ada := w.who(0)
	w.claim(ada, "src/", "docs/")
	mine := w.claim(ada, "c.go")
	p := w.far[0]
	overlap := func(n int) {
		for range n {
			w.take(p.says(0, event.ClaimAcquired{Session: "zoe", Scope: scopes(t, fmt.Sprintf("path:src/f%d.go", p.at.Seq)), Mode: event.ModeAdvisory}))
		}
	}
	overlap(9)
	seen := w.notices(ada)
	if _, err := w.Notices(t.Context(), ada, api.NoticesRequest{Ack: seen[len(seen)-1].ID}); err != nil {
		t.Fatal(err)
	}
	overlap(room.MaxNotices + 5)
	key, err := event.ParseKey(mine.Claim.Claim)
	if err != nil {
		t.Fatal(err)
	}
	w.take(p.says(1000, event.ClaimAcquired{Session: "zoe", Scope: scopes(t, "path:c.go"), Mode: event.ModeExclusive, Fences: []event.Key{key}}))
	known := func() {
		t.Helper()
		list, err := w.Notices(t.Context(), ada, api.NoticesRequest{})
		if err != nil || len(list.Notices) != room.MaxNotices || list.Dropped != 6 {
			t.Errorf("%d notices, %d dropped, %v; want %d and 6", len(list.Notices), list.Dropped, err, room.MaxNotices)
		}
		if reply, err := w.Guard(t.Context(), ada, api.GuardRequest{Paths: []string{"c.go"}}); err != nil || reply.Deny == "" {
			t.Errorf("guard of what was lost = %+v, %v", reply, err)
		}
	}
	for range 2 {
		if w.restart(); w.wrong != "" {
			t.Fatal(w.wrong)
		}
		known()
	}
	w.shut()
	w.bare(w.disk)
	w.open()
	known()
	w.Upkeep(t.Context())
	if w.restart(); w.wrong != "" {
		t.Fatal(w.wrong)
	}
}

// What a session of a name lost does not stay with the name.
func TestALossEndsWithItsSession(t *testing.T) {
	w := newTown(t)
	ada, bob := w.who(0), w.who(1)
	w.claim(ada, "c.go")
	w.claim(ada, "d.go")
	if _, err := w.Claim(t.Context(), bob, api.ClaimRequest{Scope: []string{"c.go"}, Break: true, Reason: "urgent"}); err != nil {
		t.Fatal(err)
	}
	w.release(bob)
	w.Upkeep(t.Context()) // releases what was lost
	guard := func() string {
		reply, err := w.Guard(t.Context(), ada, api.GuardRequest{Paths: []string{"c.go"}})
		if err != nil {
			t.Fatal(err)
		}
		return reply.Deny
	}
	if guard() == "" {
		t.Error("what was lost may be written")
	}
	if _, err := w.SessionClose(t.Context(), ada, api.SessionCloseRequest{}); err != nil {
		t.Fatal(err)
	}
	w.joinAs(0)
	for range 2 {
		if deny := guard(); deny != "" {
			t.Errorf("a new session of the name is denied: %s", deny)
		}
		for _, path := range []string{"c.go", "d.go"} { // ended before it, and with it
			_, err := w.Release(t.Context(), ada, api.ReleaseRequest{Claims: []string{path}})
			wantCode(t, "the release of what the name had before", err, api.CodeUnknownClaim)
		}
		if w.restart(); w.wrong != "" {
			t.Fatal(w.wrong)
		}
	}
}

// A run that begins by an image has heard nobody yet, so who had won against a claim may
// count again. Its holder hears of that, and of what becomes of it, each once.
func TestWhatStandsIsLookedAtAfterARestart(t *testing.T) {
	for name, heard := range map[string]bool{"the winner was heard": true, "the winner never was": false} {
		t.Run(name, func(t *testing.T) {
			w := newTown(t)
			ada := w.who(0)
			for i := range 5 { // stamps rise
				w.claim(ada, fmt.Sprint("pad", i))
			}
			mine := w.claim(ada, "src/").Claim.Claim
			var want []string
			upkeep := func(life journal.Liveness, more ...string) {
				t.Helper()
				w.life, want = life, append(want, more...)
				for range 2 {
					w.clock.Advance(5 * time.Second)
					w.Upkeep(t.Context())
				}
				list := w.notices(ada)
				if kinds := kindsOf(list); !slices.Equal(kinds, want) {
					t.Fatalf("%s: ada is told %v, want %v", life, kinds, want)
				}
				for _, n := range list {
					if n.Claim != mine {
						t.Errorf("ada is told of another claim: %+v", n)
					}
				}
			}
			w.life = journal.Expired
			if heard {
				w.life, want = journal.Live, []string{api.NoticeConflicted}
			}
			w.take(w.far[0].claims(2, "zoe", "dir:src"))
			if heard {
				upkeep(journal.Expired, api.NoticeHeld)
			} else {
				upkeep(journal.Expired)
			}
			w.life = journal.Unknown
			if w.restart(); w.wrong != "" {
				t.Fatal(w.wrong)
			}
			upkeep(journal.Unknown, api.NoticeConflicted)
			if w.restart(); w.wrong != "" {
				t.Fatal(w.wrong)
			}
			upkeep(journal.Unknown)
			upkeep(journal.Expired, api.NoticeHeld)
			if w.restart(); w.wrong != "" {
				t.Fatal(w.wrong)
			}
			upkeep(journal.Expired)
			upkeep(journal.Live, api.NoticeConflicted)
		})
	}
}

// That is so also where the run cannot begin, because the disk takes no writes.
func TestWhatStandsIsLookedAtWhereNoRunBegins(t *testing.T) {
	w := newTown(t)
	ada := w.who(0)
	for i := range 5 { // stamps rise
		w.claim(ada, fmt.Sprint("pad", i))
	}
	w.claim(ada, "src/")
	w.take(w.far[0].claims(2, "zoe", "dir:src"))
	w.life = journal.Expired
	w.clock.Advance(5 * time.Second)
	w.Upkeep(t.Context())
	before := w.kinds()
	w.shut()
	full := &gated{FS: w.disk}
	full.set(func(string) error { return vfstest.ENOSPC })
	w.fsys, w.life = full, journal.Unknown
	w.open()
	if use := w.j.Health().Image; use != journal.ImageTaken || !slices.Equal(w.kinds(), before) {
		t.Fatalf("the image is used so: %s, and the log has %v, want %v", use, w.kinds(), before)
	}
	want := []string{api.NoticeConflicted, api.NoticeHeld, api.NoticeConflicted}
	for _, life := range []journal.Liveness{journal.Unknown, journal.Unknown, journal.Expired} {
		if w.life = life; life == journal.Expired {
			want = append(want, api.NoticeHeld)
		}
		w.clock.Advance(5 * time.Second)
		w.Upkeep(t.Context())
		if kinds := kindsOf(w.notices(ada)); !slices.Equal(kinds, want) {
			t.Fatalf("%s: ada is told %v, want %v", life, kinds, want)
		}
	}
}

// What was told to sessions that have ended, and whose closes are not written at the
// stop, is told to nobody.
func TestNoticesOfSessionsThatHaveEndedAreNotKept(t *testing.T) {
	w := newTown(t)
	ada := w.who(0)
	w.claim(ada, "src/")
	w.take(w.far[0].claims(2, "zoe", "dir:src"))
	w.Upkeep(t.Context())
	if len(w.notices(ada)) == 0 {
		t.Fatal("ada is told nothing")
	}
	w.clock.Suspend(31 * 24 * time.Hour) // after which no session goes on
	_, err := w.Claim(t.Context(), ada, api.ClaimRequest{Scope: []string{"docs/"}})
	wantCode(t, "claim of a session from before", err, api.CodeSessionClosed)
	if w.AllGoOn() {
		t.Fatal("the closes are written already")
	}
	if w.restart(); w.wrong != "" {
		t.Fatal(w.wrong)
	}
	w.wantSession("s0", api.SessionClosed, "process_ended")
	w.joinAs(0)
	if list := w.notices(ada); len(list) != 0 {
		t.Errorf("a new session of the name is told %+v", list)
	}
}

// A run that reads the events shows nothing that was acknowledged, and tells what is
// new behind it: also where what was acknowledged is not read back.
func TestWhatWasAcknowledgedIsNotReadBack(t *testing.T) {
	w := newTown(t)
	ada := w.who(0)
	for i := range 5 { // stamps rise
		w.claim(ada, fmt.Sprint("pad", i))
	}
	w.claim(ada, "src/")
	w.take(w.far[0].claims(2, "zoe", "dir:src"))
	w.life = journal.Expired
	w.Upkeep(t.Context()) // tells without an event that ada holds it
	list := w.notices(ada)
	if kinds := kindsOf(list); !slices.Equal(kinds, []string{api.NoticeConflicted, api.NoticeHeld}) {
		t.Fatalf("ada is told %v", kinds)
	}
	if _, err := w.Notices(t.Context(), ada, api.NoticesRequest{Ack: list[1].ID}); err != nil {
		t.Fatal(err)
	}
	w.life = journal.Unknown
	w.shut()
	w.bare(w.disk)
	w.open()
	if list := w.notices(ada); len(list) != 0 {
		t.Errorf("ada is told again %+v", list)
	}
	w.life = journal.Expired
	w.Upkeep(t.Context())
	if kinds := kindsOf(w.notices(ada)); !slices.Equal(kinds, []string{api.NoticeHeld}) {
		t.Errorf("ada is told %v, want that she holds it", kinds)
	}
}

// The age of a session is that of its opening, also where that was heard late.
func TestTheAgeOfASessionWhoseOpeningCameLate(t *testing.T) {
	w := newTown(t)
	first, second := newPeer(t, 3), newPeer(t, 3)
	second.at.At += 1000
	record := ident.NewRecord()
	early := []*event.Event{first.says(0, event.StreamSucceeded{Record: record, Run: 1}), first.opens("eve")}
	w.take(
		second.says(10, event.StreamSucceeded{Record: record, Run: 2, Sessions: []string{"eve"}, Streams: []ident.Stream{first.at.Stream}}),
		second.opens("eve"),
	)
	late := w.session("eve").OpenedAt
	w.take(early...)
	if s := w.session("eve"); s.OpenedAt != late-1000 || s.AgeMS != 0 {
		t.Fatalf("eve = %+v, want it opened %d, and heard of now", s, late-1000)
	}
	if w.restart(); w.wrong != "" {
		t.Fatal(w.wrong)
	}
	if s := w.session("eve"); s.AgeMS != 1000*(w.clock.Now().Unix()-first.at.At) {
		t.Errorf("after a restart eve is %d ms old", s.AgeMS)
	}
}

// A room remembers what it did also where streams have left or come back, or a machine
// that was forgotten speaks again.
func TestARestartOnceStreamsHaveLeft(t *testing.T) {
	distrust := func(w *town) {
		w.cfg.Journal.Trust = nil
		if err := w.SetTrust(w.Context(), nil); err != nil {
			w.t.Fatal(err)
		}
	}
	ways := map[string]func(w *town){
		"left": distrust,
		"came back": func(w *town) {
			distrust(w)
			w.cfg.Journal.Trust = trustAll
			if err := w.SetTrust(w.Context(), trustAll); err != nil {
				w.t.Fatal(err)
			}
		},
		"forgotten": func(w *town) {
			for _, p := range w.far {
				if _, err := w.Forget(w.Context(), p.at.Stream.Runtime()); err != nil {
					w.t.Fatal(err)
				}
			}
		},
		"forgotten and heard again": func(w *town) {
			for _, p := range w.far {
				if _, err := w.Forget(w.Context(), p.at.Stream.Runtime()); err != nil {
					w.t.Fatal(err)
				}
			}
			again := newPeer(t, 1)
			w.take(again.opens("zoe"), again.claims(2, "zoe", "dir:src"))
		},
	}
	for name, change := range ways {
		t.Run(name, func(t *testing.T) {
			w := newTown(t)
			w.claim(w.who(0), "src/")
			w.take(w.far[0].claims(2, "zoe", "dir:src"))
			if change(w); len(w.notices(w.who(0))) == 0 {
				t.Error("nobody was told")
			}
			for range 2 {
				if w.restart(); w.wrong != "" {
					t.Fatal(w.wrong)
				}
				w.Upkeep(t.Context())
			}
		})
	}
}

// lived is a town in which something of everything is kept.
func lived(t testing.TB) *town {
	w := newTown(t)
	for _, d := range []deed{
		{"claim", 0, 6, 0}, {"claim", 2, 5, 0}, {"release", 2, 5, 0}, {"hook writes", 0, 1, 0}, {"far fences", 0, 0, 0},
		{"publish", 1, 1, 0}, {"acknowledge", 0, 0, 0}, {"ask", 2, 0, 0}, {"far claims", 1, 3, 1}, {"break", 1, 6, 0},
		{"hook writes", 1, 4, 0}, {"release all", 5, 0, 0},
	} {
		w.do(d)
	}
	return w
}

func TestMalformedMemoryIsNotTakenUp(t *testing.T) {
	w := lived(t)
	good := w.Kept()
	if s, err := w.Recalled(good); err != nil || s.AsNew() {
		t.Fatalf("what is kept is not taken up: %v", err)
	}
	refuse := func(what string, b []byte) {
		t.Helper()
		s, err := w.Recalled(b)
		if err == nil {
			t.Errorf("%s is taken up", what)
		}
		if !s.AsNew() {
			t.Errorf("%s leaves a room that is not as new", what)
		}
	}
	for n := range good {
		refuse(fmt.Sprintf("%d of %d bytes", n, len(good)), good[:n])
	}
	refuse("a byte more", append(slices.Clone(good), 0))
	refuse("another version", append([]byte{good[0] + 1}, good[1:]...))
	for _, do := range []deed{{do: "close", who: 0}, {do: "close", who: 1}, {do: "close", who: 2}, {do: "close", who: 3}} {
		w.do(do)
	}
	refuse("the memory of a state that is gone", good)
}

func TestMemoryOutOfBoundsIsNotTakenUp(t *testing.T) {
	f := newFixture(t)
	f.join("ada")
	good, bad := room.BoundsOfKept("ada", newPeer(t, 1).at.Stream, scopes(t, "dir:src"))
	for what, b := range good {
		if _, err := f.Recalled(b); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, b := range bad {
		if s, err := f.Recalled(b); err == nil || !s.AsNew() {
			t.Errorf("%s: taken up with the error %v", what, err)
		}
	}
}

func FuzzRecall(f *testing.F) {
	r := newFixture(f)
	r.join("ada")
	stream := newPeer(f, 1).at.Stream
	stream = stream[:len(stream)-len(stream.Instance())] + ident.Stream(strings.Repeat("0", len(stream.Instance())))
	for _, b := range room.KeptOf("ada", stream, scopes(f, "dir:src", "path:a.go")) {
		if _, err := r.Recalled(b); err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := r.Recalled(b)
		if err != nil {
			if !s.AsNew() {
				t.Error("a room that is not as new")
			}
			return
		}
		kept := s.Kept()
		again, err := r.Recalled(kept)
		if err != nil || !bytes.Equal(again.Kept(), kept) {
			t.Errorf("what was taken up is kept as %q, and not taken up again: %v", kept, err)
		}
	})
}
