package natsstore

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/comity-dev/comity/storage"
)

const (
	idKey       = "Nats-Msg-Id"
	expectedKey = "Nats-Expected-Last-Subject-Sequence"
	ttlKey      = "Nats-TTL"
	rollupKey   = "Nats-Rollup"
	batchKey    = "Nats-Batch-Id"
	batchSeqKey = "Nats-Batch-Sequence"
	commitKey   = "Nats-Batch-Commit"
)

// Codes of the server's answers.
const (
	codeAccountFull   jetstream.ErrorCode = 10002
	codeNoPeers       jetstream.ErrorCode = 10005
	codeUnavailable   jetstream.ErrorCode = 10008
	codeNoResources   jetstream.ErrorCode = 10023
	codeNoMemory      jetstream.ErrorCode = 10028
	codeNotFound      jetstream.ErrorCode = 10037
	codeNoStorage     jetstream.ErrorCode = 10047
	codeTooLarge      jetstream.ErrorCode = 10054
	codeWrongLast     jetstream.ErrorCode = 10071
	codeStoreFailed   jetstream.ErrorCode = 10077
	codeIDInProcess   jetstream.ErrorCode = 10158
	codeLastInProcess jetstream.ErrorCode = 10164 // another write of the subject is in flight
	codeIncomplete    jetstream.ErrorCode = 10176 // the batch was lost on its way
	codeBatchHasID    jetstream.ErrorCode = 10201 // a record of the batch is there already
	codeTooMany       jetstream.ErrorCode = 10210 // batches in flight
)

// isFull reports whether an answer says that there is no room.
func isFull(code jetstream.ErrorCode, description string) bool {
	switch code {
	case codeAccountFull, codeNoResources, codeNoMemory, codeNoStorage:
		return true
	case codeStoreFailed:
		return description == "maximum bytes exceeded" || description == "maximum messages exceeded"
	}
	return false
}

// errWrongLast reports that the last message of the subject was not the
// expected one.
var errWrongLast = errors.New("another message is the last one of the subject")

// A result is what became of a write.
type result struct {
	seq uint64 // of the (last) message, if err is nil
	// err is errWrongLast, or why the write was given up.
	err error
	// open says, besides an error, that an attempt that was not answered may have
	// been stored, or may yet be.
	open bool
}

// failure returns the error of a write that was given up.
func (r result) failure(op, name string) error {
	if r.open {
		return doubt(op, name, r.err)
	}
	return fmt.Errorf("%s %s: %w", op, name, r.err)
}

// doubt returns an *AmbiguousError, which must not be taken for one of the
// errors that say that nothing was written.
func doubt(op, name string, cause error) error {
	for _, definite := range []error{storage.ErrUnavailable, storage.ErrNoSpace, storage.ErrClosed} {
		if errors.Is(cause, definite) {
			cause = errors.New(cause.Error())
		}
	}
	return &storage.AmbiguousError{Op: op, Name: name, Cause: cause}
}

// newMsg returns a message of a store, with an id of its own, that is stored
// if the last message of its subject is expected.
func newMsg(subject string, h head, expected uint64, data []byte) *nats.Msg {
	return &nats.Msg{Subject: subject, Data: data, Header: nats.Header{
		headKey:     {h.format(subject, data)},
		idKey:       {rand.Text()},
		expectedKey: {strconv.FormatUint(expected, 10)},
	}}
}

// send publishes messages to a stream, more than one as an atomic batch, until
// the server has answered for sure or ctx ends. All attempts have the same
// id, so at most one of them is stored.
func (s *Store) send(ctx context.Context, stream string, msgs ...*nats.Msg) result {
	var r result
	if len(msgs) > 1 {
		select {
		case s.batches <- struct{}{}:
			defer func() { <-s.batches }()
		case <-ctx.Done():
		}
	}
	for wait := time.Millisecond; ; wait = min(2*wait, 200*time.Millisecond) {
		if ctx.Err() != nil {
			r.err = ended(ctx, r.err)
			return r
		}
		if wait == time.Millisecond && s.testingBefore != nil {
			s.testingBefore()
		}
		seq, again, open, err := s.attempt(ctx, stream, msgs)
		if wait == time.Millisecond && s.testingAfter != nil {
			s.testingAfter()
		}
		r.open = r.open || open
		if err == nil {
			return result{seq: seq}
		}
		if r.err = err; !again {
			return r
		}
		pause(ctx, wait)
	}
}

// ended returns the error of a call that ended with its context. last is what
// the last attempt met.
func ended(ctx context.Context, last error) error {
	cause := context.Cause(ctx)
	if !errors.Is(cause, errNoAnswer) {
		return cause
	}
	if last == nil || errors.Is(last, context.DeadlineExceeded) {
		return fmt.Errorf("%w: %w", storage.ErrUnavailable, cause)
	}
	if errors.Is(last, storage.ErrUnavailable) {
		return last
	}
	return fmt.Errorf("%w: %w: %w", storage.ErrUnavailable, cause, last)
}

// attempt publishes once. It reports whether to do it again, and whether this
// attempt may be stored though it failed.
func (s *Store) attempt(ctx context.Context, stream string, msgs []*nats.Msg) (seq uint64, again, open bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout()/4)
	defer cancel()
	last := msgs[len(msgs)-1]
	if len(msgs) > 1 {
		if err := s.stage(msgs); err != nil {
			return 0, true, false, fmt.Errorf("%w: %w", storage.ErrUnavailable, err) // nothing is stored without a commit
		}
	}
	answer, err := s.nc.RequestMsgWithContext(ctx, last)
	switch {
	case errors.Is(err, nats.ErrNoResponders), errors.Is(err, nats.ErrReconnectBufExceeded):
		return 0, true, false, fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	case errors.Is(err, nats.ErrMaxPayload):
		return 0, false, false, &storage.TooLargeError{What: "message", Size: int64(last.Size()), Max: s.nc.MaxPayload()}
	case err != nil:
		return 0, true, true, err
	}
	var ack struct {
		Stream string              `json:"stream"`
		Seq    uint64              `json:"seq"`
		Error  *jetstream.APIError `json:"error"`
	}
	if err := json.Unmarshal(answer.Data, &ack); err != nil {
		return 0, true, true, fmt.Errorf("answer of the server: %w", err)
	}
	if ack.Error != nil {
		again, open, err := refused(ack.Error)
		return 0, again, open, err
	}
	if ack.Stream != stream || ack.Seq == 0 {
		return 0, false, true, fmt.Errorf("the message went to stream %q, number %d, not to %s", ack.Stream, ack.Seq, stream)
	}
	return ack.Seq, false, false, nil
}

// stage publishes all of a batch but its last message, which commits it.
func (s *Store) stage(msgs []*nats.Msg) error {
	id := rand.Text()
	for i, m := range msgs {
		m.Header[batchKey] = []string{id}
		m.Header[batchSeqKey] = []string{strconv.Itoa(i + 1)}
		if i == len(msgs)-1 {
			m.Header[commitKey] = []string{"1"}
			return nil
		}
		if err := s.nc.PublishMsg(m); err != nil {
			return err
		}
	}
	return nil
}

// refused says what an error that the server answered means. What it does not
// know leaves the outcome open.
func refused(e *jetstream.APIError) (again, open bool, err error) {
	switch {
	case e.ErrorCode == codeWrongLast, e.ErrorCode == codeBatchHasID:
		return false, e.ErrorCode == codeBatchHasID, errWrongLast
	case e.ErrorCode == codeLastInProcess, e.ErrorCode == codeIncomplete, e.ErrorCode == codeTooMany:
		return true, false, e
	case e.ErrorCode == codeIDInProcess:
		return true, true, e
	case isFull(e.ErrorCode, e.Description):
		return false, false, fmt.Errorf("%w: %w", storage.ErrNoSpace, e)
	case e.ErrorCode == codeTooLarge:
		return false, false, e
	case e.ErrorCode == codeUnavailable:
		return true, true, e
	}
	return false, e.Code >= 500, e
}
