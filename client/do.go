package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/internal/home"
)

const (
	// patience is how long a daemon may take to answer, beyond what the call
	// itself asks it to wait.
	patience = 10 * time.Second

	// longPatience is that for calls that read a whole journal.
	longPatience = 10 * time.Minute

	// maxReplyBytes bounds what is read of a reply.
	maxReplyBytes = 64 << 20
)

// Do calls operation op and decodes the reply into rep, which is a pointer or nil.
// A rep of type *json.RawMessage gets the reply's bytes.
//
// Without a deadline in ctx the call gives the daemon half a minute, and the time
// that the request itself asks to wait.
func (c *Client) Do(ctx context.Context, op string, req, rep any) error {
	if _, err := json.Marshal(req); err != nil {
		return fmt.Errorf("encode the request of %s: %w", op, err)
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, allowance(op, req))
		defer cancel()
	}
	began := time.Now()
	b, err := c.converse(ctx, op, func() ([]byte, error) {
		body, err := json.Marshal(remaining(req, time.Since(began)))
		if err != nil {
			return nil, err // unreachable unless what could be encoded no longer can
		}
		return c.post(ctx, op, body)
	})
	if err != nil {
		return err
	}
	switch rep := rep.(type) {
	case nil:
		return nil
	case *json.RawMessage:
		*rep = b
		return nil
	}
	if err := json.Unmarshal(b, rep); err != nil {
		return api.Errorf(api.CodeInternal, "the daemon's reply to %s is not understood: %v", op, err)
	}
	return nil
}

func allowance(op string, req any) time.Duration {
	switch req := req.(type) {
	case api.ClaimRequest:
		return patience + milliseconds(req.WaitMS) + milliseconds(req.ConfirmMS)
	case *api.ClaimRequest:
		return allowance(op, *req)
	}
	if op == api.OpVerify || op == api.OpDoctor {
		return longPatience
	}
	return patience
}

// remaining is req as it is to be asked after a time: a claim that waits asks for
// what is left of its wait, and at the end of it for one last try.
func remaining(req any, after time.Duration) any {
	switch claim := req.(type) {
	case api.ClaimRequest:
		if claim.WaitMS > 0 {
			claim.WaitMS = max(1, claim.WaitMS-after.Milliseconds())
		}
		return claim
	case *api.ClaimRequest:
		return remaining(*claim, after)
	}
	return req
}

// milliseconds is n ms, at most a day and never less than none.
func milliseconds(n int64) time.Duration {
	return time.Duration(min(max(n, 0), 24*60*60*1000)) * time.Millisecond
}

// attempts bounds how often one call is made: a long wait may see several daemons
// come and go, and none of them may keep a caller for ever.
const attempts = 8

// converse makes one call, and again after it has started a daemon, replaced an
// older one, or found that the daemon stopped under a call that may be repeated.
func (c *Client) converse(ctx context.Context, op string, call func() ([]byte, error)) ([]byte, error) {
	b, err := call()
	replaced := false
	for range attempts - 1 {
		if errors.Is(err, api.ErrOlderDaemon) {
			if replaced {
				return nil, c.unyielding(err, errors.New("what was started in its place is no newer"))
			}
			replaced = true
		}
		again, ready := c.recover(ctx, op, err)
		if ready != nil {
			return nil, ready
		}
		if !again {
			return b, c.explain(ctx, op, err)
		}
		b, err = call()
	}
	return b, c.explain(ctx, op, err)
}

// recover makes a daemon ready for another attempt after err, when that is of
// use and allowed.
func (c *Client) recover(ctx context.Context, op string, err error) (again bool, _ error) {
	var dial *dialError
	switch {
	case err == nil || ctx.Err() != nil:
		return false, nil
	case errors.As(err, &dial):
		if c.opts.NoStart || errors.Is(err, fs.ErrPermission) {
			return false, nil
		}
		return true, c.start(ctx)
	case errors.Is(err, api.ErrOlderDaemon) && !c.opts.NoStart:
		return true, c.replace(ctx, err)
	case errors.Is(err, api.ErrStopping), errors.As(err, new(*droppedError)) && repeatable(op):
		if c.opts.NoStart {
			return false, nil
		}
		return true, c.restart(ctx, err)
	}
	return false, nil
}

// repeatable reports whether a call may be made again though the first one may
// have been done: reads, and writes that change nothing the second time.
func repeatable(op string) bool {
	switch op {
	case api.OpSessionOpen, api.OpHandoverPublish, api.OpReviewRequest, api.OpReviewAnswer, api.OpStop:
		return false
	}
	return true
}

// A droppedError says that the daemon got the request and did not answer.
type droppedError struct{ err error }

func (e *droppedError) Error() string { return e.err.Error() }
func (e *droppedError) Unwrap() error { return e.err }

// explain gives what went wrong with the connection a code and a next step.
func (c *Client) explain(ctx context.Context, op string, err error) error {
	var dial *dialError
	var folder *home.FolderError
	switch {
	case err == nil || errors.As(err, new(*api.Error)):
		return err
	case errors.Is(ctx.Err(), context.Canceled):
		return context.Canceled
	case errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil:
		return api.Errorf(api.CodeUnreachable, "the daemon did not answer %s in time", op).
			WithHint("comity doctor tells what it is doing")
	case errors.As(err, &dial) && errors.Is(err, fs.ErrPermission):
		return api.Errorf(api.CodeUnreachable, "this process may not open %s: %v", dial.socket, dial.err).
			WithHint("a sandbox may hide the daemon, then call from outside it; comity doctor looks at the state folder")
	case errors.As(err, &folder):
		return api.Errorf(api.CodeUnreachable, "the socket's folder %s: %v", folder.Dir, folder.Err).WithHint("%s", folder.Next)
	case errors.As(err, &dial):
		return api.Errorf(api.CodeUnreachable, "no daemon answers at %s", dial.socket).
			WithHint("comity serve runs it in the foreground; without --no-start a command starts it")
	}
	return api.Errorf(api.CodeUnreachable, "the daemon ended before it answered; whether %s was done is not known: %v", op, err).
		WithHint("comity status shows what is so now")
}

// request makes the HTTP request of an operation. Only a client that may start a
// daemon tells its build: that is the offer to replace an older one.
func (c *Client) request(ctx context.Context, op string, body []byte) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://comity/v1/"+strings.ReplaceAll(op, ".", "/"), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	if c.opts.Build != "" && !c.opts.NoStart {
		r.Header.Set("Comity-Build", c.opts.Build)
	}
	return r, nil
}

func (c *Client) post(ctx context.Context, op string, body []byte) ([]byte, error) {
	r, err := c.request(ctx, op, body)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return nil, classify(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxReplyBytes+1))
	if err != nil {
		return nil, &droppedError{err}
	}
	if len(b) > maxReplyBytes {
		return nil, api.Errorf(api.CodeBound, "the daemon's reply to %s is over %d bytes", op, maxReplyBytes)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, from(resp, failure(resp.StatusCode, b))
	}
	return b, nil
}

// from notes which daemon a failure comes from.
func from(resp *http.Response, err error) error {
	var e *api.Error
	pid, perr := strconv.Atoi(resp.Header.Get("Comity-Pid"))
	if perr == nil && errors.Is(err, api.ErrStopping) && errors.As(err, &e) {
		return &stoppingError{e, pid}
	}
	return err
}

// A stoppingError is a daemon's word that it stops.
type stoppingError struct {
	err *api.Error
	pid int
}

func (e *stoppingError) Error() string { return e.err.Error() }
func (e *stoppingError) Unwrap() error { return e.err }

// classify tells a request that never left from one that was not answered.
func classify(err error) error {
	if errors.As(err, new(*dialError)) {
		return err
	}
	return &droppedError{err}
}

// failure is the error that a daemon answered with.
func failure(status int, b []byte) error {
	var f api.Failure
	if err := json.Unmarshal(b, &f); err != nil || f.Error == nil || f.Error.Code == "" {
		return api.Errorf(api.CodeInternal, "the daemon answered %d without a reason", status)
	}
	return f.Error
}
