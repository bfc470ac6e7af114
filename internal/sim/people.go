package sim

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/journal"
	"github.com/comity-dev/comity/coop/room"
)

// tree is every machine's checkout: names with a dot are files.
type tree struct{}

func (tree) Rel(word string) (string, error) { return path.Clean(word), nil }

func (tree) Kind(p string) (room.Kind, error) {
	switch {
	case strings.HasPrefix(p, "@"), strings.ContainsAny(p, "*{"):
		return room.Missing, nil
	case strings.Contains(path.Base(p), "."):
		return room.File, nil
	}
	return room.Folder, nil
}

// git is every machine's repository: one commit.
type git struct{}

const commit = "cccccccccccccccccccccccccccccccccccccccc"

func (git) Head(context.Context) (string, string, error) { return "main", commit, nil }
func (git) Commit(context.Context, string) (string, string, error) {
	return commit, commit, nil
}
func (git) Changed(context.Context) ([]string, bool, error) { return nil, false, nil }

// words are what people claim; many of them meet.
var words = []string{
	"src/", "src/a.go", "src/b.go", "src/api/", "src/api/x.go", "docs/", "docs/*.md", "docs/a.md", "src/**/*.go", "@port/3000", "@db", "Makefile.x", "src/A.go",
}

func (w *World) scope() []string {
	var out []string
	for range 1 + w.rng.IntN(2) {
		if s := pick(w, words); !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// actor is a session of m, in one of two checkouts.
func (m *machine) actor(sid string) room.Actor {
	a := room.Actor{Session: sid, Top: "/repo", By: "person " + m.name, Host: m.name, Tree: tree{}, Git: git{}}
	a.Checkout = ident.CheckoutID(fmt.Sprintf("%015x%x", m.n+1, len(sid)%2))
	return a
}

// sessions are m's own open ones, as m sees it.
func (m *machine) sessions() (sids []string) {
	m.j.View(func(v journal.View) {
		for s := range v.State().OpenSessions() {
			if s.ID.Runtime == m.runtime() && v.Liveness(s.Stream) == journal.Own {
				sids = append(sids, s.ID.SID)
			}
		}
	})
	return sids
}

// claims are the live claims that m knows of, its own or those of others.
func (m *machine) claims(own bool) (all []fold.Claim) {
	m.j.View(func(v journal.View) {
		for c := range v.State().Claims() {
			if (c.Session.Runtime == m.runtime()) == own {
				all = append(all, c)
			}
		}
	})
	return all
}

// An operation is one thing that a person or an agent does at a machine.
type operation struct {
	weight int
	name   string
	do     func(w *World, m *machine)
}

var operations = []operation{
	{4, "open", (*World).opOpen},
	{2, "close", (*World).opClose},
	{12, "claim", (*World).opClaim},
	{3, "advisory", (*World).opAdvisory},
	{3, "checkout", (*World).opCheckout},
	{3, "break", (*World).opBreak},
	{6, "release", (*World).opRelease},
	{6, "check", (*World).opCheck},
	{3, "handover", (*World).opHandover},
	{3, "take", (*World).opTake},
	{2, "review", (*World).opReview},
	{2, "answer", (*World).opAnswer},
	{1, "exit", (*World).opExit},
}

func weigh(w *World, all []operation) operation {
	sum := 0
	for _, o := range all {
		sum += o.weight
	}
	n := w.rng.IntN(sum)
	for _, o := range all {
		if n -= o.weight; n < 0 {
			return o
		}
	}
	panic("unreachable: the weights were summed up")
}

// people does something at one of the machines that run.
func (w *World) people() {
	all := w.some((*machine).running)
	if len(all) == 0 {
		return
	}
	m := pick(w, all)
	w.at(m, func() { weigh(w, operations).do(w, m) })
}

// at does something at a machine, as a request to its daemon.
func (w *World) at(m *machine, do func()) {
	m.sync()
	m.lookForGap()
	do()
	if !m.up {
		return
	}
	m.noteWrites()
	m.changed()
}

func (m *machine) said(what string, err error) {
	if err == nil {
		m.log("%s", what)
		return
	}
	e := api.AsError(err)
	m.log("%s: %s", what, e.Code)
	switch e.Code {
	case api.CodeConflict, api.CodeGap, api.CodeSessionClosed, api.CodeNotOwn, api.CodeUnknownSession, api.CodeBound:
	default:
		if m.j.Broken() == nil && !errors.Is(err, journal.ErrNoSpace) && !m.disk.failing {
			fail(Works, "%s: %s: %v", m.name, what, err)
		}
	}
}

func (w *World) opOpen(m *machine) {
	sid := fmt.Sprintf("%s%d", m.name, m.own)
	if m.own > 3 && w.chance(2) {
		sid = fmt.Sprintf("%s%d", m.name, w.rng.IntN(m.own)) // again
	} else {
		m.own++
	}
	req, p := api.SessionOpenRequest{Name: sid, Intent: "work of " + sid}, (*room.Process)(nil)
	if w.chance(3) {
		p = m.procs.run()
	} else {
		req.TTLMS = w.between(time.Minute, time.Hour).Milliseconds()
	}
	_, err := m.room.SessionOpen(context.Background(), m.actor(sid), req, p)
	m.said("opens "+sid, err)
}

func (w *World) session(m *machine) (room.Actor, bool) {
	sids := m.sessions()
	if len(sids) == 0 {
		w.opOpen(m)
		return room.Actor{}, false
	}
	return m.actor(pick(w, sids)), true
}

func (w *World) opClose(m *machine) {
	if a, ok := w.session(m); ok && w.chance(3) {
		_, err := m.room.SessionClose(context.Background(), a, api.SessionCloseRequest{})
		m.said("closes "+a.Session, err)
	}
}

func (w *World) opExit(m *machine) {
	if len(m.procs.watch) == 0 {
		return
	}
	one := pick(w, m.procs.watch)
	m.procs.end(one.p)
	m.log("process %d ends", one.p.PID)
	m.upkeep()
}

func (w *World) opClaim(m *machine) { w.claim(m, api.ClaimRequest{Scope: w.scope()}) }
func (w *World) opAdvisory(m *machine) {
	w.claim(m, api.ClaimRequest{Scope: w.scope(), Mode: api.ModeAdvisory})
}
func (w *World) opCheckout(m *machine) {
	w.claim(m, api.ClaimRequest{Scope: w.scope(), Mode: api.ModeCheckout})
}
func (w *World) opBreak(m *machine) {
	w.claim(m, api.ClaimRequest{Scope: w.scope(), Break: true, Reason: "in a hurry"})
}

func (w *World) claim(m *machine, req api.ClaimRequest) {
	if a, ok := w.session(m); ok {
		m.claim(a, req)
	}
}

func (m *machine) claim(a room.Actor, req api.ClaimRequest) (api.ClaimReply, error) {
	before := m.blockers(a.Session, req)
	reply, err := m.room.Claim(context.Background(), a, req)
	m.said(fmt.Sprintf("%s claims %v %s break %v", a.Session, req.Scope, req.Mode, req.Break), err)
	m.noteWrites()
	m.checkAdmission(a, req, before, reply, err)
	return reply, err
}

func (w *World) opRelease(m *machine) {
	a, ok := w.session(m)
	if !ok {
		return
	}
	req := api.ReleaseRequest{All: true}
	if own := m.claims(true); len(own) > 0 && w.chance(2) {
		c := pick(w, own)
		req = api.ReleaseRequest{Claims: []string{c.Key.String()}, Person: w.chance(2)}
	}
	_, err := m.room.Release(context.Background(), a, req)
	m.said(fmt.Sprintf("%s releases %v", a.Session, req.Claims), err)
}

func (w *World) opCheck(m *machine) {
	if a, ok := w.session(m); ok {
		m.check(a, pick(w, []string{"src/a.go", "src/api/x.go", "docs/a.md"}))
	}
}

func (w *World) opHandover(m *machine) {
	a, ok := w.session(m)
	if !ok {
		return
	}
	body := fmt.Sprintf("text %d", w.rng.IntN(6))
	_, err := m.room.HandoverPublish(context.Background(), a, api.HandoverPublishRequest{Body: body})
	m.said(a.Session+" offers "+body, err)
}

func (w *World) opTake(m *machine) {
	a, ok := w.session(m)
	if !ok {
		return
	}
	var ids []string
	m.j.View(func(v journal.View) {
		for h := range v.State().Handovers() {
			ids = append(ids, h.ID)
		}
	})
	if len(ids) == 0 {
		return
	}
	req := api.HandoverRequest{Handover: pick(w, ids), Again: w.chance(3)}
	do, what := m.room.HandoverTake, "takes"
	switch w.rng.IntN(4) {
	case 0:
		do, what, req.Reason = m.room.HandoverDecline, "declines", "no time"
	case 1:
		do, what = m.room.HandoverWithdraw, "withdraws"
	}
	_, err := do(context.Background(), a, req)
	m.said(fmt.Sprintf("%s %s %s", a.Session, what, req.Handover), err)
}

func (w *World) opReview(m *machine) {
	if a, ok := w.session(m); ok {
		_, err := m.room.ReviewRequest(context.Background(), a, api.ReviewRequestRequest{Subject: "look at this"})
		m.said(a.Session+" asks for a review", err)
	}
}

func (w *World) opAnswer(m *machine) {
	a, ok := w.session(m)
	if !ok {
		return
	}
	var keys []string
	m.j.View(func(v journal.View) {
		for r := range v.State().OpenReviews() {
			keys = append(keys, r.Key.String())
		}
	})
	if len(keys) == 0 {
		return
	}
	key := pick(w, keys)
	if w.chance(3) {
		_, err := m.room.ReviewClose(context.Background(), a, api.ReviewCloseRequest{Review: key})
		m.said(a.Session+" closes a review", err)
		return
	}
	_, err := m.room.ReviewAnswer(context.Background(), a, api.ReviewAnswerRequest{Review: key, Verdict: "approved"})
	m.said(a.Session+" answers a review", err)
}
