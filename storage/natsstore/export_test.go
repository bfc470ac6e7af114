package natsstore

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/comity-dev/comity/storage"
)

// Stall keeps the holder of a lease from renewing it.
func Stall(l storage.Lease) { l.(*lease).stall() }

// BeforeSend has before called in front of the first attempt of each write, and
// after behind it.
func BeforeSend(s *Store, before, after func()) {
	s.testingBefore, s.testingAfter = before, after
}

// Connected reports whether the store has a server.
func Connected(s *Store) bool { return s.nc.IsConnected() }

// Conn is the connection of a store, for what a client can do besides.
func Conn(s *Store) *nats.Conn { return s.nc }

// Head returns the header of a message.
func Head(kind byte, a, b uint64, subject, data string) string {
	return head{kind, a, b}.format(subject, []byte(data))
}

// Chunks returns the number of contents that have chunks, and ChunkSubject the
// subject of one.
func Chunks(ctx context.Context, s *Store) int {
	live, err := s.subjects(ctx, s.names.blobs, s.names.chunk+"*")
	if err != nil {
		return -1
	}
	return len(live)
}

func ChunkSubject(ctx context.Context, s *Store) string {
	live, _ := s.subjects(ctx, s.names.blobs, s.names.chunk+"*")
	for subject := range live {
		return subject
	}
	return ""
}

// HeldByListings returns how many bytes of content the lists of all subjects hold.
func HeldByListings(ctx context.Context, s *Store) (n int, err error) {
	for stream, filter := range map[string]string{s.names.ledgers: s.names.ledger + "*", s.names.rows: s.names.row + ">", s.names.blobs: s.names.chunk + "*"} {
		live, err := s.subjects(ctx, stream, filter)
		if err != nil {
			return 0, err
		}
		for _, m := range live {
			n += len(m.data)
			for _, r := range m.recs {
				n += len(r)
			}
		}
	}
	return n, nil
}

// SetTimeout changes Options.Timeout for the calls that come.
func SetTimeout(s *Store, d time.Duration) { s.testingTimeout.Store(int64(d)) }
