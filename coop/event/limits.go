package event

import (
	"cmp"
	"time"
)

// Limits of one event. They are part of the format and never change.
const (
	MaxEventBytes    = 49152 // the sealed event, signature included
	MaxHandoverBytes = 32768 // a handover's body, before JSON escapes
	MaxScopeEntries  = 64    // of a claim or a review
	MaxEntryBytes    = 256   // of one scope entry
	MaxFences        = 128   // claims that one claim ends
	MaxPublications  = 64    // that one taking names
	MaxFiles         = 64    // of a handover
	MaxFileBytes     = 256   // of one path
	MaxSessions      = 256   // carried over a succession
	MaxStreams       = 256   // named by a succession
	MaxRanges        = 2048  // kept by a checkpoint, in all streams
	MaxReviewBody    = 4096  // bytes
	MaxNote          = 2048  // bytes
	MaxText          = 512   // bytes of an intent or a free reason
)

// Limits are the bounds of one journal and its links on what others send. They
// may differ between runtimes and change between releases; nil and zero fields
// of a configuration mean DefaultLimits.
type Limits struct {
	Events          int           // held before the journal compacts
	Streams         int           // in the stream table
	StreamsTrigger  int           // streams at which the journal compacts
	NodeStreams     int           // of one node; succeeded ones do not count
	NodeTrigger     int           // such streams of one node at which the journal compacts
	NodeRuns        int           // streams held of one node, succeeded ones too
	NodeRunsTrigger int           // streams held of one node before the journal compacts
	NodeEvents      int           // held and waiting, of one node
	Pending         int           // out of order, in one stream
	NodePending     int           // out of order, of one node
	PendingTotal    int           // out of order, in the journal
	NodePendingSize int64         // bytes out of order, of one node
	PendingSize     int64         // bytes out of order, in the journal
	Tombstones      int           // of dropped streams
	LamportLead     uint64        // a received stamp ahead of the receiver's clock
	ReloadBytes     int64         // read at a reload, of what others sent
	NodeSize        int64         // bytes held of one node
	NodeSizeTrigger int64         // bytes held of one node before the journal compacts
	NodeStates      int           // of the patterns of claims held of one node, those above 128 of each claim
	StatesTrigger   int           // such states of one node before the journal compacts
	LinkMessage     int           // bytes of one frame
	EventBatch      int           // bytes of events in one frame
	Heartbeat       time.Duration // between beats
	Expiry          time.Duration // of a silent stream; at least 3 heartbeats
	StreamRetention time.Duration // of the stream of a machine that never returns
	PeerRetention   time.Duration // of an expired peer in lists
	Request         time.Duration // one exchange on a link
	Peers           int           // in the peer table
	Refused         int           // refusals listed
}

// DefaultLimits returns the limits of this release.
func DefaultLimits() Limits {
	return Limits{
		Events:          20000,
		Streams:         1024,
		StreamsTrigger:  768,
		NodeStreams:     64,
		NodeTrigger:     48,
		NodeRuns:        256,
		NodeRunsTrigger: 192,
		NodeEvents:      20000,
		Pending:         256,
		NodePending:     1024,
		PendingTotal:    4096,
		NodePendingSize: 4 << 20,
		PendingSize:     16 << 20,
		Tombstones:      4096,
		LamportLead:     1 << 24,
		ReloadBytes:     64 << 20,
		NodeSize:        16 << 20,
		NodeSizeTrigger: 12 << 20,
		NodeStates:      1 << 17,
		StatesTrigger:   3 << 15,
		LinkMessage:     900 << 10,
		EventBatch:      600 << 10,
		Heartbeat:       5 * time.Second,
		Expiry:          30 * time.Second,
		StreamRetention: 30 * 24 * time.Hour,
		PeerRetention:   15 * time.Minute,
		Request:         5 * time.Second,
		Peers:           256,
		Refused:         128,
	}
}

// WithDefaults returns l with the default in place of each bound that is zero.
func (l Limits) WithDefaults() Limits {
	d := DefaultLimits()
	or(&l.Events, d.Events)
	or(&l.Streams, d.Streams)
	or(&l.StreamsTrigger, d.StreamsTrigger)
	or(&l.NodeStreams, d.NodeStreams)
	or(&l.NodeTrigger, d.NodeTrigger)
	or(&l.NodeRuns, d.NodeRuns)
	or(&l.NodeRunsTrigger, d.NodeRunsTrigger)
	or(&l.NodeEvents, d.NodeEvents)
	or(&l.Pending, d.Pending)
	or(&l.NodePending, d.NodePending)
	or(&l.PendingTotal, d.PendingTotal)
	or(&l.NodePendingSize, d.NodePendingSize)
	or(&l.PendingSize, d.PendingSize)
	or(&l.Tombstones, d.Tombstones)
	or(&l.LamportLead, d.LamportLead)
	or(&l.ReloadBytes, d.ReloadBytes)
	or(&l.NodeSize, d.NodeSize)
	or(&l.NodeSizeTrigger, d.NodeSizeTrigger)
	or(&l.NodeStates, d.NodeStates)
	or(&l.StatesTrigger, d.StatesTrigger)
	or(&l.LinkMessage, d.LinkMessage)
	or(&l.EventBatch, d.EventBatch)
	or(&l.Heartbeat, d.Heartbeat)
	or(&l.Expiry, d.Expiry)
	or(&l.StreamRetention, d.StreamRetention)
	or(&l.PeerRetention, d.PeerRetention)
	or(&l.Request, d.Request)
	or(&l.Peers, d.Peers)
	or(&l.Refused, d.Refused)
	return l
}

func or[T comparable](p *T, otherwise T) {
	*p = cmp.Or(*p, otherwise)
}
