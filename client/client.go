package client

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"

	"github.com/comity-dev/comity/internal/home"
)

// Options of a client; nil and zero mean the defaults.
type Options struct {
	// Getenv looks up the environment; nil is os.Getenv.
	Getenv func(string) string
	// NoStart: never start and never replace a daemon.
	NoStart bool
	// Person says that a person asked for the call, which lifts the hold that
	// `comity stop` put on starting a daemon.
	Person bool
	// Exe is the program that is started as the daemon, with the arguments
	// `serve --background`; "" is the running one.
	Exe string
	// Build is the build id of Exe. A daemon whose build sorts before it is asked
	// to hand over; "" replaces none.
	Build string
}

// A Client calls the daemon of one user.
type Client struct {
	opts Options
	home home.Home
	http *http.Client

	mu     sync.Mutex
	socket string // where the daemon was last reached
}

// New returns a client. It does no more than find out where the daemon of this
// environment would be.
func New(o *Options) (*Client, error) {
	if o == nil {
		o = new(Options)
	}
	c := &Client{opts: *o}
	if c.opts.Getenv == nil {
		c.opts.Getenv = os.Getenv
	}
	h, err := home.Locate(c.opts.Getenv)
	if err != nil {
		return nil, HomeError(err)
	}
	c.home, c.socket = h, h.Socket
	c.http = &http.Client{Transport: &http.Transport{
		DialContext:       c.dial,
		DisableKeepAlives: true, // a call never meets a connection that has died meanwhile
		MaxIdleConns:      1,
	}}
	return c, nil
}

// Home is where the daemon of this client keeps its state.
func (c *Client) Home() home.Home { return c.home }

// A dialError says that no byte of a request reached a daemon.
type dialError struct {
	socket string
	err    error
}

func (e *dialError) Error() string { return fmt.Sprintf("connect to %s: %v", e.socket, e.err) }
func (e *dialError) Unwrap() error { return e.err }

// dial connects to the daemon: at the well-known place, and where nobody answers
// there, at the place that the daemon's lock names. The two differ when the
// daemon was started from another environment.
func (c *Client) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	c.mu.Lock()
	socket := c.socket
	c.mu.Unlock()
	conn, err := connect(ctx, socket)
	if err == nil || ctx.Err() != nil {
		return conn, err
	}
	info, running, lookErr := c.home.Running()
	if lookErr != nil || !running || info.Socket == "" || info.Socket == socket {
		return nil, &dialError{socket, err}
	}
	conn, err = connect(ctx, info.Socket)
	if err != nil {
		return nil, &dialError{info.Socket, err}
	}
	c.mu.Lock()
	c.socket = info.Socket
	c.mu.Unlock()
	return conn, nil
}

// connect calls nobody at a place where a stranger could answer.
func connect(ctx context.Context, socket string) (net.Conn, error) {
	if err := home.CheckSocket(socket); err != nil {
		return nil, err
	}
	var d net.Dialer
	return d.DialContext(ctx, "unix", socket)
}
