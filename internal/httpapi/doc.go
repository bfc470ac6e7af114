// Package httpapi carries the operations of package api over HTTP/1.1 on a
// local socket. It knows nothing of what an operation does: it is handed one
// function for each and turns a request into a call and a return value into a
// reply.
//
// The wire, fixed within /v1:
//
//	POST /v1/session/open        the name of an operation, dots as slashes
//	Comity-Build: 20261129T...   build of the caller; optional, see below
//
//	{"dir":"/home/ada/src"}      the request as JSON, at most MaxRequestBytes
//
// The answer is 200 and the reply as JSON, or the status of the error's code
// and {"error":{"code":...,"message":...}}. Lists are never null. Every answer
// carries Comity-Build with the build of the daemon. A caller that sends its own
// build says that it is ready to replace an older daemon: when its build is the
// newer one, the daemon does nothing and answers with code older_daemon.
//
// POST /v1/watch answers with server-sent events, each of whose data is an
// [api.Change]; a failure after the first event is an event named "error" whose
// data is an [api.Failure]. Comments keep the connection alive. GET
// /v1/openapi.json describes all of this.
//
// Only the user that runs the daemon is served, whatever the permissions of
// the socket's file.
package httpapi

import "time"

// The headers by which daemon and caller tell each other their builds.
const (
	HeaderBuild = "Comity-Build"
	HeaderPID   = "Comity-Pid"
)

// Bounds of the local API. A call that runs into one is told so by a typed
// error; a connection that stalls is closed.
const (
	// MaxRequestBytes is the size of a request body. The largest honest one is a
	// handover of 32 KiB in JSON's escapes.
	MaxRequestBytes = 1 << 20

	// MaxDepth is how deep the JSON of a request may nest.
	MaxDepth = 32

	// ReadTimeout is how long a caller may take to send a whole request.
	ReadTimeout = 10 * time.Second

	// WriteTimeout is how long a caller may take to receive one reply, or one
	// event of a stream.
	WriteTimeout = 10 * time.Second

	// KeepAlive is the pause between two comments of a quiet event stream.
	KeepAlive = 15 * time.Second

	maxHeaderBytes = 16 << 10
)
