package journal

import (
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// A fork is proof that the author of a stream signed two histories: the first
// event found that does not go together with what is held. It is kept beside it.
type fork struct {
	seq  uint64
	hash [32]byte
}

type forks map[ident.Stream]fork

func (fs forks) put(e *event.Event) {
	if _, known := fs[e.Stream]; !known {
		fs[e.Stream] = fork{e.Seq, e.Hash}
	}
}

// is reports whether e is the proof that is kept.
func (fs forks) is(e *event.Event) bool {
	f, known := fs[e.Stream]
	return known && f.hash == e.Hash
}

// keep gives up the proofs of streams that are not wanted.
func (fs forks) keep(wanted func(ident.Stream) bool) {
	for s := range fs {
		if !wanted(s) {
			delete(fs, s)
		}
	}
}

// forsake ends the stream of this run, which somebody else writes as well, or
// wrote before this machine was set back.
func (j *Journal) forsake() {
	j.health.Forsaken = append(j.health.Forsaken, j.own.stream)
	j.nextStream()
}
