package journal

import (
	"maps"
	"slices"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// A Range is a run of numbers, both ends in it; Last is 0 where it is not known.
type Range struct{ First, Last uint64 }

// Health is what a person should know of a journal: what was found on disk,
// what was left out and why, and whether it can be written.
type Health struct {
	Durability Durability // of what is acknowledged: Synced or Memory
	Image      ImageUse   // whether it was opened by the image of a clean stop
	ReadOnly   error      // why nothing can be written until reopened, else nil
	Poisoned   error      // the failed write after which the log refuses all, else nil
	Record     string     // run record of this runtime
	Run        uint64     // the run's number in it

	// SecondUsers are streams of this node's key that count under another run
	// record: a second user of this key, on a copied or a shared home. They are
	// never succeeded by this journal's runs.
	SecondUsers []ident.Stream
	// Forsaken are streams of this run that it gave up, because somebody else has
	// events of them: this machine was set back, or this home was copied.
	Forsaken []ident.Stream
	// Forked are streams whose authors signed two histories, with the number of
	// the event that showed it. What was held first stands.
	Forked map[ident.Stream]uint64
	// Ended are the sessions that should have gone on in this run and did not fit.
	Ended []string

	Damage         []Damage                 // places of the log that cannot be read back
	Damaged        map[ident.Stream][]Range // events lost with them
	Suspects       map[ident.Stream]uint64  // own streams that may have lost their end, from this number on
	Shortened      uint64                   // records that the log had at the last clean stop, and that are gone without a trace
	DroppedBatches int                      // unacknowledged ones that a crash cut
	DroppedBytes   int64

	Records map[RecordType]uint64 // found on reload, by type
	Unknown map[RecordType]uint64 // those of them that this build does not know
	Newer   uint64                // records of a newer version
	BadMACs uint64                // records that this node did not seal
	Refused map[Refusal]uint64    // on reload

	Events   int    // in the fold
	Streams  int    // held
	Pending  int    // own events not yet synced
	Clock    uint64 // the highest stamp seen
	Reloaded uint64 // events that a reload gave back
	Written  uint64 // own events acknowledged since
	Failed   uint64 // own events that were not

	Received   uint64                  // events of others taken since
	Crowded    map[ident.NodeID]uint64 // events and beats refused since, of nodes that name more than MaxRuntimes runtimes
	Duplicates uint64                  // handed in and held already
	Rejected   map[event.Reason]uint64 // handed in and refused
	Waiting    int                     // handed in and waiting for another event
	Blocked    []event.Blocked         // streams that something waits for, by stream
	Verified   uint64                  // signatures of events checked since
	Compacted  uint64                  // events dropped since
	Dropped    int                     // streams that were dropped and are remembered
	Withheld   int                     // streams on disk that are not believed
}

// Damage is a place of the log that was synced once and cannot be read back.
type Damage struct {
	Segment        string
	Offset, Length int64
	Records        Range // zero when it cannot be told
	Reason         string
}

// SecondUser says what is wrong when somebody else writes under this key, ""
// when nobody does.
func (h Health) SecondUser() string {
	if len(h.SecondUsers) == 0 {
		return ""
	}
	return "a second user of this key"
}

// Health returns a copy of what is known now.
func (j *Journal) Health() Health {
	j.lock()
	defer j.unlock()
	h := j.health
	h.Durability = Synced
	if j.memory {
		h.Durability = Memory
	}
	h.ReadOnly = j.ended
	h.Poisoned = j.log.Err()
	if h.ReadOnly == nil {
		h.ReadOnly = h.Poisoned
	}
	h.Record, h.Run = j.run.Record, j.run.Run
	h.SecondUsers = slices.Clone(h.SecondUsers)
	h.Ended = slices.Clone(h.Ended)
	h.Forsaken = slices.Clone(h.Forsaken)
	for s, f := range j.forks {
		if !j.believed(s.Node()) {
			continue
		}
		if h.Forked == nil {
			h.Forked = map[ident.Stream]uint64{}
		}
		h.Forked[s] = f.seq
	}
	h.Rejected, h.Crowded = maps.Clone(h.Rejected), maps.Clone(h.Crowded)
	h.Waiting, h.Blocked = j.waiting.total.events, j.waiting.blocked(j)
	for _, d := range j.log.Damage() {
		h.Damage = append(h.Damage, Damage{d.Segment, d.Offset, d.Length, Range{d.FirstIndex, d.LastIndex}, d.Reason})
	}
	h.Damaged = maps.Clone(h.Damaged)
	h.Suspects = maps.Clone(h.Suspects)
	h.Records, h.Unknown, h.Refused = maps.Clone(h.Records), maps.Clone(h.Unknown), maps.Clone(h.Refused)
	h.Events, h.Streams, h.Pending = j.arrivals.len(), len(j.heads), len(j.pending)
	h.Clock = j.stamp
	h.Dropped, h.Withheld = len(j.tombs.order), len(j.withheld)
	return h
}

// lost steps over events of a stream that are gone.
func (j *Journal) lost(s ident.Stream, first, last uint64) {
	j.state.Skip(s, first, last)
	h := &j.health
	if h.Damaged == nil {
		h.Damaged = map[ident.Stream][]Range{}
	}
	h.Damaged[s] = append(h.Damaged[s], Range{first, last})
}

// regain notes that an event that was lost is held again.
func (j *Journal) regain(s ident.Stream, seq uint64) {
	var left []Range
	for _, r := range j.health.Damaged[s] {
		switch {
		case seq < r.First || seq > r.Last:
			left = append(left, r)
			continue
		case seq > r.First:
			left = append(left, Range{r.First, seq - 1})
		}
		if seq < r.Last {
			left = append(left, Range{seq + 1, r.Last})
		}
	}
	if len(left) == 0 {
		delete(j.health.Damaged, s)
		return
	}
	j.health.Damaged[s] = left
}

func (h *Health) suspect(s ident.Stream, from uint64) {
	if h.Suspects == nil {
		h.Suspects = map[ident.Stream]uint64{}
	}
	h.Suspects[s] = from
}

func (h *Health) count(t RecordType) {
	add(&h.Records, t)
	switch t {
	case RecordEvent, RecordRow, RecordBeats, RecordTombs, RecordFork:
	default:
		add(&h.Unknown, t)
	}
}

func (h *Health) refuse(why Refusal) { add(&h.Refused, why) }

func add[K comparable](m *map[K]uint64, k K) {
	if *m == nil {
		*m = map[K]uint64{}
	}
	(*m)[k]++
}
