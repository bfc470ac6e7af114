package natsstore

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
)

// maxPackBytes bounds what several records share.
const maxPackBytes = 1 << 20

// records returns the messages of a batch behind p: a single record as it is, and
// as many as there is room for in one message. Most batches are one message so,
// which costs the server one write and one sync; an atomic batch of it costs it
// some of each message, and a file of its own.
func (s *Store) records(name string, p place, recs [][]byte) []*nats.Msg {
	subject := s.names.ledger + token(name)
	var msgs []*nats.Msg
	for last := p.tip.Seq; len(recs) > 0; {
		n, size := 1, packedBytes(recs[0])
		for n < len(recs) && size+packedBytes(recs[n]) <= min(maxPackBytes, s.record) {
			size += packedBytes(recs[n])
			n++
		}
		last += uint64(n)
		h, data := head{kindRecord, p.tip.Gen, last}, recs[0]
		if n > 1 {
			h.kind, data = kindPack, pack(recs[:n], size)
		}
		recs = recs[n:]
		if len(msgs) == 0 {
			msgs = append(msgs, newMsg(subject, h, p.at, data))
			continue
		}
		msgs = append(msgs, &nats.Msg{Subject: subject, Data: data, Header: nats.Header{headKey: {h.format(subject, data)}}})
	}
	return msgs
}

func packedBytes(rec []byte) int {
	var buf [binary.MaxVarintLen64]byte
	return binary.PutUvarint(buf[:], uint64(len(rec))) + len(rec)
}

func pack(recs [][]byte, size int) []byte {
	data := make([]byte, 0, size)
	for _, r := range recs {
		data = append(binary.AppendUvarint(data, uint64(len(r))), r...)
	}
	return data
}

var errPack = errors.New("its pack of records is damaged")

// unpack is the inverse of pack. It refuses what pack does not write.
func unpack(data []byte) ([][]byte, error) {
	var recs [][]byte
	for len(data) > 0 {
		n, k := binary.Uvarint(data)
		if k <= 0 || n > uint64(len(data)-k) || k > 1 && data[k-1] == 0 {
			return nil, errPack
		}
		end := k + int(n)
		recs = append(recs, data[k:end:end])
		data = data[end:]
	}
	if len(recs) < 2 {
		return nil, errPack
	}
	return recs, nil
}

// open sets m.recs and m.first, for a message that has records.
func (m *stored) open() {
	switch {
	case m.head.kind == kindRecord:
		m.recs, m.first = [][]byte{m.data}, m.head.b
	case m.head.kind == kindPack && m.bad == nil:
		if m.recs, m.bad = unpack(m.data); m.bad == nil && uint64(len(m.recs)) > m.head.b {
			m.bad = fmt.Errorf("%d records end with number %d", len(m.recs), m.head.b)
		}
		m.first = m.head.b + 1 - uint64(len(m.recs))
	}
}
