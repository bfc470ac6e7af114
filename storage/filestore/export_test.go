package filestore

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"

	"github.com/comity-dev/comity/internal/seglog"
)

// Inline returns options with which one sequence of calls makes one sequence of
// operations on the disk, in small files.
func Inline() *Options {
	return &Options{IndexAfter: -1, MaxSegmentBytes: 32 << 10, log: seglog.Options{Inline: true, IdleAfter: -1, FirstSegmentBytes: 16 << 10}}
}

// SaveIndex writes the index now.
func (s *Store) SaveIndex() error { return s.saveIndex(false) }

// OnCompact has f called before the store compacts itself, which it does if f
// returns nil.
func (s *Store) OnCompact(f func() error) {
	s.compact = func(ctx context.Context) error {
		if err := f(); err != nil {
			return err
		}
		_, err := s.Compact(ctx)
		return err
	}
}

// DecodeIndex decodes and encodes an index.
func DecodeIndex(b []byte) ([]byte, error) {
	x, err := decodeIndex(b)
	if err != nil {
		return nil, err
	}
	return x.encode(), nil
}

// Resum gives an index the checksum that it should have.
func Resum(b []byte) []byte {
	b = bytes.Clone(b)
	if len(b) >= indexHeader {
		copy(b, indexMagic)
		binary.LittleEndian.PutUint32(b[8:], indexVersion)
		binary.LittleEndian.PutUint32(b[12:], crc32.Checksum(b[16:], castagnoli))
	}
	return b
}

// Recent returns how much of a ledger is kept in memory for followers.
func (s *Store) Recent(name string) (records, bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.ledgers[tagOf(familyLedger, name)]
	for _, rec := range l.recent {
		bytes += len(rec.Data)
	}
	return len(l.recent), bytes
}
