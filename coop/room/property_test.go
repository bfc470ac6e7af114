package room_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/comity-dev/comity/api"
)

// A step is one thing that a session does.
type step struct {
	who    int
	do     string
	scopes []string
}

const players = 4

var steps = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
	return step{
		who:    rapid.IntRange(0, players-1).Draw(t, "who"),
		do:     rapid.SampledFrom([]string{"claim", "wait", "wait", "release", "release all", "give up", "break", "restart session"}).Draw(t, "do"),
		scopes: rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a/", "a/x", "a/y", "b/", "b/x", "c"}), 1, 3, rapid.ID).Draw(t, "scopes"),
	}
}), 1, 40)

// model is what there should be: who has what, and who waits, in order.
type model struct {
	held  map[string][]held // by session
	waits []*modelWait
}

type held struct{ scopes []string }

type modelWait struct {
	*waiter
	scopes []string
}

func meets(a, b []string) bool {
	for _, x := range a {
		for _, y := range b {
			if x == y || strings.HasSuffix(x, "/") && strings.HasPrefix(y, x) || strings.HasSuffix(y, "/") && strings.HasPrefix(x, y) {
				return true
			}
		}
	}
	return false
}

// blockers are the other sessions that hold what scopes meet.
func (m *model) blockers(who string, scopes []string) (out []string) {
	for s, claims := range m.held {
		if s != who && slices.ContainsFunc(claims, func(h held) bool { return meets(h.scopes, scopes) }) {
			out = append(out, s)
		}
	}
	return out
}

// waitsFor tells whether one session can wait for another, directly or not, if
// nobody overtakes anybody.
func (m *model) waitsFor(from, to string, seen map[string]bool) bool {
	if from == to {
		return true
	}
	if seen[from] {
		return false
	}
	seen[from] = true
	for i, w := range m.waits {
		if w.who != from {
			continue
		}
		for _, b := range m.blockers(from, w.scopes) {
			if m.waitsFor(b, to, seen) {
				return true
			}
		}
		for _, u := range m.waits[:i] {
			if u.who != from && meets(u.scopes, w.scopes) && m.waitsFor(u.who, to, seen) {
				return true
			}
		}
	}
	return false
}

// play takes the steps and says what went wrong, "" when nothing did.
func play(t *testing.T, all []step) (wrong string) {
	f := newLive(t)
	m := &model{held: map[string][]held{}}
	for i := range players {
		f.join(fmt.Sprint("s", i))
	}
	// settle brings the model up to what the room did, and looks at it.
	settle := func(what string) string {
		synctest.Wait()
		left := m.waits[:0]
		for _, w := range m.waits {
			switch {
			case w.done && w.err == nil && !w.reply.Already:
				m.held[w.who] = append(m.held[w.who], held{w.scopes})
			case w.done:
			default:
				left = append(left, w)
			}
		}
		m.waits = left
		return m.wrong(f, what)
	}
	for i, s := range all {
		a := actor(fmt.Sprint("s", s.who), "a")
		what := fmt.Sprintf("step %d: %s does %s %v", i, a.Session, s.do, s.scopes)
		switch s.do {
		case "claim", "break":
			req := api.ClaimRequest{Scope: s.scopes}
			if s.do == "break" {
				req.Break, req.Reason = true, "test"
			}
			reply, err := f.Claim(t.Context(), a, req)
			free := len(m.blockers(a.Session, s.scopes)) == 0
			switch {
			case err == nil && !free && s.do == "claim":
				return what + ": admitted over a holder"
			case err == nil && !reply.Already:
				for other, claims := range m.held {
					if other != a.Session {
						m.held[other] = slices.DeleteFunc(claims, func(h held) bool { return meets(h.scopes, s.scopes) })
					}
				}
				m.held[a.Session] = append(m.held[a.Session], held{s.scopes})
			case err != nil && !errors.Is(err, api.ErrConflict):
				return fmt.Sprintf("%s: %v", what, err)
			case err != nil && free && !slices.ContainsFunc(m.waits, func(w *modelWait) bool { return w.who != a.Session && meets(w.scopes, s.scopes) }):
				return what + ": refused though nobody holds it or waits for it"
			}
		case "wait":
			m.waits = append(m.waits, &modelWait{f.wait(a, time.Hour, s.scopes...), s.scopes})
			if w := m.waits[len(m.waits)-1]; w.done && errors.Is(w.err, api.ErrCycle) {
				ok := slices.ContainsFunc(m.blockers(a.Session, s.scopes), func(b string) bool { return m.waitsFor(b, a.Session, map[string]bool{}) }) ||
					slices.ContainsFunc(m.waits, func(u *modelWait) bool {
						return u.who != a.Session && meets(u.scopes, s.scopes) && m.waitsFor(u.who, a.Session, map[string]bool{})
					})
				if !ok {
					return what + ": refused as a cycle that is none: " + w.err.Error()
				}
			}
		case "release":
			mine := m.held[a.Session]
			if len(mine) == 0 {
				continue
			}
			claims := f.status(a).Claims
			for _, c := range claims {
				if c.Session == a.Session && slices.Equal(c.Scope, stored(t, mine[0].scopes)) {
					f.release(a, c.Claim)
					break
				}
			}
			m.held[a.Session] = mine[1:]
		case "release all":
			f.release(a)
			delete(m.held, a.Session)
		case "give up":
			for _, w := range m.waits {
				if w.who == a.Session {
					w.stop()
				}
			}
		case "restart session":
			if _, err := f.SessionClose(t.Context(), a, api.SessionCloseRequest{}); err != nil {
				return err.Error()
			}
			delete(m.held, a.Session)
			synctest.Wait()
			f.join(a.Session)
		}
		if wrong := settle(what); wrong != "" {
			return wrong
		}
	}
	for i := range players { // everybody lets go, until all that wait have had their turn
		a := actor(fmt.Sprint("s", i%players), "a")
		f.release(a)
		delete(m.held, a.Session)
		if wrong := settle("at the end"); wrong != "" {
			return wrong
		}
	}
	for range len(m.waits) + players {
		for i := range players {
			a := actor(fmt.Sprint("s", i), "a")
			f.release(a)
			delete(m.held, a.Session)
			if wrong := settle("at the end"); wrong != "" {
				return wrong
			}
		}
	}
	if len(m.waits) > 0 {
		return fmt.Sprintf("%s never gets %v", m.waits[0].who, m.waits[0].scopes)
	}
	return ""
}

func stored(t testing.TB, words []string) []string {
	var out []string
	for _, w := range words {
		form := "path:"
		if strings.HasSuffix(w, "/") {
			form = "dir:"
		}
		out = append(out, form+strings.TrimSuffix(w, "/"))
	}
	return scopes(t, sorted(out)...).Strings()
}

func sorted(s []string) []string { slices.Sort(s); return s }

// wrong holds the room against the model, at rest.
func (m *model) wrong(f *fixture, what string) string {
	s, err := f.Status(f.Context(), actor("", "a"), api.StatusRequest{})
	if err != nil {
		return err.Error()
	}
	count := 0
	for i, c := range s.Claims {
		count++
		if c.Standing != api.StandingHeld {
			return fmt.Sprintf("%s: claim %v of %s is %s", what, c.Scope, c.Session, c.Standing)
		}
		for _, d := range s.Claims[:i] {
			if c.Session != d.Session && meets(unstored(c.Scope), unstored(d.Scope)) {
				return fmt.Sprintf("%s: %s and %s both hold %v and %v", what, c.Session, d.Session, c.Scope, d.Scope)
			}
		}
	}
	want := 0
	for _, claims := range m.held {
		want += len(claims)
	}
	if count != want {
		return fmt.Sprintf("%s: %d claims, want %d", what, count, want)
	}
	if len(s.Waits) != len(m.waits) {
		return fmt.Sprintf("%s: %d waits, want %d", what, len(s.Waits), len(m.waits))
	}
	edges := map[string][]string{} // as the room sees them
	for i, w := range m.waits {
		if s.Waits[i].Session != w.who {
			return fmt.Sprintf("%s: the queue is out of order", what)
		}
		edges[w.who] = append(edges[w.who], s.Waits[i].For...)
	}
	for i, w := range m.waits {
		for _, b := range m.blockers(w.who, w.scopes) {
			if !slices.Contains(s.Waits[i].For, b) {
				return fmt.Sprintf("%s: %s waits for %v, and %s is not among them", what, w.who, s.Waits[i].For, b)
			}
		}
		ahead := func(u *modelWait) bool {
			return u.who != w.who && meets(u.scopes, w.scopes) && !reaches(edges, u.who, w.who, map[string]bool{})
		}
		if len(m.blockers(w.who, w.scopes)) == 0 && !slices.ContainsFunc(m.waits[:i], ahead) {
			return fmt.Sprintf("%s: %s sleeps though %v is free", what, w.who, w.scopes)
		}
		for _, b := range s.Waits[i].For {
			if reaches(edges, b, w.who, map[string]bool{}) {
				return fmt.Sprintf("%s: a cycle through %s and %s stands", what, w.who, b)
			}
		}
	}
	return ""
}

func reaches(edges map[string][]string, from, to string, seen map[string]bool) bool {
	if from == to {
		return true
	}
	if seen[from] {
		return false
	}
	seen[from] = true
	return slices.ContainsFunc(edges[from], func(next string) bool { return reaches(edges, next, to, seen) })
}

func unstored(stored []string) []string {
	var out []string
	for _, s := range stored {
		form, text, _ := strings.Cut(s, ":")
		if form == "dir" {
			text += "/"
		}
		out = append(out, text)
	}
	return out
}

// Whatever sessions do, no two hold what meets, nobody sleeps before a free
// scope, no cycle stands, the queue keeps its order, and all get their turn.
func TestWaitsAgainstAModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		all := steps.Draw(rt, "steps")
		wrong := ""
		synctest.Test(t, func(t *testing.T) { wrong = play(t, all) })
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
}
