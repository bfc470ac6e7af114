package room

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/scope"
)

// An Actor is who asks, and where it stands.
type Actor struct {
	// Session is the name that the caller gave, "" when it gave none.
	Session string
	// Terminal is the process that leads the caller's terminal; nil when it has
	// none or is not known.
	Terminal *Process
	// Agent is the process of the agent that a hook's caller belongs to; nil when
	// that is not known, and for other callers.
	Agent *Process
	// Ancestors are the processes above the caller, nearest first.
	Ancestors []Process
	Checkout  ident.CheckoutID
	Top       string // folder of the checkout
	By        string // the person
	Host      string
	Tree      Tree
	Git       Git
	Work      Work // nil: the working tree cannot be looked at
	// Elsewhere tells whether a word lies in another checkout of the repository,
	// and which; nil means that none does.
	Elsewhere func(word string) (id ident.CheckoutID, top string, ok bool)
}

// A Tree is the working tree of the caller's checkout, as the door of package
// scope asks for it.
type Tree = scope.Tree

// A Kind is what stands at a path of a Tree.
type Kind = scope.Kind

// The kinds.
const (
	Missing = scope.Missing
	File    = scope.File
	Folder  = scope.Folder
)

// Git answers what the room asks of the caller's checkout.
type Git interface {
	// Head is the branch ("" when detached) and commit ("" before the first).
	Head(ctx context.Context) (branch, commit string, err error)
	// Commit resolves a revision to a commit and its tree.
	Commit(ctx context.Context, rev string) (commit, tree string, err error)
	// Changed lists what this branch and the working tree changed since the
	// default branch; more tells that the list was cut.
	Changed(ctx context.Context) (paths []string, more bool, err error)
}

// acting finds the session that a acts as, among those that are open, and renews
// its time to live: the one that a names, else that of the agent among its
// ancestors, else its terminal's. It returns "" without an error when there is
// none.
func (r *Room) acting(v look, a Actor) (sid string, err error) {
	switch {
	case a.Session != "":
		if sid, err = r.ownSID(a.Session); err == nil {
			err = r.mustBeOpen(v, sid)
		}
	default:
		sid = r.agentSession(v, a.Ancestors)
		if sid == "" && a.Terminal != nil {
			sid = r.terminalSession(v, *a.Terminal)
		}
	}
	if err == nil && sid != "" {
		r.touch(sid)
	}
	return sid, err
}

func (r *Room) terminalSession(v look, p Process) string {
	for sid, o := range r.owners {
		if o.Kind == ownerTerminal && o.Process == p && r.isOpen(v, sid) {
			return sid
		}
	}
	return ""
}

// heard renews the session of a caller that only reads and may have none.
func (r *Room) heard(v look, a Actor) {
	if _, err := r.acting(v, a); err != nil {
		return // reading needs no session
	}
}

// ownSID accepts a session of this runtime by its short or its whole name.
func (r *Room) ownSID(name string) (string, error) {
	if !strings.Contains(name, "/") {
		if err := ident.ValidSID(name); err != nil {
			return "", api.Errorf(api.CodeUsage, "%v", err)
		}
		return name, nil
	}
	id, err := ident.ParseSessionID(name)
	if err != nil {
		return "", api.Errorf(api.CodeUsage, "%v", err)
	}
	if !r.own(id) {
		return "", api.Errorf(api.CodeNotOwn, "session %s belongs to another machine or user", id.SID).
			WithHint("act as a session of your own: comity session list")
	}
	return id.SID, nil
}

// sessionOf finds or opens the session of a writing call. opened names the one
// that it opened for the caller's terminal.
func (r *Room) sessionOf(ctx context.Context, a Actor, intent, issue string) (sid, opened string, err error) {
	r.view(func(v look) { sid, err = r.acting(v, a) })
	if err != nil || sid != "" {
		return sid, "", err
	}
	if a.Terminal == nil {
		return "", "", a.noSession()
	}
	reply, err := r.openSession(ctx, a, api.SessionOpenRequest{Intent: intent, Issue: issue}, &owner{Kind: ownerTerminal, Process: *a.Terminal}, true)
	if err != nil {
		return "", "", err
	}
	if !reply.Created { // another command of this terminal was faster
		return reply.Session.Session, "", nil
	}
	return reply.Session.Session, reply.Session.Session, nil
}

func (a Actor) noSession() error {
	if a.Terminal != nil {
		return api.Errorf(api.CodeNoSession, "no session: none is named and this terminal has none open").
			WithHint("name one with --session; comity session list shows them")
	}
	return api.Errorf(api.CodeNoSession, "no session: none is named and this process has no terminal").
		WithHint("export COMITY_SESSION=$(comity session open --pid $PPID), or name one with --session")
}

// isOpen counts what is written and not yet synced: a close that is on its way
// has closed. A session that is over is closed, written or not.
func (r *Room) isOpen(v look, sid string) bool {
	if o := r.owners[sid]; o != nil && r.over(sid, o) != "" {
		r.poke()
		return false
	}
	return r.openByEvents(v, sid)
}

func (r *Room) openByEvents(v look, sid string) bool {
	s, ok := v.State().Session(r.id(sid))
	open := ok && s.State == fold.SessionOpen && r.ours(v, s)
	for _, e := range v.Pending() {
		switch b := e.Body.(type) {
		case event.SessionOpened:
			open = open || b.Info.Session == sid
		case event.SessionClosed:
			open = open && b.Session != sid
		}
	}
	return open
}

func (r *Room) mustBeOpen(v look, sid string) error {
	if r.isOpen(v, sid) {
		return nil
	}
	s, ok := v.State().Session(r.id(sid))
	if !ok {
		return api.Errorf(api.CodeUnknownSession, "session %s is not known here", sid).
			WithHint("comity session list shows the open ones; comity session open --session %s opens it", sid)
	}
	reason := s.Reason
	if o := r.owners[sid]; o != nil && s.State != fold.SessionClosed { // its close is about to be written
		reason = cmp.Or(r.over(sid, o), reason)
	}
	return api.Errorf(api.CodeSessionClosed, "session %s is closed: %s", sid, words(reason)).
		WithHint("open a session: comity session open")
}

// words makes a reason code readable.
func words(reason string) string {
	if reason == "" {
		return "no reason given"
	}
	return strings.ReplaceAll(reason, "_", " ")
}

// infoOf is the newest that an own session said of itself, synced or not.
func (r *Room) infoOf(v look, sid string) event.SessionInfo {
	for _, e := range slices.Backward(v.Pending()) {
		if b, ok := e.Body.(event.SessionOpened); ok && b.Info.Session == sid {
			return b.Info
		}
	}
	s, _ := v.State().Session(r.id(sid))
	if s.Info.Session == "" { // its opening was lost to damage: what a new one must say
		return event.SessionInfo{Session: sid, Client: "unknown"}
	}
	return s.Info
}
