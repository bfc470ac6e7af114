package linktest

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// MarksSince implements link.Source.
func (s *Store) MarksSince(version uint64) (event.Marks, uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	marks := event.Marks{}
	for stream, l := range s.streams {
		if l.version > version && (len(l.raw) > 0 || l.beat != nil) {
			marks[stream] = event.Mark{Seq: uint64(len(l.raw)), Beat: l.beat}
		}
	}
	return marks, s.version
}

// Missing implements link.Source.
func (s *Store) Missing(theirs event.Marks, budget int, skip func(ident.Stream) bool) (all []event.Stored, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	streams := slices.Sorted(maps.Keys(s.streams))
	s.turn++
	for i := range streams {
		stream := streams[(i+s.turn)%len(streams)]
		if skip(stream) {
			continue
		}
		l := s.streams[stream]
		for seq := theirs[stream].Seq + 1; seq <= uint64(len(l.raw)); seq++ {
			if budget -= len(l.raw[seq-1]); budget < 0 && len(all) > 0 {
				return all, nil
			}
			all = append(all, event.Stored{Key: event.Key{Stream: stream, Seq: seq}, Raw: l.raw[seq-1]})
		}
	}
	return all, nil
}

// Beat implements link.Source. Each beat is a second later than the one before.
func (s *Store) Beat() (*event.Beat, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.streams[s.Stream]
	if l == nil || l.last == nil {
		return nil, false
	}
	s.uptime += time.Second
	b, err := event.SealBeat(s.Key, event.BeatHeader{
		Repo: s.Repo, Stream: s.Stream, Seq: l.last.Seq, Head: l.last.Hash, Lamport: s.lamport, Uptime: s.uptime,
	})
	return b, err == nil
}

// Clock implements link.Source.
func (s *Store) Clock() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lamport
}

// MergeMarks implements link.Listener.
func (s *Store) MergeMarks(theirs event.Marks) (risen int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for stream, m := range theirs {
		if stream == s.Stream || m.Beat == nil || s.deaf[stream.Node()] || !m.Beat.Later(s.beatOf(stream)) || !m.Beat.Verify() {
			continue
		}
		l := s.line(stream)
		l.beat = m.Beat
		s.touch(l)
		risen++
	}
	return risen
}

func (s *Store) beatOf(stream ident.Stream) *event.Beat {
	if l := s.streams[stream]; l != nil {
		return l.beat
	}
	return nil
}

// Answered implements link.Listener.
func (s *Store) Answered(*event.Beat) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answered++
	return true
}

// Welcome implements link.Joiner.
func (s *Store) Welcome(clock uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lamport = max(s.lamport, clock)
	return true
}

// Joining implements link.Joiner.
func (s *Store) Joining(ident.Runtime) (done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.joining++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.joining--
	}
}

// Ingest implements link.Journal.
func (s *Store) Ingest(_ context.Context, batch [][]byte) event.IngestReport {
	r := event.IngestReport{Outcomes: make([]event.Outcome, len(batch))}
	blocked := map[ident.Stream]event.Blocked{}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, raw := range batch {
		e, err := event.Parse(raw)
		if err != nil {
			r.Outcomes[i] = event.Outcome{Status: event.Rejected, Reason: event.Malformed}
			continue
		}
		r.Outcomes[i] = s.ingest(e)
		if _, known := blocked[e.Stream]; !known && r.Outcomes[i].Status == event.Rejected {
			blocked[e.Stream] = event.Blocked{Stream: e.Stream, Seq: e.Seq, Why: r.Outcomes[i].Reason}
		}
	}
	r.Count()
	for _, stream := range slices.Sorted(maps.Keys(blocked)) {
		r.Blocked = append(r.Blocked, blocked[stream])
	}
	return r
}

func (s *Store) ingest(e *event.Event) event.Outcome {
	l := s.streams[e.Stream]
	held := uint64(0)
	if l != nil {
		held = uint64(len(l.raw))
	}
	switch {
	case e.Seq <= held && string(l.raw[e.Seq-1]) == string(e.Raw):
		return event.Outcome{Status: event.Duplicate}
	case e.Seq <= held:
		return event.Outcome{Status: event.Rejected, Reason: event.Forked}
	case s.deaf[e.Stream.Node()]:
		return event.Outcome{Status: event.Rejected, Reason: event.Untrusted}
	case !e.Verify():
		return event.Outcome{Status: event.Rejected, Reason: event.BadSignature}
	case e.Seq > held+1:
		return event.Outcome{Status: event.Rejected, Reason: event.Capacity}
	}
	s.put(s.line(e.Stream), e)
	return event.Outcome{Status: event.Accepted}
}
