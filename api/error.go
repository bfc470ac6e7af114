package api

import (
	"errors"
	"fmt"
)

// A Code names the reason of a refusal or failure. Codes are part of /v1.
type Code string

// Exit is the exit code of the command line for an error with this code.
func (c Code) Exit() int {
	if k, ok := kinds[c]; ok {
		return k.exit
	}
	return 1
}

// The sentinels. An error that crossed the socket is an [*Error] that
// unwraps to the sentinel of its code, so errors.Is works on both sides.
var (
	ErrUsage           = errors.New("bad request")
	ErrScope           = errors.New("bad scope")
	ErrOutside         = errors.New("path outside the repository")
	ErrBound           = errors.New("over a bound")
	ErrNoSession       = errors.New("no session")
	ErrConflict        = errors.New("claim conflict")
	ErrNotOwn          = errors.New("not your own")
	ErrFenced          = errors.New("fenced")
	ErrUntrusted       = errors.New("untrusted")
	ErrSessionClosed   = errors.New("session closed")
	ErrWaitedOut       = errors.New("waited in vain")
	ErrCycle           = errors.New("a cycle of waits")
	ErrGap             = errors.New("just back from a gap")
	ErrCursor          = errors.New("cursor of another walk")
	ErrUnknownSession  = errors.New("unknown session")
	ErrUnknownClaim    = errors.New("unknown claim")
	ErrUnknownHandover = errors.New("unknown handover")
	ErrUnknownReview   = errors.New("unknown review")
	ErrAmbiguous       = errors.New("ambiguous name")
	ErrNoRepository    = errors.New("no repository")
	ErrEmptyRepository = errors.New("repository without commits")
	ErrShallow         = errors.New("shallow clone")
	ErrNotFound        = errors.New("not found")
	ErrExists          = errors.New("there already")
	ErrDamaged         = errors.New("damaged")
	ErrDamagedKey      = errors.New("damaged key file")
	ErrDiskFull        = errors.New("disk full")
	ErrReadOnly        = errors.New("read-only")
	ErrNewerFormat     = errors.New("journal of a newer format")
	ErrPoisoned        = errors.New("journal stopped after a disk error")
	ErrUnreachable     = errors.New("daemon unreachable")
	ErrOlderDaemon     = errors.New("older daemon")
	ErrHeld            = errors.New("stopped by a person")
	ErrSocketPath      = errors.New("socket path too long")
	ErrNetworkHome     = errors.New("state folder on a network file system")
	ErrStopping        = errors.New("daemon is stopping")
	ErrInternal        = errors.New("internal error")
)

// The codes, one for each sentinel.
const (
	CodeUsage           Code = "usage"
	CodeScope           Code = "bad_scope"
	CodeOutside         Code = "outside"
	CodeBound           Code = "bound"
	CodeNoSession       Code = "no_session"
	CodeConflict        Code = "claim_conflict"
	CodeNotOwn          Code = "not_own"
	CodeFenced          Code = "fenced"
	CodeUntrusted       Code = "untrusted"
	CodeSessionClosed   Code = "session_closed"
	CodeWaitedOut       Code = "waited_out"
	CodeCycle           Code = "wait_cycle"
	CodeGap             Code = "gap"
	CodeCursor          Code = "cursor"
	CodeUnknownSession  Code = "unknown_session"
	CodeUnknownClaim    Code = "unknown_claim"
	CodeUnknownHandover Code = "unknown_handover"
	CodeUnknownReview   Code = "unknown_review"
	CodeAmbiguous       Code = "ambiguous"
	CodeNoRepository    Code = "no_repository"
	CodeEmptyRepository Code = "empty_repository"
	CodeShallow         Code = "shallow_clone"
	CodeNotFound        Code = "not_found"
	CodeExists          Code = "exists"
	CodeDamaged         Code = "damaged"
	CodeDamagedKey      Code = "damaged_key"
	CodeDiskFull        Code = "disk_full"
	CodeReadOnly        Code = "read_only"
	CodeNewerFormat     Code = "newer_format"
	CodePoisoned        Code = "journal_stopped"
	CodeUnreachable     Code = "unreachable"
	CodeOlderDaemon     Code = "older_daemon"
	CodeHeld            Code = "held"
	CodeSocketPath      Code = "socket_path"
	CodeNetworkHome     Code = "network_home"
	CodeStopping        Code = "stopping"
	CodeInternal        Code = "internal"
)

// kinds is the one table of codes: sentinel, HTTP status, exit code.
var kinds = map[Code]struct {
	err    error
	status int
	exit   int
}{
	CodeUsage:           {ErrUsage, 400, 2},
	CodeScope:           {ErrScope, 400, 2},
	CodeOutside:         {ErrOutside, 400, 2},
	CodeBound:           {ErrBound, 400, 2},
	CodeNoSession:       {ErrNoSession, 400, 2},
	CodeAmbiguous:       {ErrAmbiguous, 400, 2},
	CodeCursor:          {ErrCursor, 410, 2},
	CodeConflict:        {ErrConflict, 409, 10},
	CodeNotOwn:          {ErrNotOwn, 403, 10},
	CodeFenced:          {ErrFenced, 409, 10},
	CodeUntrusted:       {ErrUntrusted, 403, 10},
	CodeSessionClosed:   {ErrSessionClosed, 409, 10},
	CodeWaitedOut:       {ErrWaitedOut, 409, 10},
	CodeCycle:           {ErrCycle, 409, 10},
	CodeGap:             {ErrGap, 503, 10},
	CodeUnknownSession:  {ErrUnknownSession, 404, 11},
	CodeUnknownClaim:    {ErrUnknownClaim, 404, 11},
	CodeUnknownHandover: {ErrUnknownHandover, 404, 11},
	CodeUnknownReview:   {ErrUnknownReview, 404, 11},
	CodeNotFound:        {ErrNotFound, 404, 11},
	CodeExists:          {ErrExists, 409, 10},
	CodeDamaged:         {ErrDamaged, 500, 12},
	CodeNoRepository:    {ErrNoRepository, 422, 1},
	CodeEmptyRepository: {ErrEmptyRepository, 422, 1},
	CodeShallow:         {ErrShallow, 422, 1},
	CodeDamagedKey:      {ErrDamagedKey, 500, 1},
	CodeDiskFull:        {ErrDiskFull, 507, 1},
	CodeReadOnly:        {ErrReadOnly, 500, 1},
	CodeNewerFormat:     {ErrNewerFormat, 500, 1},
	CodePoisoned:        {ErrPoisoned, 500, 1},
	CodeInternal:        {ErrInternal, 500, 1},
	CodeUnreachable:     {ErrUnreachable, 503, 13},
	CodeOlderDaemon:     {ErrOlderDaemon, 503, 13},
	CodeHeld:            {ErrHeld, 503, 13},
	CodeSocketPath:      {ErrSocketPath, 500, 13},
	CodeNetworkHome:     {ErrNetworkHome, 500, 13},
	CodeStopping:        {ErrStopping, 503, 13},
}

// An Error is what a caller is told: what is wrong, with which thing, and the
// next step. The message is one line without a trailing period.
type Error struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	// Detail has facts for programs, such as the limit and the size.
	Detail map[string]any `json:"detail,omitempty"`
	// Conflicts names who stands in the way; set with CodeConflict,
	// CodeWaitedOut, CodeCycle and CodeFenced.
	Conflicts []Conflict `json:"conflicts,omitempty"`
}

// Errorf returns an Error without a hint.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// WithHint sets the next step and returns e.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns the sentinel of e's code, and ErrInternal for a code that this
// build does not know.
func (e *Error) Unwrap() error {
	if k, ok := kinds[e.Code]; ok {
		return k.err
	}
	return ErrInternal
}

// Status is the HTTP status that e travels with.
func (e *Error) Status() int {
	if k, ok := kinds[e.Code]; ok {
		return k.status
	}
	return 500
}

// AsError returns err as an Error: itself if there is one in its chain, else
// one whose code is that of the sentinel in its chain, else an internal one.
// It returns nil for nil.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	for code, k := range kinds {
		if errors.Is(err, k.err) {
			return &Error{Code: code, Message: err.Error()}
		}
	}
	return &Error{Code: CodeInternal, Message: err.Error()}
}

// A Failure is the JSON of an error: {"error": {...}}.
type Failure struct {
	Error *Error `json:"error"`
}
