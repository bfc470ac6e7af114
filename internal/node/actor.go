package node

import (
	"context"
	"errors"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/room"
	"github.com/comity-dev/comity/internal/httpapi"
	"github.com/comity-dev/comity/internal/proc"
)

// actor tells who calls, from where: the room of the repository and the caller
// in it. The session is the one that the caller names, else that of the agent
// above it, else that of its terminal; the operating system tells which process
// calls.
func (n *node) actor(ctx context.Context, c httpapi.Caller, w api.Where) (*room.Room, room.Actor, error) {
	at, err := n.find(ctx, w.Dir)
	if err != nil {
		return nil, room.Actor{}, err
	}
	m, err := n.rooms.get(ctx, at.repo)
	if err != nil {
		return nil, room.Actor{}, err
	}
	a := room.Actor{
		Session: w.Session, Checkout: at.checkout, Top: at.git.Top, By: at.by, Host: n.host,
		Tree: tree{ctx, at.git, w.Dir}, Git: facts{at.git, w.Dir}, Work: work{at.git}, Elsewhere: n.elsewhere(ctx, at, w.Dir),
	}
	if a.Session == "" && c.PID != 0 {
		a.Terminal = terminal(c.PID)
		a.Ancestors = ancestors(c)
	}
	return m, a, nil
}

// terminal is the process that leads pid's terminal; nil when there is none, or
// it cannot be told on this system.
func terminal(pid int) *room.Process {
	lead, ok, err := proc.Terminal(pid)
	if err != nil || !ok {
		return nil
	}
	p := process(lead)
	return &p
}

func process(p proc.ID) room.Process {
	return room.Process{PID: p.PID, Start: p.Start, Boot: p.Boot}
}

// owner is the process that a session shall live with.
func owner(pid int) (*room.Process, error) {
	if pid == 0 {
		return nil, nil
	}
	id, err := proc.Of(pid)
	if errors.Is(err, proc.ErrGone) {
		return nil, api.Errorf(api.CodeUsage, "process %d does not run", pid).WithHint("name the process that the session shall live with, such as --pid $PPID")
	}
	if err != nil {
		return nil, api.Errorf(api.CodeUsage, "process %d: %v", pid, err)
	}
	p := process(id)
	return &p, nil
}
