package seglog

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/comity-dev/comity/internal/vfs"
)

const (
	maxSegmentBytes   = 64 << 20
	firstSegmentBytes = 1 << 20
	smallSegmentBytes = 4 << 20 // up to here segments grow by four
	leastSegmentBytes = dataStart + 1024
	lockName          = "lock"
	damageDir         = "damage"
)

// Open opens the log in dir for writing, makes it if the folder is empty or
// missing, and recovers what a crash has left. The report says what was found;
// damage does not keep a log from opening. The error wraps ErrLocked when
// another process has it open, ErrNewerFormat, or ErrNoSpace when recovery needs
// room that the disk does not have.
func Open(fsys vfs.FS, dir string, o *Options) (*Log, *Report, error) {
	l := &Log{o: o.defaults()}
	l.fsys, l.dir = fsys, dir
	if l.o.Inline && l.o.Reserve != nil {
		l.o.Reserve.setInline()
	}
	report, err := l.open()
	if err != nil {
		return nil, nil, fmt.Errorf("open log %s: %w", dir, err)
	}
	l.start()
	return l, report, nil
}

func (o *Options) defaults() Options {
	if o == nil {
		o = new(Options)
	}
	d := *o
	d.MaxSegmentBytes = min(max(cmp.Or(d.MaxSegmentBytes, maxSegmentBytes), leastSegmentBytes), maxSegmentBytes)
	d.FirstSegmentBytes = min(max(cmp.Or(d.FirstSegmentBytes, firstSegmentBytes), leastSegmentBytes), d.MaxSegmentBytes)
	d.IdleAfter = cmp.Or(d.IdleAfter, time.Second)
	return d
}

func (l *Log) open() (report *Report, err error) {
	if err := vfs.MkdirAll(l.fsys, l.dir); err != nil {
		return nil, err
	}
	if l.lock, err = l.fsys.Lock(filepath.Join(l.dir, lockName)); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			l.store.close()
			l.lock.Close()
		}
	}()
	if err := sweep(l.fsys, l.dir); err != nil {
		return nil, err
	}
	inv, err := inspect(l.fsys, l.dir)
	if err != nil {
		return nil, err
	}
	l.segs, l.inc = inv.segs, inv.inc
	report = inv.report()
	l.keepAside(inv.damage)
	l.damage = addDamage(inv.damage, l.keptAside()...)
	if err := l.settle(inv, report); err != nil {
		inv.release()
		return nil, err
	}
	for _, g := range inv.broken {
		g.drop()
	}
	report.Damage = l.Damage()
	report.FirstIndex, report.EndIndex, report.Segments = l.firstLocked(), l.end, len(l.segs)
	return report, nil
}

// sweep removes files that a crash left in the making.
func sweep(fsys vfs.FS, dir string) error {
	for _, d := range []string{dir, filepath.Join(dir, damageDir)} {
		names, err := fsys.List(d)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		for _, name := range names {
			if strings.HasSuffix(name, tmpSuffix) {
				if err := fsys.Remove(filepath.Join(d, name)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// report says what the inventory found, before recovery.
func (inv *inventory) report() *Report {
	r := &Report{Clean: inv.clean && len(inv.broken) == 0}
	for _, g := range inv.segs {
		r.Records += g.records
	}
	if v := inv.survey; v != nil {
		_, cut := v.split()
		kept := len(v.wholeTail())
		r.Recovered = uint64(kept)
		r.Records += r.Recovered
		r.Tail = v.dropped(kept, cut)
	}
	return r
}

// settle brings the folder into the state that the log is appended to.
func (l *Log) settle(inv *inventory, report *Report) error {
	for _, name := range inv.stale {
		if err := l.fsys.Remove(filepath.Join(l.dir, name)); err != nil {
			return err
		}
	}
	for _, g := range inv.unsealed {
		if err := l.sealOld(g); err != nil {
			return err
		}
	}
	if len(l.segs) == 0 {
		if len(inv.broken) == 0 {
			report.Created, report.Clean = true, true
		}
		rand.Read(l.inc[:])
		return l.begin(max(inv.next, 1), 0)
	}
	last := l.segs[len(l.segs)-1]
	l.end = max(last.last, inv.next, 1) - 1
	l.end = max(last.last, l.end)
	switch {
	case inv.clean && inv.next <= last.last+1:
		return l.reopen(last)
	case inv.clean || inv.sealed:
		return l.begin(l.end+1, last.size)
	}
	return l.recover(inv, last)
}

// reopen goes on in a segment that was closed cleanly.
func (l *Log) reopen(g *segment) error {
	f, err := l.fsys.Open(filepath.Join(l.dir, g.name), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	g.drop()
	g.file = newHandle(f)
	l.adoptWriter(g, &blank{file: f, alloc: g.size, cap: l.capFor(g.size)}, g.size)
	l.w.closed = true
	return nil
}

// sizeAfter returns the size of the segment that follows one of size bytes.
func (l *Log) sizeAfter(size int64) int64 {
	if size <= smallSegmentBytes {
		size *= 2
	}
	return min(2*size, l.o.MaxSegmentBytes)
}

// capFor returns where a segment of size bytes is to be full.
func (l *Log) capFor(size int64) int64 {
	full := l.o.FirstSegmentBytes
	for full < size && full < l.o.MaxSegmentBytes {
		full = l.sizeAfter(full)
	}
	return max(full, size)
}

// begin makes an empty last segment, from the index first on. Commit point: the
// rename, once the folder is synced; before it a crash leaves what was there.
func (l *Log) begin(first uint64, size int64) error {
	l.end = first - 1
	return l.beginWith(first, size, 0, nil, nil)
}
