package filestore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/comity-dev/comity/internal/vfs/vfstest"
	"github.com/comity-dev/comity/storage"
	"github.com/comity-dev/comity/storage/filestore"
)

var ctx = context.Background()

// A step is one write of a script. Its effect can be told from those of all
// others.
type step struct {
	name string
	do   func(s *filestore.Store) error
	// there reports whether the store shows the effect.
	there func(s *filestore.Store) (bool, error)
}

type outcome int

const (
	done    outcome = iota
	refused         // nothing may come of it
	unknown
)

// appendStep appends two records at the tip.
func appendStep(name string, n int) step {
	token := fmt.Sprint("token ", n)
	return step{
		fmt.Sprintf("append %d to %s", n, name),
		func(s *filestore.Store) error {
			tip, err := s.Ledger().Tip(ctx, name)
			if err != nil {
				return err
			}
			_, err = s.Ledger().Append(ctx, name, tip, []byte(token), []byte(token+", second"))
			return err
		},
		func(s *filestore.Store) (bool, error) {
			list, err := contents(s, name)
			i, j := slices.Index(list, token), slices.Index(list, token+", second")
			if err == nil && (i < 0) != (j < 0) || i >= 0 && j != i+1 {
				return false, fmt.Errorf("half of a batch: %q", list)
			}
			return i >= 0, err
		},
	}
}

func contents(s *filestore.Store, name string) ([]string, error) {
	var list []string
	for rec, err := range s.Ledger().Read(ctx, name, 1) {
		if err != nil {
			return list, err
		}
		list = append(list, string(rec.Data))
	}
	return list, nil
}

func deleteStep(name string) step {
	return step{
		"delete " + name,
		func(s *filestore.Store) error { return s.Ledger().Delete(ctx, name) },
		func(s *filestore.Store) (bool, error) {
			list, err := contents(s, name)
			return len(list) == 0, err
		},
	}
}

func rowStep(key string, n int) step {
	value := fmt.Sprint("value ", n)
	return step{
		fmt.Sprintf("put %d into row %s", n, key),
		func(s *filestore.Store) error {
			_, rev, err := s.KV().Get(ctx, key)
			var none *storage.NotFoundError
			if err != nil && !errors.As(err, &none) {
				return err
			}
			_, err = s.KV().Put(ctx, key, rev, []byte(value))
			return err
		},
		func(s *filestore.Store) (bool, error) {
			got, _, err := s.KV().Get(ctx, key)
			var none *storage.NotFoundError
			if errors.As(err, &none) {
				err = nil
			}
			return string(got) == value, err
		},
	}
}

func rowEndStep(key string) step {
	return step{
		"delete row " + key,
		func(s *filestore.Store) error { return s.KV().Delete(ctx, key, 0) },
		func(s *filestore.Store) (bool, error) {
			_, _, err := s.KV().Get(ctx, key)
			var none *storage.NotFoundError
			if errors.As(err, &none) {
				return true, nil
			}
			return false, err
		},
	}
}

func blobStep(n int) step {
	data := fmt.Sprint("blob ", n, strings.Repeat("x", 5000))
	d := storage.DigestOf([]byte(data))
	return step{
		fmt.Sprint("put blob ", n),
		func(s *filestore.Store) error {
			_, err := s.Blobs().Put(ctx, "space", d, strings.NewReader(data))
			return err
		},
		func(s *filestore.Store) (bool, error) {
			r, err := s.Blobs().Get(ctx, "space", d)
			var none *storage.NotFoundError
			if errors.As(err, &none) {
				return false, nil
			}
			if err != nil {
				return false, err
			}
			defer r.Close()
			got := make([]byte, len(data))
			_, err = readFull(r, got)
			return string(got) == data, err
		},
	}
}

// always wraps what shows no effect of its own.
func always(name string, do func(s *filestore.Store) error) step {
	return step{name, do, nil}
}

func compactStep() step {
	return always("compact", func(s *filestore.Store) error { _, err := s.Compact(ctx); return err })
}

func indexStep() step {
	return always("write the index", func(s *filestore.Store) error { return s.SaveIndex() })
}

func acquireStep(epoch *uint64) step {
	return always("acquire", func(s *filestore.Store) error {
		l, err := s.Leaser().Acquire(ctx, "lease")
		if err != nil {
			return err
		}
		if l.Epoch() <= *epoch {
			return fmt.Errorf("epoch %d came after %d", l.Epoch(), *epoch)
		}
		*epoch = l.Epoch()
		return l.Release(ctx)
	})
}

// A run is a script with what became of it.
type run struct {
	steps    []step
	outcomes []outcome
	epoch    uint64 // the highest that was granted
}

// newRun returns a script that does everything once or twice.
func newRun() *run {
	r := new(run)
	r.steps = []step{
		appendStep("a", 1),
		acquireStep(&r.epoch),
		appendStep("doomed", 2),
		rowStep("k", 3),
		indexStep(),
		appendStep("a", 4),
		rowStep("k2", 5),
		deleteStep("doomed"),
		blobStep(6),
		rowStep("gone", 7),
		acquireStep(&r.epoch),
		rowEndStep("gone"),
		compactStep(),
		appendStep("b", 8),
		appendStep("a", 9),
		compactStep(),
		appendStep("b", 10),
	}
	return r
}

// play runs the script on a disk. It stops at the first error if stop is set. It
// is no error that the store does not open.
func (r *run) play(d *vfstest.Disk, stop bool) (opened bool) {
	r.outcomes = nil
	s, err := filestore.OpenOn(d, nil, "/store", filestore.Inline())
	if err != nil {
		return false
	}
	defer s.Close()
	for _, st := range r.steps {
		err := st.do(s)
		var open *storage.AmbiguousError
		switch {
		case err == nil:
			r.outcomes = append(r.outcomes, done)
		case errors.As(err, &open):
			r.outcomes = append(r.outcomes, unknown)
		default:
			r.outcomes = append(r.outcomes, refused)
		}
		if err != nil && stop {
			return true
		}
	}
	return true
}

// check opens the store on what is left of a disk, compares it with what was
// acknowledged and refused, and uses it.
func (r *run) check(d *vfstest.Disk, crashed bool) error {
	s, err := filestore.OpenOn(d, nil, "/store", filestore.Inline())
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	defer s.Close()
	if rep := s.Report(); rep.Doubt || len(rep.Damage) > 0 {
		return fmt.Errorf("found damage: %+v", rep)
	}
	for i, st := range r.steps {
		o := refused // was never tried
		if i < len(r.outcomes) {
			o = r.outcomes[i]
		}
		if crashed && i == len(r.outcomes)-1 && o == refused {
			o = unknown // the power failed in it
		}
		if st.there == nil || r.later(i) {
			continue
		}
		there, err := st.there(s)
		if err != nil {
			return fmt.Errorf("%s: %w", st.name, err)
		}
		if there && o == refused && !r.trivially(i) || !there && o == done {
			return fmt.Errorf("%s: outcome %d, and it is there: %v", st.name, o, there)
		}
	}
	return r.use(s)
}

// later reports whether a later step may hide the effect of step i.
func (r *run) later(i int) bool {
	name := r.steps[i].name
	for j := i + 1; j < len(r.outcomes); j++ {
		if r.outcomes[j] == refused && j < len(r.outcomes)-1 {
			continue
		}
		other := r.steps[j].name
		if strings.HasSuffix(name, "to doomed") && other == "delete doomed" ||
			strings.HasSuffix(name, "row gone") && strings.HasPrefix(name, "put") && other == "delete row gone" {
			return true
		}
	}
	return false
}

// trivially reports whether what step i deletes was never there.
func (r *run) trivially(i int) bool { return strings.HasPrefix(r.steps[i].name, "delete") }

// use writes to the store as anybody would.
func (r *run) use(s *filestore.Store) error {
	for _, st := range []step{acquireStep(&r.epoch), appendStep("a", 100), appendStep("doomed", 101), rowStep("k", 102), blobStep(103), compactStep(), appendStep("b", 104)} {
		if err := st.do(s); err != nil {
			return fmt.Errorf("afterwards, %s: %w", st.name, err)
		}
		if st.there == nil {
			continue
		}
		if there, err := st.there(s); !there || err != nil {
			return fmt.Errorf("afterwards, %s is there: %v, %w", st.name, there, err)
		}
	}
	var dup []string
	for _, name := range []string{"a", "b", "doomed"} {
		list, err := contents(s, name)
		if err != nil {
			return err
		}
		dup = append(dup, list...)
	}
	slices.Sort(dup)
	if len(slices.Compact(slices.Clone(dup))) != len(dup) {
		return fmt.Errorf("a record is there twice: %q", dup)
	}
	report, err := s.Verify(ctx, nil)
	if err != nil || len(report.Findings) > 0 {
		return fmt.Errorf("verify: %+v, %w", report, err)
	}
	return nil
}

func TestScriptWithoutFaults(t *testing.T) {
	r := newRun()
	d := vfstest.New()
	if !r.play(d, true) || len(r.outcomes) != len(r.steps) || slices.Contains(r.outcomes, refused) {
		t.Fatalf("outcomes %v of %d steps", r.outcomes, len(r.steps))
	}
	if err := r.check(d, false); err != nil {
		t.Error(err)
	}
}
