package journal

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/comity-dev/comity/coop/ident"
)

// A Policy says what a compaction may drop.
type Policy struct {
	Force     bool          // also when nothing is over its trigger (see event.Limits)
	Silence   time.Duration // that a stream's run was not heard for; 0: expiry and PeerRetention
	Retention time.Duration // after which what a machine left is given up; 0: StreamRetention
}

// A CompactReport says what a compaction did.
type CompactReport struct {
	Streams   []ident.Stream // dropped, by id
	Events    int            // in them
	GivenUp   int            // of the streams: those in which something stood
	Kept      int            // silent streams that stay for what stands by them
	Rewritten bool           // the log was, without what can go
}

// wasteTrigger is how much of the log may be beats and rows that say nothing any more.
const wasteTrigger = 8 << 20

// Compact drops streams that nobody needs any more, and rewrites the log without
// them and without local rows and beats that later ones replaced. It is called
// now and then, as every 60 heartbeats, and does nothing while nothing is over
// its trigger. ctx bounds the wait for batches, for the lock and for another
// compaction; once it has begun it runs to its end.
//
// A stream can go when its run was silent for so long and nothing that it wrote
// stands by events: no open session, no unreleased claim, fenced or not, no open
// review, no handover that is neither taken nor withdrawn. What says something of a
// handover stays for the retention, as nothing else ends one. A stream stays while it
// fences, ends or answers something in a stream that stays, while one that stays
// names it, and while it is the latest that succeeded one that stays. So dropping
// changes nothing that stands. Streams of machines that were not heard for the
// retention go with all that stands in them. The stream of this run stays, and so
// do streams with events that were lost or that this build cannot read.
//
// What was dropped is known by its head and its latest beat, for the latest
// event.Limits.Tombstones of them: nobody sends it again, and nothing of it is
// taken, until a fresh beat above that one, an authentic event above the head, or a
// first event that names the stream. Then it is fetched again whole, and its
// arrivals are marked as coming again.
//
// An error with a report of streams means that they are dropped, and that the log
// still has them: the next compaction tries again.
func (j *Journal) Compact(ctx context.Context, p Policy) (CompactReport, error) {
	p.Silence = cmp.Or(p.Silence, j.cfg.Limits.Expiry+j.cfg.Limits.PeerRetention)
	p.Retention = cmp.Or(p.Retention, j.cfg.Limits.StreamRetention)
	return j.compact(ctx, &compaction{j: j, policy: p})
}

// Forget drops what runtimes wrote, though they are not silent and something
// stands in it: a person says that they are gone. They are no peers any more, until
// they are heard again. What fences or ends something of others stays. Records of
// keys that are not believed go from the disk too. Forgetting this journal's own
// runtime is an error.
func (j *Journal) Forget(ctx context.Context, gone ...ident.Runtime) (CompactReport, error) {
	c := &compaction{j: j, forget: map[ident.Runtime]bool{}}
	for _, r := range gone {
		if r == j.runtime {
			return CompactReport{}, fmt.Errorf("forget %s: it is this runtime", r)
		}
		c.forget[r] = true
	}
	return j.compact(ctx, c)
}

func (j *Journal) compact(ctx context.Context, c *compaction) (CompactReport, error) {
	if err := j.gate.enter(); err != nil {
		return CompactReport{}, err
	}
	defer j.gate.leave()
	for _, place := range []chan struct{}{j.rewriting, j.turnstile} {
		select {
		case place <- struct{}{}:
		case <-ctx.Done():
			if place == j.turnstile {
				<-j.rewriting
			}
			return CompactReport{}, fmt.Errorf("wait for a compaction or batch under way: %w", ctx.Err())
		}
	}
	defer func() { <-j.rewriting }()
	err := c.drop(ctx)
	<-j.turnstile
	if err != nil {
		return CompactReport{}, err // nothing was dropped
	}
	if !c.rewrite {
		return c.report, nil
	}
	if err := c.shrink(); err != nil {
		return c.report, fmt.Errorf("rewrite the log: %w", err)
	}
	c.report.Rewritten = true
	return c.report, nil
}

// A compaction is one under way.
type compaction struct {
	j      *Journal
	policy Policy
	forget map[ident.Runtime]bool // a person's word; nil for a compaction by policy
	report CompactReport

	over    bool
	crowded map[ident.NodeID]bool
	tombs   []*tomb // of what is dropped
	closed  []*tomb // of what was let back and did not come
	rows    []row
	purge   []ident.Stream // not believed and forgotten
	rewrite bool
	index   uint64 // of the first record that it wrote
}

// drop decides what goes, writes it down and takes it out once that is synced.
// Other batches are kept away meanwhile; own writes go on, and none of them is of
// a stream that is dropped.
func (c *compaction) drop(ctx context.Context) error {
	j := c.j
	if err := j.tryLock(ctx); err != nil {
		return fmt.Errorf("wait for the journal: %w", err)
	}
	if j.ended != nil {
		defer j.unlock()
		return &ReadOnlyError{j.ended}
	}
	c.decide()
	c.rewrite = len(c.tombs)+len(j.dead)+len(c.purge) > 0 || j.waste > wasteTrigger || c.policy.Force
	if !c.rewrite && len(c.rows) == 0 {
		j.unlock()
		return nil
	}
	b := c.enqueue()
	j.unlock()
	j.settle(b)
	return b.err
}

// decide works out which streams go, and which rows change with that.
func (c *compaction) decide() {
	j := c.j
	c.triggers()
	c.sift()
	if c.forget == nil {
		c.rows = j.silences(c.silent)
	}
	c.peers()
	for s := range j.withheld {
		if c.forget[s.Runtime()] {
			c.purge = append(c.purge, s)
		}
	}
}

// sift tells the streams that go from those that are due and stay.
func (c *compaction) sift() {
	j, due := c.j, map[ident.Stream]bool{}
	for s := range j.heads {
		if c.due(s) {
			due[s] = true
		}
	}
	if len(due) == 0 {
		return
	}
	v := newSurvey(j)
	stands := v.standing(c.recent)
	for s := range j.heads {
		if !due[s] || stands[s] && !c.givenUp(s) {
			v.add(s)
		}
	}
	v.close()
	for _, s := range slices.Sorted(maps.Keys(due)) {
		if v.stay[s] {
			c.report.Kept++
			continue
		}
		c.tombs = append(c.tombs, j.tombOf(s))
		c.report.Streams = append(c.report.Streams, s)
		c.report.Events += len(j.heads[s].indexes())
		if stands[s] {
			c.report.GivenUp++
		}
	}
}

func (c *compaction) triggers() {
	j, lim := c.j, c.j.cfg.Limits
	c.over = c.policy.Force || j.arrivals.len() > lim.Events || len(j.heads) > lim.StreamsTrigger
	streams := map[ident.NodeID]int{}
	for s := range j.heads { // as the quota counts them
		if l := j.lives.byStream[s]; l == nil || !j.lives.succeeded(l) {
			streams[s.Node()]++
		}
	}
	c.crowded = map[ident.NodeID]bool{}
	for n, held := range j.shares {
		c.crowded[n] = streams[n] >= lim.NodeTrigger || held.streams > lim.NodeRunsTrigger || held.bytes > lim.NodeSizeTrigger || held.states > lim.StatesTrigger
	}
}

// due reports whether a stream goes unless something keeps it.
func (c *compaction) due(s ident.Stream) bool {
	switch {
	case c.writing(s):
		return false
	case c.givenUp(s):
		return true
	}
	return c.forget == nil && (c.over || c.crowded[s.Node()]) && c.silent(s)
}

// writing reports whether the stream is that of this run, or a last event of it is
// on its way to the disk.
func (c *compaction) writing(s ident.Stream) bool {
	if s == c.j.own.stream {
		return true
	}
	for _, e := range c.j.pending {
		if e.Stream == s {
			return true
		}
	}
	return false
}

func (c *compaction) silent(s ident.Stream) bool {
	return c.j.joining[s.Runtime()] == 0 && c.j.silence(s) > c.policy.Silence
}

// recent reports whether the run was heard within the retention.
func (c *compaction) recent(s ident.Stream) bool {
	return c.j.silence(s) <= c.j.cfg.Limits.Expiry+c.policy.Retention
}

// givenUp reports whether what stands in a stream keeps it no more.
func (c *compaction) givenUp(s ident.Stream) bool {
	j := c.j
	if c.forget != nil {
		return c.forget[s.Runtime()]
	}
	if s.Runtime() == j.runtime && !j.lives.second(s) {
		return false
	}
	return c.silent(s) && j.absence(s) > j.cfg.Limits.Expiry+c.policy.Retention
}

// tombOf is what is to be remembered of a stream.
func (j *Journal) tombOf(s ident.Stream) *tomb {
	t := &tomb{stream: s, head: j.heads.of(s).seq, at: j.last()}
	if before := j.tombs.byStream[s]; before != nil {
		t.head, t.uptime = max(t.head, before.head), before.uptime
	}
	l := j.lives.byStream[s]
	if l == nil {
		return t
	}
	if l.beat != nil {
		t.uptime = max(t.uptime, l.beat.Uptime)
	}
	if l.measured {
		t.measured, t.difference, t.taken = true, l.difference, l.taken
	}
	return t
}
