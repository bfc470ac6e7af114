package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/comity-dev/comity/api"
)

// maxEventBytes bounds one server-sent event.
const maxEventBytes = 16 << 20

// Watch calls f with each change from req.After on, in order, until ctx ends, f
// fails, or the daemon says that it cannot go on; it returns the reason. When the
// daemon stops or is replaced under it, it goes on where it was with the next one,
// so that no change is told twice and none is left out.
func (c *Client) Watch(ctx context.Context, req api.WatchRequest, f func(api.Change) error) error {
	for {
		progress := false
		var stopped error // the caller's own
		_, err := c.converse(ctx, api.OpWatch, func() ([]byte, error) {
			return nil, c.follow(ctx, req, func(ch api.Change) error {
				progress = true
				if ch.Cursor != "" {
					req.After = ch.Cursor
				}
				stopped = f(ch)
				return stopped
			})
		})
		switch {
		case stopped != nil:
			return stopped
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil || !progress || !errors.Is(err, api.ErrUnreachable):
			return err
		}
	}
}

// follow reads one event stream to its end.
func (c *Client) follow(ctx context.Context, req api.WatchRequest, f func(api.Change) error) error {
	body, err := json.Marshal(req)
	if err != nil {
		return err
	}
	r, err := c.request(ctx, api.OpWatch, body)
	if err != nil {
		return err
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return classify(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		b, err := io.ReadAll(io.LimitReader(resp.Body, maxReplyBytes))
		if err != nil {
			return &droppedError{err}
		}
		return from(resp, failure(resp.StatusCode, b))
	}
	return from(resp, events(resp.Body, f))
}

// events calls f with each change of a stream of server-sent events. The end of
// the stream is an error: only the caller ends a watch.
func events(r io.Reader, f func(api.Change) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), maxEventBytes)
	var kind string
	var data []byte
	for lines.Scan() {
		line := lines.Bytes()
		switch field, value, _ := bytes.Cut(line, []byte(":")); {
		case len(line) == 0 && len(data) > 0:
			if err := deliver(kind, data, f); err != nil {
				return err
			}
			kind, data = "", nil
		case string(field) == "event":
			kind = string(bytes.TrimPrefix(value, []byte(" ")))
		case string(field) == "data":
			data = append(data, bytes.TrimPrefix(value, []byte(" "))...)
		}
	}
	err := lines.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		return api.Errorf(api.CodeBound, "a change is over %d bytes", maxEventBytes)
	}
	if err == nil {
		err = io.ErrUnexpectedEOF
	}
	return &droppedError{err}
}

func deliver(kind string, data []byte, f func(api.Change) error) error {
	if kind == "error" {
		return failure(http.StatusOK, data)
	}
	var ch api.Change
	if err := json.Unmarshal(data, &ch); err != nil {
		return api.Errorf(api.CodeInternal, "a change is not understood: %v", err)
	}
	return f(ch)
}
