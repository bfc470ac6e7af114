package httpapi

import (
	"context"
	"log/slog"
	"net"
	"net/http"
)

// NewServer is an HTTP server for h with the bounds of this package, which tells
// h who calls. The caller serves a listener of [Listen] with it and shuts it
// down; log may be nil.
func NewServer(h http.Handler, log *slog.Logger) *http.Server {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: ReadTimeout,
		ReadTimeout:       ReadTimeout,
		IdleTimeout:       ReadTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ConnContext:       withPeer,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

// A peer is the other end of a connection.
type peer struct {
	Caller
	stranger bool // another user's process
}

type peerKey struct{}

func withPeer(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, peerKey{}, look(conn))
}

// peerOf is the caller of a request. Where the system does not tell, it is
// unknown and let in: the socket's file keeps other users out.
func peerOf(ctx context.Context) peer {
	p, _ := ctx.Value(peerKey{}).(peer)
	return p
}

func look(conn net.Conn) peer {
	uc, ok := conn.(*net.UnixConn)
	if !ok {
		return peer{}
	}
	raw, err := uc.SyscallConn()
	if err != nil {
		return peer{}
	}
	var p peer
	if err := raw.Control(func(fd uintptr) { p = credentials(fd) }); err != nil {
		return peer{}
	}
	return p
}
