// Package client calls the operations of package api on this user's daemon,
// over its local socket, and starts the daemon when there is none. The command
// line, the MCP server and the hooks are all made of it.
//
// A call is one connection and one request when the daemon runs. When none does,
// the client starts one and calls again; when it is older than the client's own
// program, the client asks it to hand over, starts its own and calls again; when it
// stops during a call that may be repeated, the client calls once more. A client
// holds no connection between calls and may be used from several goroutines.
//
// An error that the daemon answers with is an [*api.Error], which unwraps to the
// sentinel of its code, so that errors.Is works as if the operation were a
// function of this process. A daemon that cannot be reached, started or replaced
// is [api.ErrUnreachable], [api.ErrOlderDaemon] or [api.ErrHeld].
package client
