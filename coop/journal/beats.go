package journal

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// saveEvery is how often beats go to disk.
const saveEvery = time.Minute

// maxSaved bounds the beats of one record.
const maxSaved = 512

// A record of beats is, integers in big endian,
//
//	Lamport clock (8) | length of boot id (1) | boot id | for each beat:
//	beat (event.BeatBytes) | difference (8, signed) | time it was taken (8)
//
// with both times in nanoseconds since the boot of that id.
const savedBytes = event.BeatBytes + 8 + 8

// savedBeats is a record of beats.
type savedBeats struct {
	clock uint64
	boot  string
	beats []savedBeat
}

type savedBeat struct {
	beat              *event.Beat
	difference, taken time.Duration
}

// heard is a beat on its way to the disk.
type heard struct {
	life   *life
	uptime time.Duration
}

func (s savedBeats) encode() []byte {
	b := binary.BigEndian.AppendUint64(nil, s.clock)
	b = append(append(b, byte(len(s.boot))), s.boot...)
	for _, one := range s.beats {
		b = append(b, one.beat.Raw...)
		b = binary.BigEndian.AppendUint64(b, uint64(one.difference))
		b = binary.BigEndian.AppendUint64(b, uint64(one.taken))
	}
	return b
}

func decodeBeats(b []byte) (savedBeats, error) {
	if len(b) < 9 || len(b) < 9+int(b[8]) {
		return savedBeats{}, fmt.Errorf("beats: %d bytes, want a whole header", len(b))
	}
	s := savedBeats{clock: binary.BigEndian.Uint64(b), boot: string(b[9 : 9+int(b[8])])}
	rest := b[9+len(s.boot):]
	if s.clock > event.MaxInt || len(rest)%savedBytes != 0 {
		return savedBeats{}, fmt.Errorf("beats: clock %d and %d bytes, want whole beats", s.clock, len(rest))
	}
	for ; len(rest) > 0; rest = rest[savedBytes:] {
		beat, err := event.ParseBeat(rest[:event.BeatBytes:event.BeatBytes])
		if err != nil {
			return savedBeats{}, err
		}
		s.beats = append(s.beats, savedBeat{
			beat:       beat,
			difference: time.Duration(binary.BigEndian.Uint64(rest[event.BeatBytes:])),
			taken:      time.Duration(binary.BigEndian.Uint64(rest[event.BeatBytes+8:])),
		})
	}
	return s, nil
}

// restore takes up what an earlier run heard: which beats are old, and, in the
// same boot, how old. It makes nobody live.
func (j *Journal) restore(s savedBeats) {
	for _, one := range s.beats {
		b := one.beat
		if b.Repo != j.cfg.Repo || j.tombs.of(b.Stream) != nil {
			continue
		}
		l := j.known(b.Stream)
		if !b.Later(l.beat) {
			continue
		}
		l.beat, l.saved, l.latest = b, b.Uptime, noBound
		l.measured = s.boot == j.clock.BootID() && one.taken <= j.started
		l.difference, l.taken = one.difference, one.taken
		j.settled = j.settled || b.Stream.Node() != j.runtime.Node
		j.lives.touch(b.Stream)
	}
}

// known is the life of a stream as of the start of this run, kept aside while its
// key is not believed.
func (j *Journal) known(s ident.Stream) *life {
	if j.believed(s.Node()) {
		return j.lives.of(s, j.started)
	}
	if j.aside[s] == nil {
		j.aside[s] = &life{stream: s, known: j.started}
	}
	return j.aside[s]
}

// SaveBeats writes the beats that rose since, and the clock, once a minute: it
// does nothing when less time has passed or nothing rose. Until a beat is written
// a restart may take a replay of it for news.
func (j *Journal) SaveBeats(ctx context.Context) error {
	if err := j.gate.enter(); err != nil {
		return err
	}
	defer j.gate.leave()
	if err := j.tryLock(ctx); err != nil {
		return fmt.Errorf("wait for the journal: %w", err)
	}
	b, err := j.queueBeats()
	j.unlock()
	if b == nil {
		return err
	}
	j.settle(b)
	return b.err
}

// queueBeats queues, as one write, what has risen and the local rows that go along
// with it; nil when nothing is due.
func (j *Journal) queueBeats() (*batch, error) {
	now := j.clock.Boot()
	if now-j.saved < saveEvery {
		return nil, nil
	}
	if j.ended != nil {
		return nil, &ReadOnlyError{j.ended}
	}
	b := &batch{rows: j.rowsDue(), beats: j.beatsDue()}
	recs := j.sealRows(b.rows) // first: their records are found by their place in the batch
	for some := range slices.Chunk(b.beats, maxSaved) {
		payload := j.saving(some).encode()
		j.waste += len(payload)
		recs = append(recs, j.seal.seal(RecordBeats, payload))
	}
	if len(recs) == 0 {
		return nil, nil
	}
	j.saved = now
	return j.queue(b, recs), nil
}

// beatsDue are the beats that rose since they were saved.
func (j *Journal) beatsDue() []heard {
	var due []heard
	for _, stream := range slices.Sorted(maps.Keys(j.lives.byStream)) {
		l := j.lives.byStream[stream]
		if l.beat != nil && l.measured && l.beat.Uptime > l.saved {
			due = append(due, heard{l, l.beat.Uptime})
		}
	}
	return due
}

// saving is the record of some beats.
func (j *Journal) saving(due []heard) savedBeats {
	s := savedBeats{clock: j.stamp, boot: j.clock.BootID()}
	for _, h := range due {
		s.beats = append(s.beats, savedBeat{h.life.beat, h.life.difference, h.life.taken})
	}
	return s
}

// rowsDue are the local rows that go along with beats.
func (j *Journal) rowsDue() []row {
	rows := j.backRows()
	if r, due := j.spokeRow(); due {
		rows = append(rows, r)
	}
	return rows
}
