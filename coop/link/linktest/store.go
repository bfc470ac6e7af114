package linktest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// A Store is a link.Journal in memory, as small as one can be: it takes events
// in their order and refuses all others. It is safe for concurrent use.
type Store struct {
	Key    *ident.Key
	Repo   ident.RepositoryID
	Stream ident.Stream // its own

	mu       sync.Mutex
	streams  map[ident.Stream]*line
	version  uint64
	deaf     map[ident.NodeID]bool
	listen   func()
	uptime   time.Duration
	lamport  uint64
	joining  int
	answered int
	turn     int
}

// line is one stream.
type line struct {
	raw     [][]byte
	last    *event.Event
	beat    *event.Beat
	version uint64
}

// NewStore returns the store of a node of that name. Equal names have equal keys
// and streams.
func NewStore(name string) *Store {
	seed := sha256.Sum256([]byte(name))
	k, err := ident.KeyFromSeed(seed[:])
	if err != nil {
		panic(err) // unreachable: a digest is as long as a seed
	}
	repo, err := ident.RepositoryDeclared("linktest")
	if err != nil {
		panic(err) // unreachable: the value is in its bounds
	}
	return &Store{
		Key: k, Repo: repo, Stream: StreamOf(k, repo, name),
		streams: map[ident.Stream]*line{}, deaf: map[ident.NodeID]bool{}, uptime: time.Hour,
	}
}

// StreamOf is the stream of a run of k's runtime that the name tells apart.
func StreamOf(k *ident.Key, repo ident.RepositoryID, name string) ident.Stream {
	sum := sha256.Sum256([]byte("run " + name))
	return ident.NewStream(k.Node(), k.Runtime(repo), ident.InstanceID(hex.EncodeToString(sum[:8])))
}

// Listen has f called, under the store's lock, when there is something new.
func (s *Store) Listen(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listen = f
}

// Believe says whether the events of a node are taken. By default they are.
func (s *Store) Believe(n ident.NodeID, yes bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deaf[n] = !yes
}

// Append writes n events of about size bytes each to the store's own stream.
func (s *Store) Append(n, size int) {
	s.AppendTo(s.Stream, n, size)
}

// AppendTo writes to another stream of the store's node.
func (s *Store) AppendTo(stream ident.Stream, n, size int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range n {
		l := s.line(stream)
		h := event.Header{Repo: s.Repo, Stream: stream, Seq: uint64(len(l.raw) + 1), Lamport: s.lamport + 1}
		if l.last != nil {
			h.Prev = hex.EncodeToString(l.last.Hash[:])
		}
		e, err := event.Seal(s.Key, h, bodyOf(size))
		if err != nil {
			panic(fmt.Sprintf("linktest: %v", err)) // unreachable unless size is over the bound of a handover
		}
		s.put(l, e)
	}
}

func bodyOf(size int) event.Body {
	if size < 1000 {
		return event.SessionClosed{Session: "s-1", Reason: "done"}
	}
	text := strings.Repeat("x", size)
	return event.HandoverPublished{Session: "s-1", Handover: event.Handover{ID: event.HandoverID(text), Body: text}}
}

func (s *Store) line(stream ident.Stream) *line {
	l := s.streams[stream]
	if l == nil {
		l = new(line)
		s.streams[stream] = l
	}
	return l
}

func (s *Store) put(l *line, e *event.Event) {
	l.raw, l.last = append(l.raw, e.Raw), e
	s.lamport = max(s.lamport, e.Lamport)
	s.touch(l)
}

func (s *Store) touch(l *line) {
	s.version++
	l.version = s.version
	if s.listen != nil {
		s.listen()
	}
}

// Held is how far each stream is held.
func (s *Store) Held() map[ident.Stream]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := map[ident.Stream]int{}
	for stream, l := range s.streams {
		if len(l.raw) > 0 {
			held[stream] = len(l.raw)
		}
	}
	return held
}

// Joins tells how many first exchanges are under way.
func (s *Store) Joins() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.joining
}

// AnsweredBeats counts the beats that came as an answer.
func (s *Store) AnsweredBeats() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.answered
}

// Beats is the uptime of the latest beat of each stream that was heard.
func (s *Store) Beats() map[ident.Stream]time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[ident.Stream]time.Duration{}
	for stream, l := range s.streams {
		if l.beat != nil {
			all[stream] = l.beat.Uptime
		}
	}
	return all
}

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
