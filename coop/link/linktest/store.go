package linktest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
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
