package filestore

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/comity-dev/comity/internal/seglog"
	"github.com/comity-dev/comity/internal/vfs"
	"github.com/comity-dev/comity/internal/vfs/vfstest"
	"github.com/comity-dev/comity/storage"
)

// A gate lets no sync of the log through, once it is shut.
type gate struct {
	vfs.FS
	shut    chan bool     // true: the next sync waits
	waiting chan struct{} // it does
	open    chan struct{}
}

type gatedFile struct {
	vfs.File
	g *gate
}

func (g *gate) Open(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := g.FS.Open(name, flag, perm)
	if err != nil || !strings.Contains(name, "/log/") {
		return f, err
	}
	return gatedFile{f, g}, nil
}

func (f gatedFile) Sync() error {
	select {
	case <-f.g.shut:
		close(f.g.waiting)
		<-f.g.open
	default:
	}
	return f.File.Sync()
}

// An append that is durable, and not in memory yet, is not covered by an index
// that is written just then.
func TestIndexDoesNotCoverWhatIsInFlight(t *testing.T) {
	g := &gate{vfstest.New(), make(chan bool, 1), make(chan struct{}), make(chan struct{})}
	s, err := OpenOn(g, nil, "/store", Inline())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	tip, err := s.Ledger().Append(context.Background(), "a", storage.Tip{}, []byte("one"))
	if err != nil {
		t.Fatal(err)
	}
	before := s.log.End()
	g.shut <- true
	done := make(chan error)
	go func() {
		_, err := s.Ledger().Append(context.Background(), "a", tip, []byte("two"))
		done <- err
	}()
	<-g.waiting
	s.mu.Lock()
	close(g.open)
	<-s.log.Grown(before + 1)
	x := s.indexLocked()
	s.mu.Unlock()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if x.covers != before || x.ledgers[0].tip != 1 {
		t.Errorf("the index covers %d and has the tip %d, want %d and 1", x.covers, x.ledgers[0].tip, before)
	}
}

// The end of a ledger stays while the pass drops something before it, since
// a crash might leave that.
func TestPassKeepsEnds(t *testing.T) {
	live, dead, gone := tagOf(familyLedger, "live"), tagOf(familyLedger, "dead"), tagOf(familyLedger, "gone")
	oldRow, newRow := tagOf(familyRow, "old"), tagOf(familyRow, "row")
	p := newPass(&index{covers: 100, ledgers: []ledger{{tag: live, gen: 9}}, rows: map[string]row{"row": {revision: 7}}}, 50)
	for i, tt := range []struct {
		h    header
		at   uint64
		want bool
	}{
		{header{kind: kindRecord, tag: live, life: 3}, 1, false},
		{header{kind: kindEnd, tag: live, life: 3}, 2, true},
		{header{kind: kindRecord, tag: live, life: 9}, 3, true},
		{header{kind: kindEnd, tag: gone, life: 4}, 4, false},
		{header{kind: kindRecord, tag: dead, life: 5}, 5, false},
		{header{kind: kindEnd, tag: dead, life: 5}, 6, true},
		{header{kind: kindRow, tag: newRow, life: 6}, 7, false},
		{header{kind: kindRow, tag: newRow, life: 7}, 8, true},
		{header{kind: kindRow, tag: oldRow, life: 2}, 9, false},
		{header{kind: kindRowEnd, tag: oldRow, life: 8}, 10, true},
		{header{kind: kindGrant, life: 8}, 11, false},
		{header{kind: kindMark}, 12, false},
		{header{kind: kindMark}, 50, true},
		{header{kind: kindRecord, tag: dead, life: 5}, 101, true},
	} {
		if got := p.keep(seglog.Record{Index: tt.at, Data: tt.h.append(nil, 0)}); got != tt.want {
			t.Errorf("%d: keep of kind %d = %v, want %v", i, tt.h.kind, got, tt.want)
		}
	}
}

// Marks are found as though they were a list.
func TestMarks(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var ms marks
		var list []mark
		var m mark
		for range rnd.IntN(200) {
			m.seq += 1 + rnd.Uint64N(5)
			m.index += 1 + rnd.Uint64N(1000)
			ms.add(m)
			list = append(list, m)
		}
		again, ok := parseMarks(ms.b)
		if !ok || again.n != ms.n || again.last != ms.last || len(again.anchors) != len(ms.anchors) {
			t.Fatalf("parsed %+v, want %+v", again, ms)
		}
		for seq := range m.seq + 3 {
			want := -1
			for i, m := range list {
				if m.seq <= seq {
					want = i
				}
			}
			got, ok := again.from(seq)
			if ok != (want >= 0) {
				t.Fatalf("from(%d) = %v", seq, ok)
			}
			for i := max(want, 0); ok && i < len(list); i++ {
				if got.cur != list[i] || got.more != (i+1 < len(list)) {
					t.Fatalf("from(%d): mark %d is %+v, want %v", seq, i, got, list[i])
				}
				got.step()
			}
		}
	}
}

// A record of a life that was over when the index was written, though its end
// lies behind what the index covers, does not bring the life back.
func TestReplayKnowsLivesThatAreOver(t *testing.T) {
	r := replay{s: newStore(vfstest.New(), "/store", nil), counter: 10, jumps: map[tag]uint64{}, ended: map[tag]uint64{}}
	t1 := tagOf(familyLedger, "a")
	r.apply(&header{kind: kindRecord, tag: t1, life: 5, seq: 3}, 1)
	if l := r.s.ledgers[t1]; l != nil && l.gen != 0 || len(r.jumps) > 0 {
		t.Errorf("ledger %+v, missing %v", l, r.jumps)
	}
	r.apply(&header{kind: kindRecord, tag: t1, life: 11, seq: 3}, 2) // begun later: two are lost
	if l := r.s.ledgers[t1]; l.gen != 11 || l.tip != 3 || r.jumps[t1] != 2 {
		t.Errorf("ledger %+v, missing %v", l, r.jumps)
	}
}

// A mark that is wrong costs the reader an error, and never shows a record of
// another ledger.
func TestWrongMark(t *testing.T) {
	s, err := OpenOn(vfstest.New(), nil, "/store", Inline())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, name := range []string{"a", "b"} {
		if _, err := s.Ledger().Append(context.Background(), name, storage.Tip{}, []byte(name)); err != nil {
			t.Fatal(err)
		}
	}
	l := s.ledgers[tagOf(familyLedger, "a")]
	l.marks = marks{}
	l.marks.add(mark{1, 2})
	for rec, err := range s.Ledger().Read(context.Background(), "a", 1) {
		var damaged *storage.DamagedError
		if !errors.As(err, &damaged) || damaged.Seq != 1 {
			t.Errorf("read %d, %q, %v, want a *DamagedError", rec.Seq, rec.Data, err)
		}
	}
}
