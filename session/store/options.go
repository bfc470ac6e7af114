package store

import (
	"fmt"
	"time"

	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/storage"
)

// Options are choices for New. Nil, and the zero value of each, is the default.
type Options struct {
	// Kinds are the records that can be written and read; nil: those of packages
	// event and command, and every opaque one.
	Kinds *journal.Kinds
	// Prefix is the name that those of all sessions begin with: "sessions".
	Prefix string

	// InlineBytes is the longest content that is stored in the frame itself; what is
	// longer is a blob. 64 KiB, at most what lets two of them fit into a record of
	// the backend.
	InlineBytes int
	// MaxBodyBytes bounds the body of a record and its public form, each, on
	// writing and on reading. 16 MiB.
	MaxBodyBytes int

	// AppendTimeout bounds an append, with the storing of its blobs, apart from
	// the caller's context. 10 s.
	AppendTimeout time.Duration
	// OpenTimeout bounds the opening of a session: its fence and the reading of
	// its tail. 60 s. An opening that ran out of it has lost nothing, and a later one
	// goes on from the last checkpoint of the index.
	OpenTimeout time.Duration
	// ReleaseTimeout bounds the release of a lease. 5 s.
	ReleaseTimeout time.Duration
	// Attempts is how often an append is tried until its outcome is known. 3.
	Attempts int

	// CheckpointRecords is how many records may lie behind the last checkpoint of
	// the index, which is what an opening reads. 4096.
	CheckpointRecords int
	// IndexCacheBytes bounds the memory of the index, apart from the records behind
	// its last checkpoint. 32 MiB.
	IndexCacheBytes int

	// Chain puts the digest of the frame before it into each frame, so that
	// a history that was changed anywhere shows it in Verify and in every reading.
	Chain bool

	// Grace is the age up to which a blob that nothing refers to is kept. 1 h.
	Grace time.Duration
	// Now is the clock of the catalog; nil is time.Now.
	Now func() time.Time
	// Trouble is told of what failed beside the journal, where nothing is lost
	// by it: the catalog, a checkpoint of the index. It may be called concurrently
	// and must not block. nil tells nobody.
	Trouble func(error)
}

// fill replaces zero values by defaults, within the bounds of the backend.
func (o *Options) fill(tr storage.Traits) error {
	def := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	defTime := func(v *time.Duration, d time.Duration) {
		if *v == 0 {
			*v = d
		}
	}
	if o.Kinds == nil {
		o.Kinds = new(journal.Kinds)
	}
	if o.Prefix == "" {
		o.Prefix = "sessions"
	}
	def(&o.InlineBytes, 64<<10)
	def(&o.MaxBodyBytes, 16<<20)
	def(&o.Attempts, 3)
	def(&o.CheckpointRecords, 4096)
	def(&o.IndexCacheBytes, 32<<20)
	defTime(&o.AppendTimeout, 10*time.Second)
	defTime(&o.OpenTimeout, 60*time.Second)
	defTime(&o.ReleaseTimeout, 5*time.Second)
	defTime(&o.Grace, time.Hour)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Trouble == nil {
		o.Trouble = func(error) {}
	}
	if err := storage.CheckName(o.Prefix); err != nil {
		return err
	}
	const longest = 64 // what is appended to the prefix
	if len(o.Prefix) > storage.MaxNameBytes-longest {
		return fmt.Errorf("prefix of %d bytes, at most %d", len(o.Prefix), storage.MaxNameBytes-longest)
	}
	if most := (tr.MaxRecordBytes - journal.MaxFrameOverhead) / 2; o.InlineBytes < 0 || o.InlineBytes > most {
		return fmt.Errorf("InlineBytes is %d, want 1 to %d", o.InlineBytes, most)
	}
	if o.MaxBodyBytes < 0 || o.Attempts < 0 || o.CheckpointRecords < 0 || o.IndexCacheBytes < 0 ||
		o.AppendTimeout < 0 || o.OpenTimeout < 0 || o.ReleaseTimeout < 0 || o.Grace < 0 {
		return fmt.Errorf("a limit below 0: %+v", *o)
	}
	return nil
}
