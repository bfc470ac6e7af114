package journal_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/journal"
	"github.com/comity-dev/comity/internal/clock"
	"github.com/comity-dev/comity/internal/vfs"
	"github.com/comity-dev/comity/internal/vfs/vfstest"
)

// A compacted life is one in which bob's first run ended, and is dropped; his second
// one goes on.
type compactedLife struct {
	t      *testing.T
	ended  []*event.Event
	living []*event.Event
	clock  *clock.Fake

	own     map[event.Key][]byte // acknowledged
	taken   bool                 // all of bob's was accepted
	dropped bool                 // and the compaction said that his ended run is gone
	row     string
}

func newCompactedLife(t *testing.T) *compactedLife {
	key := newKey(t, "bob")
	seal := func(instance ident.InstanceID, bodies ...event.Body) (all []*event.Event) {
		h := event.Header{Repo: newRepo(t), Stream: ident.NewStream(key.Node(), key.Runtime(newRepo(t)), instance), At: 1}
		for _, b := range bodies {
			h.Seq, h.Lamport = h.Seq+1, h.Lamport+1
			e, err := event.Seal(key, h, b)
			if err != nil {
				t.Fatal(err)
			}
			h.Prev = fmt.Sprintf("%x", e.Hash)
			all = append(all, e)
		}
		return all
	}
	return &compactedLife{
		t:      t,
		ended:  seal("00000000000000b1", opened("b1"), event.SessionClosed{Session: "b1", Reason: "done"}),
		living: seal("00000000000000b2", opened("b2"), opened("b3")),
		clock:  clock.NewFake(time.Unix(1e9, 0), time.Hour, "boot"),
		own:    map[event.Key][]byte{},
	}
}

func (l *compactedLife) open(fsys vfs.FS) (*journal.Journal, error) {
	return journal.OpenOn(context.Background(), journal.Config{
		Key: newKey(l.t, "ada"), Repo: newRepo(l.t), Dir: "/journal", Machine: "m1",
		Trust: func(n ident.NodeID) bool { return n == newKey(l.t, "bob").Node() },
	}, fsys, l.clock)
}

func (l *compactedLife) append(j *journal.Journal, sid string) {
	all, err := j.Decide(l.t.Context(), func(tx *journal.Tx) error {
		tx.PutLocal("row", "k", []byte(sid))
		_, err := tx.Append(opened(sid))
		return err
	})
	if err != nil {
		return
	}
	l.row = sid
	for _, a := range all {
		l.own[a.Event.Key()] = a.Event.Raw
	}
}

func (l *compactedLife) script(fsys vfs.FS) {
	j, err := l.open(fsys)
	if err != nil {
		return
	}
	l.append(j, "a1")
	var batch [][]byte
	for i := range l.ended {
		batch = append(batch, l.ended[i].Raw, l.living[i].Raw)
	}
	l.taken = j.Ingest(l.t.Context(), batch).Accepted == len(batch)
	l.append(j, "a2")
	l.clock.Advance(16 * time.Minute)
	r, err := j.Compact(l.t.Context(), journal.Policy{Force: true})
	l.dropped = err == nil && len(r.Streams) == 1
	l.append(j, "a3")
	j.Close(l.t.Context())
}

func (l *compactedLife) check(what string, fsys vfs.FS) {
	t := l.t
	j, err := l.open(fsys)
	if err != nil {
		t.Errorf("%s: reopen: %v", what, err)
		return
	}
	defer j.Close(t.Context())
	held := map[event.Key][]byte{}
	ended := 0
	for _, a := range walk(t, j, "", 100) {
		held[a.Event.Key()] = a.Event.Raw
		if a.Event.Stream == l.ended[0].Stream {
			ended++
		}
	}
	for k, raw := range l.own {
		if !bytes.Equal(held[k], raw) {
			t.Errorf("%s: own %s was acknowledged and is lost", what, k)
		}
	}
	for _, e := range l.living {
		if l.taken && held[e.Key()] == nil {
			t.Errorf("%s: %s was taken and is lost", what, e.Key())
		}
	}
	switch mark := j.Marks()[l.ended[0].Stream].Seq; {
	case l.dropped && ended > 0, l.taken && ended == 1:
		t.Errorf("%s: %d events of the run that ended are held, dropped %v", what, ended, l.dropped)
	case l.taken && mark != 2:
		t.Errorf("%s: the mark of the run that ended is %d, want 2, held or not", what, mark)
	}
	if got := string(j.Local("row")["k"]); got < l.row {
		t.Errorf("%s: row = %q, acknowledged %q", what, got, l.row)
	}
	h := j.Health()
	if len(h.Damaged)+len(h.Suspects)+len(h.Refused) > 0 || h.SecondUser() != "" {
		t.Errorf("%s: health = %+v", what, h)
	}
	if r, err := j.Verify(t.Context()); err != nil || !r.OK() {
		t.Errorf("%s: Verify = %+v, %v", what, r, err)
	}
	if _, err := j.Compact(t.Context(), journal.Policy{Force: true}); err != nil {
		t.Errorf("%s: the next compaction: %v", what, err)
	}
	if r := j.Ingest(t.Context(), [][]byte{l.ended[0].Raw, l.ended[1].Raw}); l.dropped && r.Duplicate != 2 {
		t.Errorf("%s: what was dropped is taken again: %+v", what, r)
	}
}

func TestPowerLossAtEachOperationOfACompaction(t *testing.T) {
	d := vfstest.New()
	whole := newCompactedLife(t)
	whole.script(d)
	if !whole.taken || !whole.dropped || whole.row != "a3" {
		t.Fatalf("the script does not do what it should: %+v", whole)
	}
	random := rand.New(rand.NewPCG(5, 6))
	for at, n := 0, d.Ops(); at < n; at += sparsely(3) {
		d := vfstest.New()
		d.PowerOff(at)
		l := newCompactedLife(t)
		l.script(d)
		for try := range 2 {
			l.check(fmt.Sprintf("power off at %d, state %d", at, try), d.Crash(random.IntN))
		}
		if t.Failed() {
			return
		}
	}
}

func TestEachFailureOfTheDiskInACompaction(t *testing.T) {
	d := vfstest.New()
	newCompactedLife(t).script(d)
	n := d.Ops()
	random := rand.New(rand.NewPCG(7, 8))
	for _, f := range []vfstest.Fault{{Err: vfstest.ENOSPC}, {Err: vfstest.EIO}, {Err: vfstest.EIO, Kept: true}} {
		for f.At = 0; f.At < n; f.At += sparsely(5) {
			d := vfstest.New()
			d.Fail(f)
			l := newCompactedLife(t)
			l.script(d)
			l.check(fmt.Sprintf("fault %+v, power lost", f), d.Crash(random.IntN))
			l.check(fmt.Sprintf("fault %+v, process killed", f), d.Kill())
			if t.Failed() {
				return
			}
		}
	}
}
