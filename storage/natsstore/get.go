package natsstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A stored message.
type stored struct {
	subject string
	seq     uint64 // in the stream
	at      time.Time
	id      string
	data    []byte
	head    head
	bad     error // why the head or the data is not what was stored

	recs  [][]byte // if it has records
	first uint64   // the number of the first one; that of the last is head.b
}

// live reports whether m is there and does not say that something is gone.
func (m *stored) live() bool {
	return m != nil && (m.bad != nil || m.head.kind != kindRemoved && m.head.kind != kindEnd)
}

// last returns the sequence number of m, 0 if there is none.
func (m *stored) last() uint64 {
	if m == nil {
		return 0
	}
	return m.seq
}

func newStored(subject string, seq uint64, at time.Time, h nats.Header, data []byte) *stored {
	m := &stored{subject: subject, seq: seq, at: at, id: h.Get(idKey), data: data}
	m.head, m.bad = parseHead(h.Get(headKey), subject, data)
	m.open()
	return m
}

// A query asks for messages of a stream.
type query struct {
	Seq      uint64   `json:"seq,omitempty"`
	Last     string   `json:"last_by_subj,omitempty"`
	Next     string   `json:"next_by_subj,omitempty"`
	Batch    int      `json:"batch,omitempty"`
	MaxBytes int      `json:"max_bytes,omitempty"`
	Multi    []string `json:"multi_last,omitempty"`
}

// lastOf returns the last message of a subject as the leader of the stream has
// it, nil if there is none.
func (s *Store) lastOf(ctx context.Context, stream, subject string) (*stored, error) {
	return s.ask(ctx, stream, query{Last: subject})
}

// nextOf returns the first message of a subject that is numbered seq or higher,
// as the leader of the stream has it, nil if there is none.
func (s *Store) nextOf(ctx context.Context, stream, subject string, seq uint64) (*stored, error) {
	return s.ask(ctx, stream, query{Next: subject, Seq: max(seq, 1)})
}

func (s *Store) ask(ctx context.Context, stream string, q query) (*stored, error) {
	var m *stored
	err := s.retry(ctx, func(ctx context.Context) error {
		body, err := json.Marshal(q)
		if err != nil {
			return err
		}
		answer, err := s.nc.RequestWithContext(ctx, "$JS.API.STREAM.MSG.GET."+stream, body)
		if err != nil {
			return err
		}
		m, err = parseAnswer(answer.Data)
		return err
	})
	return m, err
}

func parseAnswer(data []byte) (*stored, error) {
	var a struct {
		Error   *jetstream.APIError `json:"error"`
		Message *struct {
			Subject string    `json:"subject"`
			Seq     uint64    `json:"seq"`
			Header  []byte    `json:"hdrs"`
			Data    []byte    `json:"data"`
			Time    time.Time `json:"time"`
		} `json:"message"`
	}
	if err := json.Unmarshal(data, &a); err != nil {
		return nil, fmt.Errorf("answer of the server: %w", err)
	}
	switch {
	case a.Error != nil && a.Error.ErrorCode == codeNotFound:
		return nil, nil
	case a.Error != nil:
		return nil, a.Error
	case a.Message == nil:
		return nil, errors.New("answer of the server has no message")
	}
	var h nats.Header
	if len(a.Message.Header) > 0 {
		var err error
		if h, err = nats.DecodeHeadersMsg(a.Message.Header); err != nil {
			h = nil
		}
	}
	return newStored(a.Message.Subject, a.Message.Seq, a.Message.Time, h, a.Message.Data), nil
}

// A permanent error is not met with another try.
type permanent struct{ error }

// retry does what only reads, until it has worked or ctx ends.
func (s *Store) retry(ctx context.Context, do func(context.Context) error) error {
	patience := s.timeout() / 4 // more each time: what is large may need it
	for wait := time.Millisecond; ; wait, patience = min(2*wait, 200*time.Millisecond), 2*patience {
		actx, cancel := context.WithTimeout(ctx, patience)
		err := do(actx)
		cancel()
		if err == nil {
			return nil
		}
		var api *jetstream.APIError
		var p *permanent
		switch {
		case errors.As(err, &p):
			return p.error
		case errors.As(err, &api) && api.Code != 503:
			return err
		}
		if pause(ctx, wait); ctx.Err() != nil {
			return ended(ctx, err)
		}
	}
}

// maxFetchBytes is where the server ends a batch of messages.
const maxFetchBytes = 2 << 20

// fetch returns up to n messages of a subject from seq on. Any replica may
// answer, so that there may be more than it says.
func (s *Store) fetch(ctx context.Context, stream, subject string, seq uint64, n int) (list []*stored, err error) {
	err = s.retry(ctx, func(ctx context.Context) error {
		list = nil
		_, err := s.stream(ctx, stream, query{Next: subject, Seq: max(seq, 1), Batch: n, MaxBytes: maxFetchBytes}, func(m *stored, before uint64) bool {
			if len(list) > 0 && list[len(list)-1].seq != before {
				return false // a message was lost on the way
			}
			list = append(list, m)
			return true
		})
		if len(list) > 0 {
			return nil
		}
		return err
	})
	return list, err
}

// lasts returns the last messages of some subjects, by subject, from a replica
// that knows of upTo at least. It may leave some out because of their size, and
// reports then that there are more.
func (s *Store) lasts(ctx context.Context, stream string, subjects []string, upTo uint64) (found map[string]*stored, more bool, err error) {
	err = s.retry(ctx, func(ctx context.Context) error {
		found = make(map[string]*stored, len(subjects))
		end, err := s.stream(ctx, stream, query{Multi: subjects, MaxBytes: maxFetchBytes}, func(m *stored, _ uint64) bool {
			found[m.subject] = m
			return true
		})
		if err != nil || end == nil {
			return err
		}
		if known, _ := strconv.ParseUint(end.Get("Nats-UpTo-Sequence"), 10, 64); known < upTo {
			return errors.New("the replica that answered is behind")
		}
		more = end.Get("Nats-Num-Pending") != "0"
		return nil
	})
	return found, more, err
}

// stream asks any replica for several messages, and calls each until it
// returns false. before is the number of the message in front of it in the
// answer. The header of the end of the answer is nil when there were none.
func (s *Store) stream(ctx context.Context, stream string, q query, each func(m *stored, before uint64) bool) (nats.Header, error) {
	inbox := s.nc.NewInbox()
	sub, err := s.nc.SubscribeSync(inbox)
	if err != nil {
		return nil, err
	}
	defer sub.Unsubscribe()
	if err := sub.SetPendingLimits(-1, -1); err != nil { // maxFetchBytes bounds it
		return nil, err
	}
	body, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	if err := s.nc.PublishRequest("$JS.API.DIRECT.GET."+stream, inbox, body); err != nil {
		return nil, err
	}
	for {
		msg, err := sub.NextMsgWithContext(ctx)
		if err != nil {
			return nil, err
		}
		if status := msg.Header.Get("Status"); status != "" {
			return statusOf(status, msg.Header)
		}
		seq, err := strconv.ParseUint(msg.Header.Get("Nats-Sequence"), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("answer of the server: sequence number: %w", err)
		}
		at, err := time.Parse(time.RFC3339Nano, msg.Header.Get("Nats-Time-Stamp"))
		if err != nil {
			return nil, fmt.Errorf("answer of the server: time: %w", err)
		}
		before, _ := strconv.ParseUint(msg.Header.Get("Nats-Last-Sequence"), 10, 64)
		if !each(newStored(msg.Header.Get("Nats-Subject"), seq, at, msg.Header, msg.Data), before) {
			return nil, nil
		}
	}
}

func statusOf(status string, h nats.Header) (nats.Header, error) {
	switch status {
	case "204":
		return h, nil
	case "404":
		return nil, nil
	case "503":
		return nil, nats.ErrNoResponders
	}
	return nil, fmt.Errorf("answer of the server: %s %s", status, h.Get("Description"))
}
