package seglog_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/comity-dev/comity/internal/seglog"
	"github.com/comity-dev/comity/internal/vfs"
	"github.com/comity-dev/comity/internal/vfs/vfstest"
)

// A gate holds up the syncs of files.
type gate struct {
	vfs.FS
	mu   sync.Mutex
	wait chan struct{} // nil: open
	held chan struct{} // gets a value for each sync that waits
}

func newGate(fsys vfs.FS) *gate { return &gate{FS: fsys, held: make(chan struct{}, 100)} }

func (g *gate) shut() (open func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := make(chan struct{})
	g.wait = c
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.wait = nil
		close(c)
	}
}

func (g *gate) Open(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := g.FS.Open(name, flag, perm)
	return gatedFile{f, g}, err
}

type gatedFile struct {
	vfs.File
	g *gate
}

func (f gatedFile) Sync() error {
	f.g.mu.Lock()
	wait := f.g.wait
	f.g.mu.Unlock()
	if wait != nil {
		f.g.held <- struct{}{}
		<-wait
	}
	return f.File.Sync()
}

func TestReadersSeeOnlyWhatIsSynced(t *testing.T) {
	g := newGate(vfstest.New())
	l, _, err := seglog.Open(g, logDir, &small)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	mustAppend(t, l, "one")
	grown := l.Grown(2)
	open := g.shut()
	ticket := l.Enqueue(l.Turn(), false, []byte("two"))
	<-g.held
	if got := contents(t, l.From(1)); len(got) != 1 || l.End() != 1 {
		t.Errorf("before the sync: %q, end %d", got, l.End())
	}
	if _, err := l.Read(2); !errors.Is(err, seglog.ErrNotFound) {
		t.Errorf("Read before the sync = %v, want ErrNotFound", err)
	}
	select {
	case <-ticket.Done():
		t.Error("acknowledged before the sync")
	case <-grown:
		t.Error("grown before the sync")
	default:
	}
	open()
	if first, err := ticket.Wait(t.Context()); first != 2 || err != nil {
		t.Errorf("Wait = %d, %v, want 2", first, err)
	}
	<-grown
	if got := contents(t, l.From(2)); len(got) != 1 || got[0] != "2:two" {
		t.Errorf("after the sync: %q", got)
	}
}

// While one batch syncs all others gather for the next, in the order in which
// they came; ctx ends the wait of one without a trace of it.
func TestGroupCommitOrderAndCancel(t *testing.T) {
	d := vfstest.New()
	g := newGate(d)
	l, _, err := seglog.Open(g, logDir, &small)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	open := g.shut()
	first := l.Enqueue(l.Turn(), false, []byte("first"))
	<-g.held
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error)
	go func() {
		_, err := l.Append(ctx, []byte("gone"), []byte("gone too"))
		gone <- err
	}()
	var tickets []*seglog.Ticket
	for i := range 5 {
		tickets = append(tickets, l.Enqueue(l.Turn(), false, fmt.Appendf(nil, "t%d", i)))
	}
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled Append = %v, want context.Canceled", err)
	}
	if _, err := tickets[0].Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Wait with an ended ctx = %v", err)
	}
	writes := d.Ops()
	open()
	for i, ticket := range tickets {
		if at, err := ticket.Wait(t.Context()); err != nil || at != uint64(i+2) {
			t.Errorf("ticket %d = %d, %v, want %d", i, at, err, i+2)
		}
	}
	if at, err := first.Wait(t.Context()); at != 1 || err != nil {
		t.Errorf("first = %d, %v", at, err)
	}
	if n := d.Ops() - writes; n > 3 { // the sync that waited, one write and one sync
		t.Errorf("%d operations for the batch, want 3", n)
	}
	if got := fmt.Sprint(contents(t, l.From(1))); got != "[1:first 2:t0 3:t1 4:t2 5:t3 6:t4]" {
		t.Errorf("contents = %s", got)
	}
}

// A cancelled Append whose batch is on its way returns what becomes of it.
func TestCancelDoesNotHideTheOutcome(t *testing.T) {
	g := newGate(vfstest.New())
	l, _, err := seglog.Open(g, logDir, &small)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	open := g.shut()
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error)
	go func() {
		_, err := l.Append(ctx, []byte("x"))
		result <- err
	}()
	<-g.held
	cancel()
	open()
	if err := <-result; err != nil {
		t.Errorf("Append = %v, want nil: the record is durable", err)
	}
	if l.End() != 1 {
		t.Errorf("end = %d, want 1", l.End())
	}
}

// A batch that finds no space fails all that is queued behind it, and what is
// enqueued under the old turn.
func TestTurnEndsWithoutSpace(t *testing.T) {
	d := vfstest.New()
	g := newGate(d)
	l, _, err := seglog.Open(g, logDir, &small)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	turn := l.Turn()
	open := g.shut()
	ok := l.Enqueue(turn, false, []byte("fits"))
	<-g.held
	fails := l.Enqueue(turn, false, []byte(big), []byte(big)) // needs another segment
	behind := l.Enqueue(turn, true, []byte("behind"))
	d.Fail(vfstest.Fault{At: d.Ops(), Forever: true, Err: vfstest.ENOSPC, Kinds: []string{"create", "write"}})
	open()
	if _, err := ok.Wait(t.Context()); err != nil {
		t.Errorf("the one before: %v", err)
	}
	for what, ticket := range map[string]*seglog.Ticket{"the one": fails, "the one behind": behind, "a later one": l.Enqueue(turn, false, []byte("later"))} {
		if _, err := ticket.Wait(t.Context()); !errors.Is(err, seglog.ErrNoSpace) {
			t.Errorf("%s: %v, want ErrNoSpace", what, err)
		}
	}
	d.Repair()
	if at, err := l.Enqueue(l.Turn(), false, []byte("anew")).Wait(t.Context()); at != 2 || err != nil {
		t.Errorf("in the new turn = %d, %v, want 2", at, err)
	}
}

// An idle log attests its end, so that damage to the last record is not taken
// for a torn write and its index is not used again.
func TestIdleLogAttestsItsEnd(t *testing.T) {
	for _, idle := range []bool{true, false} {
		var d *vfstest.Disk
		synctest.Test(t, func(t *testing.T) {
			d = vfstest.New()
			l, _, err := seglog.Open(d, logDir, &seglog.Options{FirstSegmentBytes: 9216, Inline: true})
			if err != nil {
				t.Fatal(err)
			}
			mustAppend(t, l, "one")
			mustAppend(t, l, "two")
			if idle {
				time.Sleep(2 * time.Second)
				synctest.Wait()
			}
			left := d.Clone()
			l.Close()
			d = left
		})
		name, b := lastSegment(t, d)
		d.FlipBit(name, 8*(bytes.Index(b, []byte("two"))-30)) // in the header of the frame
		l, report, err := seglog.Open(d, logDir, &small)
		if err != nil {
			t.Fatal(err)
		}
		if got := contents(t, l.From(1)); len(got) != 1 {
			t.Errorf("idle %v: contents = %q", idle, got)
		}
		want := uint64(2)
		if idle {
			want = 3
		}
		if at := mustAppend(t, l, "next"); at != want {
			t.Errorf("idle %v: next index = %d, want %d", idle, at, want)
		}
		if told := covers(report.Damage, 2); told != idle || (report.Tail.DroppedBatches == 1) == idle {
			t.Errorf("idle %v: report = %+v", idle, report)
		}
		if _, err := l.Read(2); idle && !errors.Is(err, seglog.ErrDamaged) {
			t.Errorf("Read of the damaged record = %v, want ErrDamaged", err)
		}
		l.Close()
	}
}

func TestSecondOpenIsRefusedAndReadOnlyIsNot(t *testing.T) {
	d := vfstest.New()
	if _, _, err := seglog.OpenReadOnly(d, logDir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("OpenReadOnly of nothing = %v, want fs.ErrNotExist", err)
	}
	l, _, err := seglog.Open(d, logDir, &small)
	if err != nil {
		t.Fatal(err)
	}
	mustAppend(t, l, "one")
	mustAppend(t, l, "two")
	if _, _, err := seglog.Open(d, logDir, &small); !errors.Is(err, seglog.ErrLocked) {
		t.Errorf("second Open = %v, want ErrLocked", err)
	}
	before := d.Changes()
	r, report, err := seglog.OpenReadOnly(d, logDir)
	if err != nil {
		t.Fatal(err)
	}
	if got := contents(t, r.From(1)); len(got) != 1 || r.End() != 1 || report.Records != 1 { // two is attested by nothing yet
		t.Errorf("read-only: %q, %+v", got, report)
	}
	if _, err := r.Verify(); err != nil {
		t.Error(err)
	}
	r.Close()
	if d.Changes() != before {
		t.Error("reading changed the disk")
	}
	l.Close()
	r, _, err = seglog.OpenReadOnly(d, logDir)
	if err != nil || r.End() != 2 || r.Incarnation() != l.Incarnation() {
		t.Errorf("after the close: %v, end %d", err, r.End())
	}
	r.Close()
}

func TestLimits(t *testing.T) {
	l, _ := mustOpen(t, t.TempDir(), &seglog.Options{FirstSegmentBytes: 16 << 10})
	defer l.Close()
	huge := bytes.Repeat([]byte("0123456789abcdef"), seglog.MaxRecordBytes/16)
	if first, err := l.Append(t.Context(), huge, huge); first != 1 || err != nil {
		t.Fatalf("two of the largest records = %d, %v", first, err)
	}
	for _, recs := range [][][]byte{{append(huge[:len(huge):len(huge)], 0)}, {huge, huge, huge[:8192]}} {
		if _, err := l.Append(t.Context(), recs...); !errors.Is(err, seglog.ErrTooLarge) {
			t.Errorf("Append = %v, want ErrTooLarge", err)
		}
		if _, err := l.Enqueue(l.Turn(), false, recs...).Wait(t.Context()); !errors.Is(err, seglog.ErrTooLarge) {
			t.Errorf("Enqueue = %v, want ErrTooLarge", err)
		}
	}
	if _, err := l.Append(t.Context()); err == nil {
		t.Error("Append of nothing = nil")
	}
	if at := mustAppend(t, l, "small"); at != 3 {
		t.Errorf("next = %d, want 3", at)
	}
	for i := range uint64(2) {
		if r, err := l.Read(i + 1); err != nil || !bytes.Equal(r.Data, huge) {
			t.Errorf("Read(%d): %d bytes, %v", i+1, len(r.Data), err)
		}
	}
}

// On a full disk the reserve is for AppendReserve and Rewrite alone, and comes
// back when there is room.
func TestReserve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := vfstest.New()
		if err := vfs.MkdirAll(d, "/state"); err != nil {
			t.Fatal(err)
		}
		res, err := seglog.NewReserve(d, "/state/reserve", small.MaxSegmentBytes)
		if err != nil {
			t.Fatal(err)
		}
		o := small
		o.Reserve = res
		l, _, err := seglog.Open(d, logDir, &o)
		if err != nil {
			t.Fatal(err)
		}
		mustAppend(t, l, big)
		full := vfstest.Fault{At: d.Ops(), Forever: true, Err: vfstest.ENOSPC, Kinds: []string{"create"}}
		d.Fail(full)
		if _, err := l.Append(t.Context(), []byte(big)); !errors.Is(err, seglog.ErrNoSpace) {
			t.Fatalf("Append on a full disk = %v, want ErrNoSpace", err)
		}
		if at, err := l.AppendReserve(t.Context(), []byte(big)); at != 2 || err != nil {
			t.Fatalf("AppendReserve on a full disk = %d, %v, want 2", at, err)
		}
		if _, err := l.Append(t.Context(), []byte("x")); !errors.Is(err, seglog.ErrNoSpace) {
			t.Errorf("Append into the reserve = %v, want ErrNoSpace", err)
		}
		if at, err := l.AppendReserve(t.Context(), []byte("x")); at != 3 || err != nil {
			t.Errorf("second AppendReserve = %d, %v, want 3", at, err)
		}
		d.Repair()
		time.Sleep(time.Second)
		if at, err := l.Append(t.Context(), []byte("y")); at != 4 || err != nil {
			t.Errorf("Append once there is room = %d, %v, want 4", at, err)
		}
		if _, err := d.Stat("/state/reserve"); err != nil {
			t.Errorf("the reserve did not come back: %v", err)
		}
		d.Fail(vfstest.Fault{At: d.Ops(), Forever: true, Err: vfstest.ENOSPC, Kinds: []string{"create"}})
		err = l.Rewrite(func(r seglog.Record) bool { return r.Index > 2 })
		if got := contents(t, l.From(1)); len(got) == 4 {
			t.Errorf("Rewrite on a full disk dropped nothing: %v", err)
		}
		d.Repair()
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
}

// Iterations that run while a rewrite puts other files in place finish on what
// they see.
func TestReadersFinishOnOldFiles(t *testing.T) {
	d := vfstest.New()
	l, _, err := seglog.Open(d, logDir, &small)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for i := range 30 {
		mustAppend(t, l, fmt.Sprint(i, " ", big[:200]))
	}
	n := 0
	for r, err := range l.From(1) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n == 2 {
			if err := l.Rewrite(func(r seglog.Record) bool { return r.Index == 30 }); err != nil {
				t.Fatal(err)
			}
		}
		if want := fmt.Sprint(r.Index-1, " ", big[:200]); string(r.Data) != want {
			t.Fatalf("record %d = %q", r.Index, r.Data)
		}
	}
	if n < 3 {
		t.Errorf("%d records, want at least those of the first segment", n)
	}
	if got := contents(t, l.From(1)); len(got) != 1 {
		t.Errorf("after the rewrite: %d records, want 1", len(got))
	}
}
