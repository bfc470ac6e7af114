package journal

import (
	"context"
	"fmt"
	"slices"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/internal/seglog"
)

// believed reports whether events of a node are taken: ours always.
func (j *Journal) believed(n ident.NodeID) bool {
	trust := *j.trust.Load()
	return n == j.runtime.Node || trust != nil && trust(n)
}

// SetTrust changes whose events are believed while the journal runs; nil believes
// nobody else. ctx bounds the wait for batches and for the lock, with nothing
// done when it ends there.
//
// When it returns, the streams of keys that are not believed any more are as if
// they had never come: for the state, pages, marks, beats and liveness. Their
// records stay on disk; that they were peers is forgotten, and where the disk does not
// take that it is left to the next call. Those of keys that are believed again are read back from
// there, as a restart would, and peers are asked for the rest by the marks. When
// that changes which events there are, cursors given out before are refused with
// CursorView, followers are woken to find that out, and Left and Observe are told
// what changed.
func (j *Journal) SetTrust(ctx context.Context, trust func(ident.NodeID) bool) error {
	if err := j.gate.enter(); err != nil {
		return err
	}
	defer j.gate.leave()
	select {
	case j.turnstile <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("wait for the batches under way: %w", ctx.Err())
	}
	defer func() { <-j.turnstile }()
	if err := j.tryLock(ctx); err != nil {
		return fmt.Errorf("wait for the journal: %w", err)
	}
	j.trust.Store(&trust)
	j.withdraw()
	back := j.returning()
	forgotten := j.queueStrangers()
	j.unlock()

	if forgotten != nil {
		j.settle(forgotten)
	}
	var recs []seglog.Record
	for _, index := range back {
		if rec, err := j.log.Read(index); err == nil { // a damaged one is a gap, as after a restart
			recs = append(recs, rec)
		}
	}

	j.lock()
	defer j.unlock()
	j.readBack(recs)
	if view := j.viewNow(); view != j.view && !plantKeepView {
		j.view = view
	}
	j.wake()
	return nil
}

// queueStrangers writes down that those who are not believed are no peers; nil when
// nothing says that they are, or nothing can be written.
func (j *Journal) queueStrangers() *batch {
	rows := j.strangers()
	if len(rows) == 0 || j.ended != nil {
		return nil
	}
	return j.queue(&batch{rows: rows}, j.sealRows(rows))
}

// withdraw takes out what others wrote who are not believed, and keeps in mind
// where it is and how far they were heard.
func (j *Journal) withdraw() {
	var gone []uint64
	for s := range j.heads {
		if j.believed(s.Node()) {
			continue
		}
		indexes, l := j.leave(s)
		gone = append(gone, indexes...)
		j.withheld[s] = append(j.withheld[s], indexes...)
		j.setAside(l)
	}
	j.unlist(gone)
	for s := range j.lives.byStream { // heard of alone
		if !j.believed(s.Node()) {
			j.setAside(j.lives.remove(s))
		}
	}
	for r := range j.back {
		if !j.believed(r.Node) {
			delete(j.back, r)
		}
	}
	for s, all := range j.waiting.streams {
		if j.believed(s.Node()) {
			continue
		}
		for _, c := range all {
			j.waiting.remove(c)
		}
	}
}

func (j *Journal) setAside(l *life) {
	if l != nil && l.beat != nil {
		l.record, l.run, l.held, l.begun, l.asked = "", 0, false, false, false
		j.aside[l.stream] = l
	}
}

// returning are the indexes of the events that are on disk and believed again,
// rising.
func (j *Journal) returning() []uint64 {
	var back []uint64
	for s, indexes := range j.withheld {
		if j.believed(s.Node()) {
			back = append(back, indexes...)
			delete(j.withheld, s)
		}
	}
	slices.Sort(back)
	return back
}

// readBack takes records that were passed over before. What was heard of their
// authors counts as it does after a restart: as no sign of life.
func (j *Journal) readBack(recs []seglog.Record) {
	for s, l := range j.aside {
		if j.believed(s.Node()) {
			delete(j.aside, s)
			j.takeBack(l)
		}
	}
	for _, t := range j.tombs.order {
		if l := j.lives.byStream[t.stream]; t.returned && j.believed(t.stream.Node()) && (l == nil || !l.asked) {
			j.want(t)
		}
	}
	r := newReload(j)
	var parser event.Parser
	for _, stored := range recs {
		found := reading{index: stored.Index}
		if found.read(j.seal, &parser, stored.Data); found.err == nil {
			r.event(&found)
			if n := j.health.Refused[RefusedUntrusted]; n > 0 {
				j.health.Refused[RefusedUntrusted] = n - 1
			}
		}
	}
	r.end()
}

func (j *Journal) takeBack(l *life) {
	now := j.lives.of(l.stream, j.clock.Boot())
	if l.beat.Later(now.beat) {
		now.beat, now.saved = l.beat, l.saved
		now.measured, now.difference, now.taken, now.latest = l.measured, l.difference, l.taken, noBound
	}
	j.lives.touch(l.stream)
}
