package journal

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"hash"

	"github.com/comity-dev/comity/coop/ident"
)

// recordVersion is the newest version of a record that this build reads, and
// the one that it writes.
const recordVersion = 1

// A RecordType tells what the payload of a record is.
type RecordType uint8

// The types that this build reads and writes.
const (
	RecordEvent RecordType = 1
	RecordRow   RecordType = 2
	RecordBeats RecordType = 3 // the latest beats heard
	RecordTombs RecordType = 4 // the streams that were dropped
	RecordFork  RecordType = 5 // an event whose place is held with other bytes
)

const recordHeader = 1 + 1 + sha256.Size

var errShortRecord = errors.New("shorter than its header")

// sealer makes and checks the keyed digest of records. Not safe for concurrent use.
type sealer struct {
	mac hash.Hash
	own [sha256.Size]byte // room for a digest
}

func newSealer(key []byte) *sealer { return &sealer{mac: hmac.New(sha256.New, key)} }

// sealer is a new one for this journal's records.
func (j *Journal) sealer() *sealer { return newSealer(j.cfg.Key.DeriveMAC(macLabel(j.cfg.Repo))) }

// macLabel names the key's use, and binds a log to its repository: rows name none.
func macLabel(repo ident.RepositoryID) string { return "journal-record/v1\n" + string(repo) }

// seal returns the bytes of a record. They do not share memory with payload.
func (s *sealer) seal(t RecordType, payload []byte) []byte {
	rec := make([]byte, 0, recordHeader+len(payload))
	rec = append(rec, byte(t), recordVersion)
	rec = s.sum(rec, rec, payload)
	return append(rec, payload...)
}

// sum appends the digest over a record's first two bytes and its payload.
func (s *sealer) sum(dst, head, payload []byte) []byte {
	s.mac.Reset()
	s.mac.Write(head[:2])
	s.mac.Write(payload)
	return s.mac.Sum(dst)
}

// A record is one opened record of the log.
type record struct {
	kind    RecordType
	version uint8
	sealed  bool   // its digest is this node's
	payload []byte // shares memory with the bytes that were opened
}

// open reads a record of any type and version. Of one that is not sealed only
// kind and version may be believed, and no more than to count it.
func (s *sealer) open(rec []byte) (record, error) {
	if len(rec) < recordHeader {
		return record{}, errShortRecord
	}
	payload := rec[recordHeader:]
	return record{
		kind:    RecordType(rec[0]),
		version: rec[1],
		sealed:  hmac.Equal(s.sum(s.own[:0], rec, payload), rec[2:recordHeader]),
		payload: payload,
	}, nil
}
