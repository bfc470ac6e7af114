package seglog_test

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"os"
	"testing"

	"github.com/comity-dev/comity/internal/seglog"
	"github.com/comity-dev/comity/internal/vfs/vfstest"
)

// long makes the widest enumerations run.
var long = os.Getenv("COMITY_LONG") != ""

const logDir = "/state/log"

// small makes segments turn over after two or three records, and everything
// happen in one order.
var small = seglog.Options{FirstSegmentBytes: 8192 + 1024, MaxSegmentBytes: 8192 + 1024, Inline: true, IdleAfter: -1}

// A model knows what was asked of a log and what it acknowledged.
type model struct {
	batches [][]string // submitted, in order; the last may be without an answer
	acked   int        // batches that were acknowledged
	dropped func(index uint64) bool
	must    bool // the drop was acknowledged
	ops     int  // of the disk, before the log was closed
}

func (m *model) submit(recs ...string) { m.batches = append(m.batches, recs) }

// check compares the log with the model: every acknowledged record is there,
// byte for byte and once; every record that is there was submitted; batches
// are whole; what a finished rewrite dropped is gone. It returns the highest
// index that was acknowledged.
func (m *model) check(l logReader) (acked uint64, err error) {
	got := map[uint64][]byte{}
	prev := uint64(0)
	for r, err := range l.From(1) {
		if err != nil {
			return 0, err
		}
		if r.Index <= prev {
			return 0, fmt.Errorf("record %d comes behind %d", r.Index, prev)
		}
		prev = r.Index
		got[r.Index] = r.Data
		one, err := l.Read(r.Index)
		if err != nil || !bytes.Equal(one.Data, r.Data) {
			return 0, fmt.Errorf("Read(%d) = %q, %v, but From gives %q", r.Index, one.Data, err, r.Data)
		}
	}
	index := uint64(0)
	for i, batch := range m.batches {
		present := 0
		droppable := 0
		for _, want := range batch {
			index++
			data, ok := got[index]
			delete(got, index)
			drop := m.dropped != nil && i < m.acked && m.dropped(index)
			switch {
			case ok && string(data) != want:
				return 0, fmt.Errorf("record %d = %q, submitted was %q", index, data, want)
			case ok && drop && m.must:
				return 0, fmt.Errorf("record %d is there, though a rewrite dropped it", index)
			case ok:
				present++
			case drop:
				droppable++
			case i < m.acked:
				return 0, fmt.Errorf("record %d was acknowledged and is lost", index)
			}
		}
		if present > 0 && present+droppable < len(batch) {
			return 0, fmt.Errorf("batch %d is there in part: %d of %d", i, present, len(batch))
		}
		if i < m.acked {
			acked = index
		}
	}
	for index, data := range got {
		return 0, fmt.Errorf("record %d = %q was never submitted", index, data)
	}
	return acked, nil
}

type logReader interface {
	From(uint64) iter.Seq2[seglog.Record, error]
	Read(uint64) (seglog.Record, error)
}

// A script is what one life of a log does, step by step, until a step fails.
type script []step

type step func(l *seglog.Log, m *model) error

func appendStep(recs ...string) step {
	return func(l *seglog.Log, m *model) error {
		m.submit(recs...)
		raw := make([][]byte, len(recs))
		for i, r := range recs {
			raw[i] = []byte(r)
		}
		if _, err := l.Append(context.Background(), raw...); err != nil {
			return err
		}
		m.acked++
		return nil
	}
}

func rewriteStep(l *seglog.Log, m *model) error {
	end := l.End()
	m.dropped = func(index uint64) bool { return index%2 == 0 && index <= end }
	if err := l.Rewrite(func(r seglog.Record) bool { return r.Index%2 != 0 }); err != nil {
		return err
	}
	m.must = true
	return nil
}

// run plays the script on d and closes the log, with effect or without.
func (s script) run(d *vfstest.Disk, closing bool) (m *model, err error) {
	m = new(model)
	l, _, err := seglog.Open(d, logDir, &small)
	if err != nil {
		return m, err
	}
	defer func() {
		if cerr := l.Close(); closing && err == nil {
			err = cerr
		}
	}()
	for _, step := range s {
		if err := step(l, m); err != nil {
			return m, err
		}
	}
	m.ops = d.Ops()
	if !closing {
		d.PowerOff(m.ops)
	}
	return m, nil
}

var big = string(bytes.Repeat([]byte("large "), 100))

// scripts are all sequences of up to three appends, among them one that
// turns to the next segment, with and without a rewrite behind each.
func scripts() map[string]script {
	kinds := map[string]step{
		"one":  appendStep("alpha"),
		"two":  appendStep("beta", "gamma and more"),
		"full": appendStep(big),
	}
	all := map[string]script{"": nil}
	var extend func(name string, s script, depth int)
	extend = func(name string, s script, depth int) {
		if depth == 3 {
			return
		}
		for k, step := range kinds {
			t := append(append(script{}, s...), step)
			all[name+k+" "] = t
			all[name+k+" rewrite "] = append(append(script{}, t...), rewriteStep)
			extend(name+k+" ", t, depth+1)
		}
	}
	extend("", nil, 0)
	all["full two rewrite one "] = script{kinds["full"], kinds["two"], rewriteStep, kinds["one"]}
	all["full full rewrite full "] = script{kinds["full"], kinds["full"], rewriteStep, kinds["full"]}
	return all
}

// verify opens the log on d and checks it against m, goes on with it, and opens
// it once more. It returns the log as found.
func verify(d *vfstest.Disk, m *model) (*seglog.Report, error) {
	l, report, err := seglog.Open(d, logDir, &small)
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	closed := false
	defer func() {
		if !closed {
			l.Close()
		}
	}()
	acked, err := m.check(l)
	if err != nil {
		return nil, err
	}
	if len(report.Damage) > 0 {
		return nil, fmt.Errorf("damage where there is none: %+v", report.Damage)
	}
	if l.End() < acked {
		return nil, fmt.Errorf("end = %d, acknowledged was %d", l.End(), acked)
	}
	end := l.End()
	first, err := l.Append(context.Background(), []byte("afterwards"))
	if err != nil || first != end+1 {
		return nil, fmt.Errorf("append = %d, %v, want %d", first, err, end+1)
	}
	want := dataOf(l)
	closed = true
	if err := l.Close(); err != nil {
		return nil, fmt.Errorf("close: %w", err)
	}
	l, again, err := seglog.Open(d, logDir, &small)
	if err != nil {
		return nil, fmt.Errorf("open again: %w", err)
	}
	defer l.Close()
	if got := dataOf(l); got != want || !again.Clean || again.EndIndex != first {
		return nil, fmt.Errorf("opened again: %+v\n%s\nwant\n%s", again, got, want)
	}
	return report, nil
}

func dataOf(l *seglog.Log) string {
	var b bytes.Buffer
	for r, err := range l.From(1) {
		fmt.Fprintf(&b, "%d %q %v\n", r.Index, r.Data, err)
	}
	return b.String()
}

func fatal(t *testing.T, d *vfstest.Disk, format string, args ...any) {
	t.Helper()
	var dump bytes.Buffer
	seglog.Dump(d, logDir, &dump)
	t.Fatalf(format+"\n%s", append(args, dump.String())...)
}

func openAndReport(t *testing.T, d *vfstest.Disk) *seglog.Log {
	t.Helper()
	l, _, err := seglog.Open(d, logDir, &small)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

var t0 = context.Background()
