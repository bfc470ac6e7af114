package fold_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
)

// orders calls f with the state of what w wrote after each interleaving of its
// streams, up to a bound that small histories do not reach.
func (w *writer) orders(t *testing.T, f func(t *testing.T, s *fold.State)) {
	t.Helper()
	queues := map[ident.Stream][]*event.Event{}
	var ids []ident.Stream
	for _, e := range w.events {
		if queues[e.Stream] == nil {
			ids = append(ids, e.Stream)
		}
		queues[e.Stream] = append(queues[e.Stream], e)
	}
	n := 0
	var walk func(order []*event.Event, at []int)
	walk = func(order []*event.Event, at []int) {
		if n >= 300 || t.Failed() {
			return
		}
		if len(order) == len(w.events) {
			n++
			s := fold.New()
			for _, e := range order {
				s.Apply(e)
			}
			f(t, s)
			return
		}
		for i := range ids {
			// Turn about, so that the bound leaves orders that begin with any stream.
			i := (i + n) % len(ids)
			if at[i] < len(queues[ids[i]]) {
				next := slices.Clone(at)
				next[i]++
				walk(append(slices.Clone(order), queues[ids[i]][at[i]]), next)
			}
		}
	}
	walk(nil, make([]int, len(ids)))
}

func mustState(t *testing.T, s *fold.State, e *event.Event, want fold.StandingState) {
	t.Helper()
	if got := s.Standing(e.Key(), nil); got.State != want {
		t.Errorf("Standing(%v of %v) = %+v, want %s", e.Seq, e.Stream, got, want)
	}
}

func mustSession(t *testing.T, s *fold.State, id ident.SessionID, want fold.SessionState) {
	t.Helper()
	if got, ok := s.Session(id); !ok || got.State != want {
		t.Errorf("Session(%s) = %q, %v, want %s", id.SID, got.State, ok, want)
	}
}

func succeeded(run uint64, sessions []string, streams ...ident.Stream) event.StreamSucceeded {
	slices.Sort(streams)
	return event.StreamSucceeded{Record: record(0), Run: run, Sessions: sessions, Streams: streams}
}

func TestReleaseCountsFromAnyRunOfTheClaimsSessionOnly(t *testing.T) {
	for _, tt := range []struct {
		name string
		node int
		sid  string
		want fold.StandingState
	}{
		{"the session, from a later run", 0, "ada", fold.StandingReleased},
		{"another session of the runtime", 0, "bob", fold.StandingHeld},
		{"a session of that name in another runtime", 1, "ada", fold.StandingHeld},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWriter(t, 2)
			a, b := w.stream(0, 0), w.stream(tt.node, 1)
			w.write(a, run1())
			w.write(a, open("ada", '1'))
			c := w.write(a, claim(w, "ada", event.ModeExclusive, "path:a"))
			w.write(b, succeeded(2, []string{"ada", "bob"}, a))
			w.write(b, event.ClaimReleased{Claim: c.Key(), Session: tt.sid, Reason: "done"})
			w.orders(t, func(t *testing.T, s *fold.State) { mustState(t, s, c, tt.want) })
		})
	}
}

func TestCloseEndsWhatWasAcquiredBeforeAndReopeningRevivesNothing(t *testing.T) {
	w := newWriter(t, 1)
	a := w.stream(0, 0)
	w.write(a, open("ada", '1'))
	before := w.write(a, claim(w, "ada", event.ModeExclusive, "path:a"))
	w.write(a, event.SessionClosed{Session: "ada", Reason: "done"})
	between := w.write(a, claim(w, "ada", event.ModeExclusive, "path:b"))
	w.write(a, open("ada", '1'))
	after := w.write(a, claim(w, "ada", event.ModeExclusive, "path:c"))
	w.orders(t, func(t *testing.T, s *fold.State) {
		mustState(t, s, before, fold.StandingReleased)
		mustState(t, s, between, fold.StandingReleased) // its session was closed
		mustState(t, s, after, fold.StandingHeld)
		mustSession(t, s, w.session(0, "ada"), fold.SessionOpen)
		if c, _ := s.Claim(before.Key()); !c.Ended || c.Released || c.EndReason != "done" {
			t.Errorf("claim before the close = %+v, want ended: done", c)
		}
	})
}

func TestClaimOfSessionThatWasNeverOpenedDoesNotStand(t *testing.T) {
	w := newWriter(t, 1)
	c := w.write(w.stream(0, 0), claim(w, "ada", event.ModeExclusive, "path:a"))
	w.orders(t, func(t *testing.T, s *fold.State) {
		mustState(t, s, c, fold.StandingReleased)
		if v, _ := s.Claim(c.Key()); v.EndReason != "unopened" {
			t.Errorf("EndReason = %q, want unopened", v.EndReason)
		}
		if v, ok := s.Session(w.session(0, "ada")); ok {
			t.Errorf("Session = %+v, want none", v)
		}
	})
}

// The run decides which came first, not the stamp: a run that was rolled back
// may have stamped lower than what it lost.
func TestCloseOfALaterRunEndsAnEarlierRunsClaimAndNotTheOtherWayRound(t *testing.T) {
	w := newWriter(t, 1)
	a, b := w.stream(0, 0), w.stream(0, 1)
	w.write(a, run1())
	w.write(a, open("ada", '1'))
	early := w.writeAt(a, 50, claim(w, "ada", event.ModeExclusive, "path:a"))
	w.writeAt(a, 90, event.SessionClosed{Session: "bob", Reason: "done"})
	w.writeAt(b, 10, succeeded(2, []string{"ada", "bob"}, a))
	w.writeAt(b, 11, event.SessionClosed{Session: "ada", Reason: "gone"})
	w.writeAt(b, 12, open("bob", '1'))
	late := w.writeAt(b, 13, claim(w, "bob", event.ModeExclusive, "path:b"))
	w.orders(t, func(t *testing.T, s *fold.State) {
		mustState(t, s, early, fold.StandingReleased)
		mustState(t, s, late, fold.StandingHeld)
		mustSession(t, s, w.session(0, "ada"), fold.SessionClosed)
		mustSession(t, s, w.session(0, "bob"), fold.SessionOpen)
	})
}

func TestSuccessionCarriesListedSessionsInNamedStreams(t *testing.T) {
	for _, tt := range []struct {
		name    string
		first   event.StreamSucceeded
		claim   fold.StandingState
		session fold.SessionState
	}{
		{"listed and named", succeeded(2, []string{"ada"}, "a"), fold.StandingHeld, fold.SessionOpen},
		{"listed, the stream not named", succeeded(2, []string{"ada"}), fold.StandingReleased, fold.SessionOpen},
		{"not listed", succeeded(2, []string{"bob"}, "a"), fold.StandingReleased, fold.SessionEnded},
		{"another record", event.StreamSucceeded{Record: record(1), Run: 2}, fold.StandingHeld, fold.SessionOpen},
		{"the same run", succeeded(1, nil), fold.StandingHeld, fold.SessionOpen},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWriter(t, 1)
			a, b := w.stream(0, 0), w.stream(0, 1)
			first := tt.first
			for i := range first.Streams {
				first.Streams = slices.Clone(first.Streams)
				first.Streams[i] = a
			}
			w.write(a, run1())
			w.write(b, first)
			w.write(a, open("ada", '1')) // also what comes after it in an earlier run
			c := w.write(a, claim(w, "ada", event.ModeExclusive, "path:a"))
			w.orders(t, func(t *testing.T, s *fold.State) {
				mustState(t, s, c, tt.claim)
				mustSession(t, s, w.session(0, "ada"), tt.session)
				v, _ := s.Claim(c.Key())
				if v.Key != c.Key() || v.Epoch != c.Lamport {
					t.Errorf("Claim = %+v, want its old name and epoch", v)
				}
				if tt.name == "listed and named" && v.Stream != b {
					t.Errorf("Stream = %s, want the run it lives in now, %s", v.Stream, b)
				}
			})
		})
	}
}

func TestOfSeveralSuccessionsEachMayEndAndNoneRevives(t *testing.T) {
	w := newWriter(t, 1)
	a, b, c := w.stream(0, 0), w.stream(0, 1), w.stream(0, 2)
	w.write(a, run1())
	w.write(a, open("ada", '1'))
	mine := w.write(a, claim(w, "ada", event.ModeExclusive, "path:a"))
	w.write(b, succeeded(2, nil))
	w.write(c, succeeded(3, []string{"ada"}, a))
	late := w.write(c, claim(w, "ada", event.ModeExclusive, "path:b"))
	w.orders(t, func(t *testing.T, s *fold.State) {
		mustState(t, s, mine, fold.StandingReleased)
		mustState(t, s, late, fold.StandingReleased)
		mustSession(t, s, w.session(0, "ada"), fold.SessionEnded)
	})
}

func TestListedSessionIsOpenBeforeItsOpeningIsHeld(t *testing.T) {
	w := newWriter(t, 1)
	a, b := w.stream(0, 0), w.stream(0, 1)
	w.write(b, succeeded(2, []string{"ada"}, a))
	c := w.write(b, claim(w, "ada", event.ModeExclusive, "path:a"))
	s := fold.New()
	for _, e := range w.events {
		s.Apply(e)
	}
	mustSession(t, s, w.session(0, "ada"), fold.SessionOpen)
	mustState(t, s, c, fold.StandingHeld)

	s.Apply(w.write(a, run1()))
	changes := s.Apply(w.write(a, open("ada", '1')))
	mustSession(t, s, w.session(0, "ada"), fold.SessionOpen)
	mustState(t, s, c, fold.StandingHeld)
	if v, _ := s.Session(w.session(0, "ada")); v.Info.Client != "cli" || v.Stream != b || v.Opened.Stream != a {
		t.Errorf("Session = %+v, want opened in the first run, living in the second", v)
	}
	if !slices.Contains(changes.Claims, c.Key()) {
		t.Errorf("Changes = %+v, want the claim whose checkout is known now", changes)
	}
}

func TestFenceCountsOnly(t *testing.T) {
	for _, tt := range []struct {
		name         string
		mine, theirs event.Mode
		scope        string
		checkout     byte
		node         int
		epoch        uint64
		want         bool
	}{
		{"when both are exclusive", event.ModeExclusive, event.ModeExclusive, "dir:.", '2', 1, 0, true},
		{"when scopes meet", event.ModeExclusive, event.ModeExclusive, "path:b", '2', 1, 0, false},
		{"when sessions differ", event.ModeExclusive, event.ModeExclusive, "path:a", '1', 0, 0, false},
		{"with a higher epoch", event.ModeExclusive, event.ModeExclusive, "path:a", '2', 1, 1, false},
		{"not when the fence is advisory", event.ModeExclusive, event.ModeAdvisory, "path:a", '2', 1, 0, false},
		{"not of an advisory claim", event.ModeAdvisory, event.ModeExclusive, "path:a", '2', 1, 0, false},
		{"in the same checkout", event.ModeCheckout, event.ModeCheckout, "path:a", '1', 1, 0, true},
		{"not in another checkout", event.ModeCheckout, event.ModeCheckout, "path:a", '2', 1, 0, false},
		{"in the same checkout, of an exclusive one", event.ModeExclusive, event.ModeCheckout, "path:a", '1', 1, 0, true},
		{"not in another, of an exclusive one", event.ModeExclusive, event.ModeCheckout, "path:a", '2', 1, 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWriter(t, 2)
			a, b := w.stream(0, 0), w.stream(tt.node, 1)
			w.writeAt(a, 10, open("ada", '1'))
			w.writeAt(b, 1, open("ada", tt.checkout))
			mine := w.writeAt(a, 20, claim(w, "ada", tt.mine, "path:a"))
			c := claim(w, "ada", tt.theirs, tt.scope)
			c.Fences = []event.Key{mine.Key()}
			epoch := uint64(30)
			if tt.epoch > 0 {
				epoch = tt.epoch
			}
			w.writeAt(b, epoch, c)
			w.orders(t, func(t *testing.T, s *fold.State) {
				v, _ := s.Claim(mine.Key())
				if got := len(v.FencedBy) > 0; got != tt.want {
					t.Errorf("fenced = %v, want %v", got, tt.want)
				}
			})
		})
	}
}

func TestFenceNeverLapses(t *testing.T) {
	w := newWriter(t, 2)
	a, b := w.stream(0, 0), w.stream(1, 0)
	w.write(a, open("ada", '1'))
	w.write(b, open("bob", '2'))
	mine := w.write(a, claim(w, "ada", event.ModeExclusive, "path:a"))
	c := claim(w, "bob", event.ModeExclusive, "path:a")
	c.Fences = []event.Key{mine.Key()}
	fence := w.write(b, c)
	w.orders(t, func(t *testing.T, s *fold.State) {
		if got := s.Standing(mine.Key(), nil); got.State != fold.StandingConflicted || got.By != fence.Key() {
			t.Errorf("Standing = %+v, want conflicted by the fence", got)
		}
		mustState(t, s, fence, fold.StandingHeld)
		gone := func(st ident.Stream) bool { return st == b }
		if got := s.Standing(mine.Key(), gone); got.State != fold.StandingExpired {
			t.Errorf("Standing with the fence's run gone = %+v, want expired", got)
		}
	})
	w.write(b, event.ClaimReleased{Claim: fence.Key(), Session: "bob", Reason: "done"})
	again := w.write(a, claim(w, "ada", event.ModeExclusive, "path:a"))
	w.orders(t, func(t *testing.T, s *fold.State) {
		mustState(t, s, mine, fold.StandingExpired)
		mustState(t, s, fence, fold.StandingReleased)
		mustState(t, s, again, fold.StandingHeld)
	})
}

func TestBeatenClaimBeatsNobody(t *testing.T) {
	w := newWriter(t, 3)
	var st []ident.Stream
	for i := range 3 {
		st = append(st, w.stream(i, 0))
		w.write(st[i], open("s", '1'))
	}
	low := w.write(st[0], claim(w, "s", event.ModeExclusive, "path:a"))
	middle := w.write(st[1], claim(w, "s", event.ModeExclusive, "dir:."))
	high := w.write(st[2], claim(w, "s", event.ModeExclusive, "path:b"))
	w.orders(t, func(t *testing.T, s *fold.State) {
		mustState(t, s, low, fold.StandingHeld)
		mustState(t, s, high, fold.StandingHeld)
		if got := s.Standing(middle.Key(), nil); got.State != fold.StandingConflicted || got.By != low.Key() {
			t.Errorf("Standing = %+v, want conflicted by the lowest", got)
		}
		// With the lowest gone the middle one is held, and beats the highest.
		gone := func(x ident.Stream) bool { return x == st[0] }
		if got := s.Standing(high.Key(), gone); got.State != fold.StandingConflicted || got.By != middle.Key() {
			t.Errorf("Standing with the lowest gone = %+v, want conflicted by the middle one", got)
		}
		if got := s.Standing(low.Key(), gone); got.State != fold.StandingExpired {
			t.Errorf("Standing of the gone one = %+v, want expired", got)
		}
	})
	release := w.write(st[0], event.ClaimReleased{Claim: low.Key(), Session: "s", Reason: "done"})
	w.orders(t, func(t *testing.T, s *fold.State) {
		mustState(t, s, middle, fold.StandingHeld)
		mustState(t, s, high, fold.StandingConflicted)
	})
	s := fold.New()
	for _, e := range w.events[:len(w.events)-1] {
		s.Apply(e)
	}
	want := []event.Key{low.Key(), middle.Key(), high.Key()}
	slices.SortFunc(want, event.Key.Compare)
	if d := cmp.Diff(want, s.Apply(release).Claims); d != "" {
		t.Errorf("claims that the release changes (-want +got):\n%s", d)
	}
}

func TestCheckoutClaimsExcludeInTheirCheckoutOnly(t *testing.T) {
	for _, tt := range []struct {
		name         string
		mine, theirs event.Mode
		checkout     byte
		want         fold.StandingState
		overlap      bool
	}{
		{"same checkout", event.ModeCheckout, event.ModeCheckout, '1', fold.StandingConflicted, false},
		{"other checkout", event.ModeCheckout, event.ModeCheckout, '2', fold.StandingHeld, true},
		{"exclusive in the same checkout", event.ModeExclusive, event.ModeCheckout, '1', fold.StandingConflicted, false},
		{"exclusive in another", event.ModeExclusive, event.ModeCheckout, '2', fold.StandingHeld, true},
		{"advisory", event.ModeExclusive, event.ModeAdvisory, '1', fold.StandingHeld, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWriter(t, 1)
			a := w.stream(0, 0)
			w.write(a, open("ada", '1'))
			w.write(a, open("bob", tt.checkout))
			first := w.write(a, claim(w, "ada", tt.mine, "path:a"))
			c := w.write(a, claim(w, "bob", tt.theirs, "dir:."))
			w.orders(t, func(t *testing.T, s *fold.State) {
				mustState(t, s, first, fold.StandingHeld)
				mustState(t, s, c, tt.want)
				if got := slices.Contains(s.Standing(c.Key(), nil).Overlaps, first.Key()); got != tt.overlap {
					t.Errorf("overlaps = %v, want %v", got, tt.overlap)
				}
				if n := count(s.Meeting(set(t, "path:a"))); n != 2 {
					t.Errorf("%d claims meet path:a, want 2", n)
				}
			})
		})
	}
}

func TestTakingMayComeBeforeThePublication(t *testing.T) {
	w := newWriter(t, 2)
	a, b := w.stream(0, 0), w.stream(1, 0)
	w.write(a, open("ada", '1'))
	w.write(b, open("bob", '2'))
	h := event.HandoverPublished{Session: "ada", Handover: event.Handover{ID: event.HandoverID("# rest"), Body: "# rest"}}
	p := w.write(a, h)
	w.write(b, event.HandoverConsumed{Handover: h.Handover.ID, Publications: []event.Key{p.Key()}, Session: "bob"})
	w.write(b, event.HandoverWithdrawn{Publication: p.Key(), Session: "ada"}) // of another runtime: nothing
	w.orders(t, func(t *testing.T, s *fold.State) {
		v, ok := s.Handover(h.Handover.ID)
		if !ok || v.Open || len(v.Takings) != 1 || v.Takings[0].Session != w.session(1, "bob") || v.Publications[0].Withdrawn {
			t.Errorf("Handover = %+v, want taken by bob, not withdrawn", v)
		}
	})
	again := w.write(a, h)
	w.orders(t, func(t *testing.T, s *fold.State) {
		if v, _ := s.Handover(h.Handover.ID); !v.Open || v.Publications[1].Key != again.Key() || v.Publications[1].Taken {
			t.Errorf("Handover published again = %+v, want open", v)
		}
	})
	w.write(a, event.HandoverWithdrawn{Publication: again.Key(), Session: "ada"})
	w.orders(t, func(t *testing.T, s *fold.State) {
		if v, _ := s.Handover(h.Handover.ID); v.Open || !v.Publications[1].Withdrawn {
			t.Errorf("Handover withdrawn = %+v, want it not open", v)
		}
	})
}

func TestReviewEndsByItsSessionAndHearsOthersOnly(t *testing.T) {
	w := newWriter(t, 2)
	a, b := w.stream(0, 0), w.stream(1, 0)
	w.write(a, open("ada", '1'))
	w.write(b, open("bob", '2'))
	r := w.write(a, event.ReviewRequested{Session: "ada", Subject: "parser"})
	w.write(a, event.ReviewAnswered{Request: r.Key(), Session: "ada", Verdict: event.VerdictApproved})
	w.write(b, event.ReviewAnswered{Request: r.Key(), Session: "bob", Verdict: event.VerdictCommented})
	w.write(b, event.ReviewAnswered{Request: r.Key(), Session: "bob", Verdict: event.VerdictApproved})
	w.write(b, event.ReviewClosed{Request: r.Key(), Session: "bob", Reason: "mine"})
	w.orders(t, func(t *testing.T, s *fold.State) {
		v, ok := s.Review(r.Key())
		if !ok || !v.Open || len(v.Answers) != 2 || v.Answers[1].Verdict != event.VerdictApproved {
			t.Errorf("Review = %+v, want it open with bob's two answers", v)
		}
	})
	w.write(a, event.SessionClosed{Session: "ada", Reason: "done"})
	w.orders(t, func(t *testing.T, s *fold.State) {
		if v, _ := s.Review(r.Key()); v.Open || v.EndReason != "done" {
			t.Errorf("Review after its session closed = %+v, want it ended", v)
		}
	})
}

func TestCheckpointRemovesWhatItDoesNotName(t *testing.T) {
	all := func(*event.Event) bool { return true }
	for _, tt := range []struct {
		name       string
		change     func(k *event.StreamCheckpoint, a ident.Stream)
		foreign    bool
		want       fold.StandingState
		unreadable int
		incomplete bool
	}{
		{"of an earlier run that its first event names", nil, false, fold.StandingReleased, 0, false},
		{"not under a wrong digest", func(k *event.StreamCheckpoint, _ ident.Stream) { k.Digest = record(0) + record(1) }, false, fold.StandingHeld, 1, false},
		{"also while a named event is not held", func(k *event.StreamCheckpoint, a ident.Stream) {
			k.Kept[a] = append(k.Kept[a], event.Range{First: 9, Last: 9})
		}, false, fold.StandingReleased, 0, true},
		{"not of a stream that is no earlier run of its own", nil, true, fold.StandingHeld, 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWriter(t, 2)
			a, b := w.stream(0, 0), w.stream(0, 1)
			if tt.foreign {
				b = w.stream(1, 1)
			}
			w.write(a, run1())
			w.write(a, open("ada", '1'))
			kept := w.write(a, claim(w, "ada", event.ModeExclusive, "path:a"))
			k := w.checkpoint([]ident.Stream{a}, all)
			if tt.change != nil {
				tt.change(&k, a)
			}
			over := w.write(a, claim(w, "ada", event.ModeExclusive, "path:b"))
			w.write(b, succeeded(2, []string{"ada"}, a))
			w.write(b, k)
			w.orders(t, func(t *testing.T, s *fold.State) {
				mustState(t, s, kept, fold.StandingHeld)
				mustState(t, s, over, tt.want)
				for i := range s.Streams() {
					if i.Stream == b && i.Unreadable != tt.unreadable {
						t.Errorf("%d unreadable, want %d", i.Unreadable, tt.unreadable)
					}
					if i.Stream == a && i.Incomplete != tt.incomplete {
						t.Errorf("incomplete = %v, want %v", i.Incomplete, tt.incomplete)
					}
				}
				if tt.incomplete && s.Digest(nil) != s.Digest([]ident.Stream{b}) {
					t.Error("the incomplete stream is in the digest")
				}
			})
		})
	}
}

// What a checkpoint removed need not be held: skipping it is no damage.
func TestCheckpointMakesSkippedEventsNoDamage(t *testing.T) {
	w := newWriter(t, 1)
	a := w.stream(0, 0)
	w.write(a, open("ada", '1'))
	w.write(a, open("bob", '1'))
	c := w.write(a, claim(w, "bob", event.ModeExclusive, "path:b"))
	w.write(a, claim(w, "ada", event.ModeExclusive, "path:a"))
	w.write(a, w.checkpoint([]ident.Stream{a}, func(e *event.Event) bool { return e.Seq == 1 || e.Seq == 4 }))
	whole, part := fold.New(), fold.New()
	for _, e := range w.events {
		whole.Apply(e)
		if e.Seq == 2 || e.Seq == 3 {
			part.Skip(a, e.Seq, e.Seq)
		} else {
			part.Apply(e)
		}
	}
	if got, want := part.Digest(nil), whole.Digest(nil); got != want || got == fold.New().Digest(nil) {
		t.Errorf("Digest without what is removed = %s, want %s", got, want)
	}
	for i := range part.Streams() {
		if i.Damaged {
			t.Errorf("StreamInfo = %+v, want no damage", i)
		}
	}
	if v, ok := whole.Claim(c.Key()); ok {
		t.Errorf("Claim = %+v, want none: it is removed", v)
	}
}

func TestDamagedStreamIsSteppedOverAndLeftOutOfTheDigest(t *testing.T) {
	w := newWriter(t, 2)
	a, b := w.stream(0, 0), w.stream(1, 0)
	w.write(b, open("bob", '2'))
	first := w.write(a, open("ada", '1'))
	c := w.write(a, claim(w, "ada", event.ModeExclusive, "path:a"))
	s := fold.New()
	s.Apply(w.events[0])
	alone := s.Digest(nil)
	s.Skip(a, 1, 1)
	s.Apply(c)
	if got := s.Digest(nil); got != alone {
		t.Errorf("Digest with a damaged stream = %s, want that without it, %s", got, alone)
	}
	mustState(t, s, c, fold.StandingHeld) // the doubt is the claim's: its opening may be what is lost
	s.Apply(first)
	if got := s.Digest(nil); got == alone {
		t.Error("Digest is still without the stream once it is whole")
	}
	mustState(t, s, c, fold.StandingHeld)
}

func TestEventsOfNewerBuildsAreCounted(t *testing.T) {
	w := newWriter(t, 1)
	a := w.stream(0, 0)
	w.write(a, event.Opaque{Name: "x"})
	w.write(a, event.Opaque{Name: "y"})
	w.write(a, event.Unreadable{Name: "claim_acquired"})
	w.orders(t, func(t *testing.T, s *fold.State) {
		for i := range s.Streams() {
			if i.Opaque != 2 || i.Unreadable != 1 {
				t.Errorf("StreamInfo = %+v, want 2 opaque and 1 unreadable", i)
			}
		}
	})
}

func TestHeldEventChangesNothing(t *testing.T) {
	w := newWriter(t, 1)
	e := w.write(w.stream(0, 0), open("ada", '1'))
	s := fold.New()
	s.Apply(e)
	v := s.Version()
	if d := cmp.Diff(fold.Changes{}, s.Apply(e)); d != "" || s.Version() != v {
		t.Errorf("Apply of a held event changed something:\n%s", d)
	}
}

// A run that carries a session on, and names nothing of it, comes after one that
// named it was undone: as when a key is no longer believed, and then again.
func TestNewRunAfterTheOneThatNamedAStreamWasUndone(t *testing.T) {
	w := newWriter(t, 1)
	a, b, c := w.stream(0, 0), w.stream(0, 1), w.stream(0, 2)
	w.write(a, run1())
	w.write(a, open("ada", '1'))
	held := w.write(a, claim(w, "ada", event.ModeExclusive, "path:a"))
	w.write(b, succeeded(2, []string{"ada"}, a))
	s := fold.New()
	for _, e := range w.events {
		s.Apply(e)
	}
	mustState(t, s, held, fold.StandingHeld)
	s.Undo(b, 1)
	s.Apply(w.write(c, succeeded(3, []string{"ada"})))
	mustState(t, s, held, fold.StandingReleased)
}

func TestUndoneFirstEventMayBeFollowedByAnother(t *testing.T) {
	w := newWriter(t, 1)
	a, b := w.stream(0, 0), w.stream(0, 1)
	w.write(a, run1())
	w.write(a, open("ada", '1'))
	c := w.write(a, claim(w, "ada", event.ModeExclusive, "path:a"))
	w.write(b, succeeded(2, nil))
	s := fold.New()
	for _, e := range w.events {
		s.Apply(e)
	}
	mustState(t, s, c, fold.StandingReleased)
	if got := s.Undo(b, 1); !slices.Contains(got.Claims, c.Key()) {
		t.Errorf("Undo = %+v, want the claim that stands again", got)
	}
	mustState(t, s, c, fold.StandingHeld)

	delete(w.next, b)
	s.Apply(w.write(b, open("bob", '1'))) // of no record now
	for i := range s.Streams() {
		if i.Stream == b && (i.Record != "" || i.Run != 0 || i.Head != 1) {
			t.Errorf("StreamInfo = %+v, want no record", i)
		}
	}
	mustState(t, s, c, fold.StandingHeld)
}

// Of many that wait for one place the next is held when the first ends, and it
// alone: what each is worth is the same whether they came before the end or after.
func TestTheFirstOfThoseThatWaitIsHeldAlone(t *testing.T) {
	w := newWriter(t, 2)
	a, b := w.stream(0, 0), w.stream(1, 0)
	w.write(a, open("ada", '1'))
	first := w.write(a, claim(w, "ada", event.ModeExclusive, "dir:."))
	var waits []*event.Event
	for _, sid := range []string{"bob", "cyd", "dan"} {
		w.write(b, open(sid, '1'))
		waits = append(waits, w.write(b, claim(w, sid, event.ModeExclusive, "dir:.")))
	}
	w.write(a, event.SessionClosed{Session: "ada", Reason: "done"})
	digest := ""
	w.orders(t, func(t *testing.T, s *fold.State) {
		mustState(t, s, first, fold.StandingReleased)
		mustState(t, s, waits[0], fold.StandingHeld)
		for _, c := range waits[1:] {
			if v := s.Standing(c.Key(), nil); v.State != fold.StandingConflicted || v.By != waits[0].Key() {
				t.Errorf("Standing(%v) = %+v, want conflicted by %v", c.Key(), v, waits[0].Key())
			}
		}
		if got := s.Digest(nil); digest == "" {
			digest = got
		} else if got != digest {
			t.Errorf("the digest is %s, in another order %s", got, digest)
		}
	})
}
