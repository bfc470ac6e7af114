package home

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/comity-dev/comity/internal/vfs"
)

const (
	// startPatience bounds the wait for a daemon when the context does not.
	startPatience = 30 * time.Second

	// otherPatience is how long the daemon that kept ours from starting has to answer.
	otherPatience = 5 * time.Second

	// startPoll is the pause between two looks at what another process does.
	startPoll = 10 * time.Millisecond

	// readyEnv names the pipe by which a daemon says that it serves.
	readyEnv = "COMITY_READY_FD"
)

// A StartError reports a daemon that was started and does not serve.
type StartError struct {
	What string // what happened to it
	Line string // why, in its own words, else the last line it wrote; "" when there is neither
	Log  string // the file it wrote to
}

func (e *StartError) Error() string {
	if e.Line == "" {
		return fmt.Sprintf("daemon %s and left no message; its log is %s", e.What, e.Log)
	}
	return fmt.Sprintf("daemon %s: %s (log: %s)", e.What, e.Line, e.Log)
}

// Start makes sure that a daemon serves h: when it returns nil, one does. It
// runs exe with args in a session of its own, in the root folder, with its
// output in the log file, without any open file or terminal of the caller, and
// as a child of nobody who might end it. It waits until the daemon calls
// [Ready].
//
// Of several calls at once, in whichever processes, one starts a daemon and all
// wait for it; when a daemon serves already, nothing is started. A daemon that
// is not ready when ctx ends goes on, and may be ready later.
//
// A daemon that ends before it serves is a [*StartError]. A state folder that
// cannot be used is found out before anything is started; see [Home.Prepare].
func Start(ctx context.Context, h Home, exe string, args []string) error {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	fsys := vfs.OS()
	if err := h.Prepare(fsys); err != nil {
		return fmt.Errorf("start the daemon: %w", err)
	}
	turn, err := h.awaitTurn(ctx, fsys, h.answers)
	if err != nil {
		return err
	}
	if turn == nil {
		return nil // another process has started one
	}
	defer turn.Close()
	if h.answers() {
		return nil
	}
	return h.begin(ctx, exe, args)
}

// Replace calls end, which ends the daemon that serves h, and then starts exe as
// [Start] does. From before end is called until the new daemon serves, no call of
// Start, in whichever process, starts another. An error of end is returned as it
// is, and nothing is started.
func Replace(ctx context.Context, h Home, exe string, args []string, end func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	fsys := vfs.OS()
	if err := h.Prepare(fsys); err != nil {
		return fmt.Errorf("start the daemon: %w", err)
	}
	turn, err := h.awaitTurn(ctx, fsys, func() bool { return false })
	if err != nil {
		return err
	}
	defer turn.Close()
	if err := end(ctx); err != nil {
		return err
	}
	return h.begin(ctx, exe, args)
}

// begin launches a daemon; the caller has the turn.
func (h Home) begin(ctx context.Context, exe string, args []string) error {
	for {
		before := h.held()
		err := h.launch(ctx, exe, args)
		if err == nil || ctx.Err() != nil {
			return err
		}
		// Somebody else's daemon may have kept ours from starting: one that was faster
		// (comity serve, in a terminal), or one on its way out, which leaves its place.
		during := h.held()
		if h.awaitOther(ctx) {
			return nil
		}
		if !before && !during || h.held() {
			return err
		}
	}
}

// held reports whether some daemon has the lock.
func (h Home) held() bool {
	_, running, err := h.Running()
	return err == nil && running
}

// awaitTurn takes the right to start a daemon. It returns nil when needless says
// so meanwhile.
func (h Home) awaitTurn(ctx context.Context, fsys vfs.FS, needless func() bool) (io.Closer, error) {
	for {
		turn, err := fsys.Lock(h.path("start.lock"))
		if err == nil {
			return turn, nil
		}
		if !errors.Is(err, vfs.ErrLocked) {
			return nil, fmt.Errorf("start the daemon: %w", h.explain(fsys, err))
		}
		if needless() {
			return nil, nil
		}
		if !pause(ctx) {
			return nil, fmt.Errorf("start the daemon: another process has begun to and is not done: %w", ctx.Err())
		}
	}
}

// awaitOther waits for a daemon that holds the lock to answer.
func (h Home) awaitOther(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, otherPatience)
	defer cancel()
	for {
		if h.answers() {
			return true
		}
		if _, running, err := h.Running(); err != nil || !running {
			return false
		}
		if !pause(ctx) {
			return false
		}
	}
}

func pause(ctx context.Context) bool {
	t := time.NewTimer(startPoll)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// answers reports whether a daemon that holds the lock takes connections.
func (h Home) answers() bool {
	info, running, err := h.Running()
	if err != nil || !running {
		return false
	}
	for _, socket := range []string{info.Socket, h.Socket} {
		if socket == "" {
			continue
		}
		if conn, err := net.DialTimeout("unix", socket, time.Second); err == nil {
			conn.Close() // that it was made is all we asked
			return true
		}
	}
	return false
}

// launch starts the process and waits for its word.
func (h Home) launch(ctx context.Context, exe string, args []string) error {
	exe, err := filepath.Abs(exe) // the daemon does not start where we stand
	if err != nil {
		return fmt.Errorf("start the daemon: %w", err)
	}
	log, before, err := h.logForStart()
	if err != nil {
		return fmt.Errorf("start the daemon: %w", err)
	}
	defer log.Close()
	ready, tell, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("start the daemon: %w", err)
	}
	defer ready.Close()
	err = detach(spawn{exe: exe, args: args, env: environ(os.Environ(), h), log: log, ready: tell})
	tell.Close() // the daemon's copy is the last: when it ends, we read the end
	if err != nil {
		return fmt.Errorf("start the daemon: %w", err)
	}
	return h.awaitReady(ctx, ready, before)
}

// logForStart opens the log for the daemon's standard output and error, and
// says how long it is.
func (h Home) logForStart() (*os.File, int64, error) {
	log, err := h.OpenLog()
	if vfs.IsNoSpace(err) {
		null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
		return null, 0, err
	}
	if err != nil {
		return nil, 0, err
	}
	if err := log.rotate(1); err != nil {
		log.Close()
		return nil, 0, fmt.Errorf("begin the log anew: %w", err)
	}
	info, err := log.file.Stat()
	if err != nil {
		log.Close()
		return nil, 0, err
	}
	return log.file, info.Size(), nil
}

// awaitReady reads the daemon's word, or the end of the pipe, which is the end
// of the daemon.
func (h Home) awaitReady(ctx context.Context, ready *os.File, before int64) error {
	got := make(chan string, 1)
	go func() { got <- hear(ready) }()
	select {
	case word := <-got:
		if word == readyWord {
			return nil
		}
		return &StartError{What: "ended before it served", Line: cmp.Or(word, h.lastLine(before)), Log: h.LogFile()}
	case <-ctx.Done():
		ready.Close()
		<-got
		return fmt.Errorf("start the daemon: not ready yet: %w (log: %s)", ctx.Err(), h.LogFile())
	}
}
