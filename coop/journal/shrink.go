package journal

import (
	"crypto/sha256"
	"math"
	"slices"
	"strings"

	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/internal/seglog"
)

// enqueue writes down, in one batch, what outlives a rewrite: the rows that change,
// what was dropped, every highest beat and the highest stamp. What takes effect
// when that is synced does so in land.
func (c *compaction) enqueue() *batch {
	j := c.j
	b := &batch{rows: c.rows, landed: c.land}
	recs := j.sealRows(c.rows)
	if c.rewrite {
		b.reserve = len(c.tombs) > 0 // it makes room
		if !plantDropTombstone {
			recs = append(recs, j.seal.seal(RecordTombs, encodeTombs(j.clock.BootID(), c.remembered())))
		}
		for _, s := range c.beats() {
			recs = append(recs, j.seal.seal(RecordBeats, s.encode()))
		}
	}
	return j.queue(b, recs)
}

// remembered are the tombs that there will be. One whose stream was let back and
// did not come is closed again.
func (c *compaction) remembered() []*tomb {
	j := c.j
	now := map[ident.Stream]bool{}
	for _, t := range c.tombs {
		now[t.stream] = true
	}
	var all []*tomb
	for _, t := range j.tombs.order {
		if t.returned && j.heads[t.stream] == nil && j.silence(t.stream) > j.cfg.Limits.Expiry+j.cfg.Limits.PeerRetention {
			t = j.tombOf(t.stream)
			c.closed = append(c.closed, t)
		}
		if !now[t.stream] {
			all = append(all, t)
		}
	}
	all = append(all, c.tombs...)
	return all[max(0, len(all)-j.cfg.Limits.Tombstones):]
}

// beats are all beats that are known and not dropped, and the clock. A beat whose
// difference was not measured in this boot is saved as of another one.
func (c *compaction) beats() []savedBeats {
	j := c.j
	stamp := j.stamp
	if plantForgetStamp {
		stamp = 0
	}
	gone := map[ident.Stream]bool{}
	for _, t := range c.tombs {
		gone[t.stream] = true
	}
	for _, s := range c.purge {
		gone[s] = true
	}
	here, before := savedBeats{clock: stamp, boot: j.clock.BootID()}, savedBeats{clock: stamp}
	var all []savedBeats
	for _, l := range j.beating() {
		if gone[l.stream] {
			continue
		}
		into, one := &before, savedBeat{l.beat, 0, math.MaxInt64}
		if l.measured {
			into, one = &here, savedBeat{l.beat, l.difference, l.taken}
		}
		if into.beats = append(into.beats, one); len(into.beats) == maxSaved {
			all = append(all, *into)
			into.beats = nil
		}
	}
	if len(before.beats) > 0 {
		all = append(all, before)
	}
	return append(all, here)
}

// beating are the lives of which a beat is known, believed or not, by stream.
func (j *Journal) beating() []*life {
	var all []*life
	for _, of := range []map[ident.Stream]*life{j.lives.byStream, j.aside} {
		for _, l := range of {
			if l.beat != nil {
				all = append(all, l)
			}
		}
	}
	slices.SortFunc(all, func(a, b *life) int { return strings.Compare(string(a.stream), string(b.stream)) })
	return all
}

// land takes out what is dropped, once that is on disk. It runs in the order of
// the log, under the lock.
func (c *compaction) land(index uint64) {
	j := c.j
	c.index = index
	var gone []uint64
	for _, t := range c.tombs {
		l := j.lives.byStream[t.stream]
		gone = append(gone, j.bury(t)...)
		if l != nil && l.beat != nil && l.beat.Uptime > t.uptime { // heard while that was written
			j.lift(t.stream)
			j.takeBack(l)
			j.lives.of(t.stream, l.known).heard = l.heard
		}
	}
	j.unlist(gone)
	for _, t := range c.closed {
		j.shut(t)
	}
	for _, s := range c.purge {
		j.dead = append(j.dead, j.withheld[s]...)
		delete(j.withheld, s)
		delete(j.aside, s)
		delete(j.forks, s)
	}
	if view := j.viewNow(); view != j.view {
		j.view = view
		j.wake()
	}
}

// shrink rewrites the log without what can go.
func (c *compaction) shrink() error {
	j := c.j
	j.lock()
	dead := make(map[uint64]bool, len(j.dead))
	for _, index := range j.dead {
		dead[index] = true
	}
	rows := make(map[uint64]bool, len(j.rows.at))
	for _, index := range j.rows.at {
		rows[index] = true
	}
	proofs := make(map[[32]byte]bool, len(j.forks))
	for _, f := range j.forks {
		proofs[f.hash] = true
	}
	seal, waste := newSealer(j.cfg.Key.DeriveMAC(macLabel(j.cfg.Repo))), j.waste
	j.unlock()

	err := j.log.Rewrite(func(stored seglog.Record) bool {
		if stored.Index >= c.index {
			return true
		}
		if dead[stored.Index] {
			return false
		}
		if len(stored.Data) == 0 {
			return true
		}
		switch RecordType(stored.Data[0]) {
		case RecordRow, RecordBeats, RecordTombs, RecordFork:
			rec, err := seal.open(stored.Data)
			known := err == nil && rec.sealed && rec.version <= recordVersion
			return !known || rec.kind == RecordRow && rows[stored.Index] ||
				rec.kind == RecordFork && proofs[sha256.Sum256(rec.payload)]
		}
		return true
	})
	if err != nil {
		return err
	}
	j.lock()
	defer j.unlock()
	j.dead = slices.DeleteFunc(j.dead, func(index uint64) bool { return dead[index] })
	j.waste = max(0, j.waste-waste)
	return nil
}
