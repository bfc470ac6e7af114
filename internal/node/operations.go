package node

import (
	"context"
	"errors"
	"os"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/room"
	"github.com/comity-dev/comity/internal/httpapi"
)

// placed is a request that comes from a folder.
type placed interface{ Place() api.Where }

// in makes an operation of a room's method.
func in[Req placed, Rep any](n *node, f func(*room.Room, context.Context, room.Actor, Req) (Rep, error)) httpapi.Func {
	return httpapi.Handle(func(ctx context.Context, c httpapi.Caller, req Req) (rep Rep, err error) {
		err = n.within(ctx, c, req.Place(), func(m *room.Room, a room.Actor) (err error) {
			rep, err = f(m, ctx, a, req)
			return err
		})
		return rep, err
	})
}

// reopenings bounds how often one request is begun anew because its room was
// closed under it.
const reopenings = 8

// within calls f with the room and the actor of a request, and again when a disk
// error that was not its own stopped the room under it: such a request has done
// nothing, and the journal is opened anew.
func (n *node) within(ctx context.Context, c httpapi.Caller, w api.Where, f func(*room.Room, room.Actor) error) (err error) {
	for range reopenings {
		m, a, aerr := n.actor(ctx, c, w)
		if aerr != nil {
			return aerr
		}
		if err = f(m, a); !bypassed(m, err) || n.stopping.Err() != nil {
			return err
		}
	}
	return err
}

// bypassed tells whether a request did nothing because its room takes no more.
func bypassed(m *room.Room, err error) bool {
	return errors.Is(err, api.ErrStopping) || errors.Is(err, api.ErrReadOnly) && stopped(m)
}

// operations are the functions of api.Operations.
func (n *node) operations() (map[string]httpapi.Func, httpapi.Watch) {
	ops := map[string]httpapi.Func{
		api.OpVersion:          httpapi.Handle(n.version),
		api.OpStop:             httpapi.Handle(n.stopNow),
		api.OpSessionOpen:      in(n, n.sessionOpen),
		api.OpSessionRenew:     in(n, (*room.Room).SessionRenew),
		api.OpSessionClose:     in(n, (*room.Room).SessionClose),
		api.OpSessionList:      in(n, (*room.Room).SessionList),
		api.OpClaim:            httpapi.Handle(n.claim),
		api.OpRelease:          in(n, (*room.Room).Release),
		api.OpCheck:            in(n, (*room.Room).Check),
		api.OpStatus:           in(n, n.status),
		api.OpLog:              in(n, (*room.Room).Log),
		api.OpNotices:          in(n, (*room.Room).Notices),
		api.OpHandoverPublish:  in(n, (*room.Room).HandoverPublish),
		api.OpHandoverList:     in(n, (*room.Room).HandoverList),
		api.OpHandoverShow:     in(n, (*room.Room).HandoverShow),
		api.OpHandoverTake:     in(n, (*room.Room).HandoverTake),
		api.OpHandoverDecline:  in(n, (*room.Room).HandoverDecline),
		api.OpHandoverWithdraw: in(n, (*room.Room).HandoverWithdraw),
		api.OpReviewRequest:    in(n, (*room.Room).ReviewRequest),
		api.OpReviewAnswer:     in(n, (*room.Room).ReviewAnswer),
		api.OpReviewClose:      in(n, (*room.Room).ReviewClose),
		api.OpReviewList:       in(n, (*room.Room).ReviewList),
		api.OpHook:             in(n, n.hook),
		api.OpGuard:            in(n, (*room.Room).Guard),
		api.OpDoctor:           httpapi.Handle(n.doctor),
		api.OpVerify:           in(n, n.verify),
	}
	return ops, n.watch
}

func (n *node) version(context.Context, httpapi.Caller, api.Empty) (api.VersionReply, error) {
	return api.VersionReply{Daemon: n.describe()}, nil
}

func (n *node) describe() api.Daemon {
	return api.Daemon{
		PID: os.Getpid(), Build: n.opts.Build, API: api.Version,
		Home: n.opts.Home.Dir, Socket: n.opts.Home.Socket,
		UpMS: (n.clock.Boot() - n.started).Milliseconds(),
	}
}

// stopNow answers before the daemon stops.
func (n *node) stopNow(_ context.Context, _ httpapi.Caller, req api.StopRequest) (api.Empty, error) {
	if req.Hold {
		if err := n.opts.Home.SetHeld(true); err != nil {
			return api.Empty{}, err
		}
	}
	n.stop()
	return api.Empty{}, nil
}

func (n *node) sessionOpen(m *room.Room, ctx context.Context, a room.Actor, req api.SessionOpenRequest) (api.SessionOpenReply, error) {
	p, err := owner(req.PID)
	if err != nil {
		return api.SessionOpenReply{}, err
	}
	return m.SessionOpen(ctx, a, req, p)
}

// claim ends a wait when the daemon stops, so that it can be taken up by the
// next one. A wait that goes on in a room opened anew has what was left of it.
func (n *node) claim(ctx context.Context, c httpapi.Caller, req api.ClaimRequest) (rep api.ClaimReply, err error) {
	ctx, cancel := n.untilStopping(ctx)
	defer cancel()
	began := n.clock.Boot()
	err = n.within(ctx, c, req.Where, func(m *room.Room, a room.Actor) (err error) {
		left := req
		if req.WaitMS > 0 {
			left.WaitMS = max(1, req.WaitMS-(n.clock.Boot()-began).Milliseconds())
		}
		rep, err = m.Claim(ctx, a, left)
		return err
	})
	return rep, n.orStopping(err)
}

func (n *node) status(m *room.Room, ctx context.Context, a room.Actor, req api.StatusRequest) (api.Status, error) {
	s, err := m.Status(ctx, a, req)
	s.Daemon = n.describe()
	return s, err
}

func (n *node) watch(ctx context.Context, c httpapi.Caller, req api.WatchRequest, emit func(api.Change) error) error {
	ctx, cancel := n.untilStopping(ctx)
	defer cancel()
	err := n.within(ctx, c, req.Where, func(m *room.Room, a room.Actor) error {
		return m.Watch(ctx, a, req, func(ch api.Change) error {
			req.After = ch.Cursor // where another room would go on
			return emit(ch)
		})
	})
	if err == nil {
		err = ctx.Err()
	}
	return n.orStopping(err)
}

// untilStopping ends ctx when the daemon is about to stop.
func (n *node) untilStopping(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	unhook := context.AfterFunc(n.stopping, cancel)
	return ctx, func() { unhook(); cancel() }
}

// orStopping tells a caller whose wait the stop has ended to come back.
func (n *node) orStopping(err error) error {
	if n.stopping.Err() == nil || !errors.Is(err, context.Canceled) {
		return err
	}
	return api.Errorf(api.CodeStopping, "the daemon is stopping").WithHint("repeat the command: the next daemon goes on where this one ended")
}
