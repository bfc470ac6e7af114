package seglog

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"

	"github.com/comity-dev/comity/internal/vfs"
)

// A Reader reads a log without its lock and without writing anything, beside a
// process that appends to it. It shows what was attested as synced when it was
// opened, which may lack the last batch until the log is idle or closed.
type Reader struct {
	s     store
	whole uint64
}

// OpenReadOnly opens the log in dir for reading. The error wraps fs.ErrNotExist
// when there is none.
func OpenReadOnly(fsys vfs.FS, dir string) (*Reader, *Report, error) {
	const tries = 5
	for i := 1; ; i++ {
		r, report, err := openReader(fsys, dir)
		if err == nil && len(report.Damage) == 0 || i == tries {
			if err != nil {
				return nil, nil, fmt.Errorf("open log %s for reading: %w", dir, err)
			}
			return r, report, nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, fmt.Errorf("open log %s for reading: %w", dir, err)
		}
		if err == nil { // perhaps we only saw files change under us
			r.Close()
		}
	}
}

func openReader(fsys vfs.FS, dir string) (*Reader, *Report, error) {
	inv, err := inspect(fsys, dir)
	if err != nil {
		return nil, nil, err
	}
	if len(inv.segs)+len(inv.broken) == 0 {
		return nil, nil, fmt.Errorf("no segment in the folder: %w", fs.ErrNotExist)
	}
	r := &Reader{s: store{fsys: fsys, dir: dir, inc: inv.inc, segs: inv.segs}}
	for _, g := range inv.broken {
		g.drop()
	}
	for _, g := range inv.segs { // now, before a rewrite puts others in their place
		f, err := g.acquire(fsys, dir)
		if err != nil {
			r.s.close()
			return nil, nil, err
		}
		f.release()
	}
	if n := len(r.s.segs); n > 0 {
		r.s.end = r.s.segs[n-1].last
	}
	r.s.damage = addDamage(inv.damage, r.s.keptAside()...)
	report := inv.report()
	r.whole = r.s.end + report.Recovered
	report.Records -= report.Recovered
	report.Recovered = 0
	report.Damage = r.s.Damage()
	report.FirstIndex, report.EndIndex, report.Segments = r.s.First(), r.s.End(), len(inv.segs)
	return r, report, nil
}

// First is Log.First.
func (r *Reader) First() uint64 { return r.s.First() }

// End is Log.End, of what the reader shows.
func (r *Reader) End() uint64 { return r.s.End() }

// Whole is the last record that is whole behind End, where the next writer
// goes on: nothing attests those behind End yet, and the reader does not show them.
func (r *Reader) Whole() uint64 { return r.whole }

// Incarnation is Log.Incarnation.
func (r *Reader) Incarnation() [16]byte { return r.s.Incarnation() }

// Read is Log.Read.
func (r *Reader) Read(index uint64) (Record, error) { return r.s.Read(index) }

// From is Log.From.
func (r *Reader) From(index uint64) iter.Seq2[Record, error] { return r.s.From(index) }

// Verify is Log.Verify.
func (r *Reader) Verify() ([]Damage, error) { return r.s.Verify() }

// Damage is Log.Damage.
func (r *Reader) Damage() []Damage { return r.s.Damage() }

// Slack is Log.Slack.
func (r *Reader) Slack() ([]Damage, error) { return r.s.Slack() }

// Close lets go of the files.
func (r *Reader) Close() error { return r.s.close() }
