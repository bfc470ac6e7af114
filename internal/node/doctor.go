package node

import (
	"context"
	"fmt"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/room"
	"github.com/comity-dev/comity/internal/httpapi"
)

// doctor makes the checks that need the daemon: itself, and the journal of the
// repository that the caller stands in, if any.
func (n *node) doctor(ctx context.Context, c httpapi.Caller, req api.DoctorRequest) (api.Report, error) {
	checks := []api.Check{n.daemonCheck()}
	if req.Dir == "" {
		return api.NewReport(checks), nil
	}
	m, a, err := n.actor(ctx, c, api.Where{Dir: req.Dir}) // whoever asks may ask
	if err != nil {
		e := api.AsError(err)
		checks = append(checks, api.Check{Name: "repository", State: api.CheckFail, Detail: e.Message, Impact: "nothing can be coordinated from this folder", Remedy: e.Hint})
		return api.NewReport(checks), nil
	}
	checks = append(checks, sessionCheck(m, ctx, a), logCheck(n.opts.Home, m.Repository()))
	return api.NewReport(append(checks, m.Doctor()...)), nil
}

func (n *node) daemonCheck() api.Check {
	d := n.describe()
	c := api.Check{Name: "daemon", State: api.CheckOK, Detail: fmt.Sprintf("pid %d, build %s, node %s", d.PID, d.Build, n.key.Node())}
	if n.machine == "" {
		c.State = api.CheckWarn
		c.Detail += "; this machine has no id"
		c.Impact = "a state folder that is copied to another machine is not recognised as a copy"
	}
	return c
}

func sessionCheck(m *room.Room, ctx context.Context, a room.Actor) api.Check {
	c := api.Check{Name: "session", State: api.CheckOK}
	s, err := m.SessionList(ctx, a, api.SessionListRequest{})
	switch {
	case err != nil:
		c.State, c.Detail = api.CheckFail, err.Error()
	case a.Terminal == nil:
		c.Detail = fmt.Sprintf("%d open; this process has no terminal, so it has to name its session", len(s.Sessions))
	default:
		c.Detail = fmt.Sprintf("%d open", len(s.Sessions))
	}
	return c
}

func (n *node) verify(m *room.Room, ctx context.Context, _ room.Actor, _ api.DoctorRequest) (api.Report, error) {
	report, err := m.Verify(ctx)
	if err != nil {
		return report, err
	}
	return api.NewReport(append(report.Checks, logCheck(n.opts.Home, m.Repository()))), nil
}
