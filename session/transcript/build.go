package transcript

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/journal"
)

// Bounds of what a builder holds.
const (
	maxWaiting   = 4 << 20 // bytes of entries that wait, of all loops
	entryBytes   = 256     // counted for an entry or a block beside its texts
	maxLoops     = 64      // delegates at work; the one heard of longest ago is shown in parts
	maxDepth     = 16      // delegates of delegates; deeper ones stand beside the one above them
	maxRemember  = 1024    // calls, gates, loops, inputs that were shown open, each
	maxPrepared  = 64      // payloads whose gate is not open yet
	maxWarnings  = 100     // listed; the others are counted
	maxHeadWaits = 64      // entries that wait for a title
)

// A builder makes entries of records and hands them to a renderer.
type builder struct {
	opt    *Options
	render renderer
	root   *loop
	loops  map[event.ID]*loop // but the root

	calls     map[event.ID]*openCall // that wait in a queue
	gates     map[event.ID]*openGate // that wait, in a queue or in a call that does
	lateCalls table[lateCall]        // that were shown open
	lateGates table[lateGate]
	gone      table[goneLoop] // loops that are closed
	inputs    table[waiting]  // that nothing came of yet
	prepared  table[preparedGate]

	head     head
	headDone bool
	foot     foot
	sum      Summary
}

func newBuilder(w io.Writer, r renderer, o *Options) *builder {
	b := &builder{
		opt: o, render: r, loops: make(map[event.ID]*loop),
		calls: make(map[event.ID]*openCall), gates: make(map[event.ID]*openGate),
		lateCalls: newTable[lateCall](maxRemember), lateGates: newTable[lateGate](maxRemember), gone: newTable[goneLoop](maxRemember),
		inputs: newTable[waiting](maxRemember), prepared: newTable[preparedGate](maxPrepared),
	}
	b.root = &loop{out: out{w: w}}
	if !o.Exported.IsZero() {
		b.head.exported = uint64(max(o.Exported.UnixMilli(), 0))
	}
	return b
}

// record takes one record. The error is one of writing.
func (b *builder) record(rec journal.JournalRecord, seq uint64) error {
	b.sum.Records++
	b.sum.Last = seq
	switch r := rec.(type) {
	case journal.EventRecord:
		b.event(r.Event(), seq)
	case journal.CommandRecord:
		b.command(r, seq)
	case journal.GatePreparedRecord:
		b.gatePrepared(r)
	case journal.FenceRecord, journal.CommandApplicationRecord, journal.CommandDispositionRecord:
		// They keep the writing in order and say nothing of what happened.
	case journal.OpaqueRecord:
		b.opaque(r, seq)
	default:
		return fmt.Errorf("transcript: record %d is a %T, which is not known here", seq, rec)
	}
	b.bound()
	return b.failed()
}

// bound sees to it that what waits stays within its bounds.
func (b *builder) bound() {
	for b.prepared.sum(preparedGate.size) > maxWaiting {
		b.prepared.forget()
	}
	tasks, waits := 0, b.root.bytes
	for _, l := range b.loops {
		tasks += sizeOf(l.view.task)
		waits += l.bytes
	}
	if tasks+waits <= maxWaiting {
		return
	}
	// A task is shown where its delegate is, so that has to be shown first.
	for l := b.leaf(b.root, nil); tasks > maxWaiting/2 && l != nil; l = b.leaf(b.root, nil) {
		tasks -= sizeOf(l.view.task)
		b.closeLoop(l, true)
	}
	for _, id := range slices.Sorted(maps.Keys(b.loops)) {
		b.flush(b.loops[id], true)
	}
	b.flush(b.root, true)
}

// failed returns the first error of writing.
func (b *builder) failed() error {
	if err := b.root.out.err; err != nil {
		return fmt.Errorf("write transcript: %w", err)
	}
	for _, l := range b.loops {
		if err := l.out.err; err != nil {
			return fmt.Errorf("write transcript: %w", err)
		}
	}
	return nil
}

// add puts an entry that is whole behind the others of l.
func (b *builder) add(l *loop, entry any, bytes int) { l.push(entry, false, bytes+entryBytes) }

// flush writes what waits for nothing in l, or all of it.
func (b *builder) flush(l *loop, force bool) {
	if l == b.root && !b.headDone {
		if !force && b.head.title == "" && len(l.queue) < maxHeadWaits {
			return // an input may come that gives a title
		}
		b.headDone = true
		b.render.write(&l.out, b.head)
	}
	l.flush(b.render, force, b.wrote)
}

func (b *builder) warn(seq uint64, text string) {
	b.sum.Warnings++
	if len(b.foot.warnings) < maxWarnings {
		b.foot.warnings = append(b.foot.warnings, warning{seq, text})
	} else {
		b.foot.moreWarns++
	}
}

// finish writes what is left as it is, and the end.
func (b *builder) finish() error {
	b.closeBelow(b.root)
	b.root.leaveTurn(turnEnd{outcome: open})
	b.flush(b.root, true)
	b.inputs.each(func(_ event.ID, w waiting) {
		if len(b.foot.waiting) < maxWarnings {
			b.foot.waiting = append(b.foot.waiting, w)
		} else {
			b.foot.moreWait++
		}
	})
	b.foot.moreWait += b.inputs.lost
	b.foot.sum = b.sum
	b.render.write(&b.root.out, b.foot)
	return b.failed()
}

// discard lets go of what was not written.
func (b *builder) discard() {
	for _, l := range b.loops {
		l.discard()
	}
	b.root.discard()
}
