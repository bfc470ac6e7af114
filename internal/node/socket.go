package node

import (
	"errors"
	"net"
	"net/http"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/comity-dev/comity/internal/httpapi"
	"github.com/comity-dev/comity/internal/vfs"
)

// glance is the pause between two looks at the socket and the lock: well under
// the time that a client waits for a daemon which has the lock to answer.
const glance = 2 * time.Second

// serveOn answers on a listener until it is closed.
func serveOn(server *http.Server, l net.Listener) error {
	err := server.Serve(l)
	if errors.Is(err, http.ErrServerClosed) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// stayReachable looks after the socket's file until the daemon stops: a daemon
// that has the lock, and that nobody can call, would keep everybody out. When
// the file was removed (by who cleans up temporary folders) it listens anew. It
// stops the daemon when it cannot, and when the lock itself was removed, since
// what is written into a folder that is gone is lost: the next client starts
// another one.
func (n *node) stayReachable(g *errgroup.Group, server *http.Server, l *httpapi.Listener) {
	for n.pause() {
		switch {
		case !n.holdsHome():
			n.opts.Log.Error("the state folder was removed: stopping", "home", n.opts.Home.Dir)
			n.stop()
		case l.Lost():
			next, err := n.listenAgain()
			if err != nil {
				n.opts.Log.Error("the socket was removed and cannot be made again: stopping", "err", err)
				n.stop()
				continue
			}
			n.opts.Log.Warn("the socket was removed: listening again", "socket", n.opts.Home.Socket)
			_ = l.Close() // its file is gone, and what it has accepted goes on
			l = next
			g.Go(func() error { return serveOn(server, next) })
		}
	}
}

// pause waits for the next glance; false means that the daemon stops.
func (n *node) pause() bool {
	timer := n.clock.NewTimer(glance)
	defer timer.Stop()
	select {
	case <-timer.C():
		return n.stopping.Err() == nil
	case <-n.stopping.Done():
		return false
	}
}

// listenAgain makes the socket with all that was looked at the first time: its
// folder may have been removed too, and made by somebody else.
func (n *node) listenAgain() (*httpapi.Listener, error) {
	if err := n.opts.Home.Prepare(vfs.OS()); err != nil {
		return nil, err
	}
	return httpapi.Listen(n.opts.Home.Socket)
}

// holdsHome tells that the state folder is still the one whose lock this daemon
// has. What cannot be told counts as yes.
func (n *node) holdsHome() bool {
	info, running, err := n.opts.Home.Running()
	if err != nil {
		return true
	}
	return running && (info.PID == 0 || info.PID == os.Getpid())
}
