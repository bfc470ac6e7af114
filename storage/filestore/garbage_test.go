package filestore_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/comity-dev/comity/internal/vfs/vfstest"
	"github.com/comity-dev/comity/storage"
	"github.com/comity-dev/comity/storage/filestore"
)

// A store compacts itself once what is of no use is more than the bound and half
// of the log, and not before; also of what was there when it was opened.
func TestStoreCompactsItself(t *testing.T) {
	const bound = 1 << 20
	line := strings.Repeat("x", 10_000)
	put100 := func(t *testing.T, s *filestore.Store, name string, times int) {
		for range 100 * times {
			put(t, s, name, line)
		}
	}
	remove := func(t *testing.T, s *filestore.Store, name string) {
		if err := s.Ledger().Delete(ctx, name); err != nil {
			t.Fatal(err)
		}
	}
	rewrite := func(t *testing.T, s *filestore.Store, times int) {
		var rev uint64
		for range times {
			var err error
			if rev, err = s.KV().Put(ctx, "row", rev, []byte(line)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, tt := range map[string]struct {
		first func(*testing.T, *filestore.Store) // in a store that does not compact itself, and is closed
		then  func(*testing.T, *filestore.Store)
		after int64
		least int64 // bytes of the log in the end; 0: it was compacted
	}{
		"a deleted ledger": {
			then:  func(t *testing.T, s *filestore.Store) { put100(t, s, "goes", 2); remove(t, s, "goes") },
			after: bound,
		},
		"one that was there before": {
			first: func(t *testing.T, s *filestore.Store) { put100(t, s, "goes", 2) },
			then:  func(t *testing.T, s *filestore.Store) { remove(t, s, "goes") },
			after: bound,
		},
		"one that was deleted before": {
			first: func(t *testing.T, s *filestore.Store) { put100(t, s, "goes", 2); remove(t, s, "goes") },
			then:  func(*testing.T, *filestore.Store) {},
			after: bound,
		},
		"old values of a row": {
			then:  func(t *testing.T, s *filestore.Store) { rewrite(t, s, 150) },
			after: bound,
		},
		"a row that is gone": {
			then: func(t *testing.T, s *filestore.Store) {
				for range 120 {
					rewrite(t, s, 1)
					if err := s.KV().Delete(ctx, "row", 0); err != nil {
						t.Fatal(err)
					}
				}
				rewrite(t, s, 1)
			},
			after: bound,
		},
		"less than the bound": {
			then:  func(t *testing.T, s *filestore.Store) { put100(t, s, "goes", 2); remove(t, s, "goes") },
			after: 3 << 20, least: 2_000_000,
		},
		"less than half of the log": {
			first: func(t *testing.T, s *filestore.Store) { put100(t, s, "too", 3) },
			then:  func(t *testing.T, s *filestore.Store) { put100(t, s, "goes", 2); remove(t, s, "goes") },
			after: bound, least: 5_000_000,
		},
		"never": {
			then:  func(t *testing.T, s *filestore.Store) { put100(t, s, "goes", 2); remove(t, s, "goes") },
			after: -1, least: 2_000_000,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := vfstest.New()
				s := mustOpenOn(t, d, -1)
				put(t, s, "stays", "one", "two")
				if tt.first != nil {
					tt.first(t, s)
					if err := s.Close(); err != nil {
						t.Fatal(err)
					}
					s = mustOpenOn(t, d, tt.after)
				} else {
					s.Close()
					s = mustOpenOn(t, d, tt.after)
				}
				tt.then(t, s)
				synctest.Wait()
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				if size := logSize(t, d); tt.least == 0 && size > bound || size < tt.least {
					t.Errorf("the log has %d bytes, want it compacted: %v", size, tt.least == 0)
				}
				s = mustOpenOn(t, d, -1)
				wantContents(t, s, "stays", "one", "two")
				wantContents(t, s, "goes")
				if report, err := s.Verify(ctx, nil); err != nil || len(report.Findings) > 0 {
					t.Errorf("Verify = %+v, %v", report, err)
				}
				s.Close()
			})
		})
	}
}

// After a failure it waits for as much garbage as ever, and then tries again.
func TestCompactionThatFailsIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := vfstest.New()
		s := mustOpenOn(t, d, 1<<20)
		line := strings.Repeat("x", 10_000)
		var rev uint64
		fill := func(n int) {
			for range n {
				var err error
				if rev, err = s.KV().Put(ctx, "row", rev, []byte(line)); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
			}
		}
		failing := true
		tries := 0
		s.OnCompact(func() error {
			if tries++; failing {
				return storage.ErrNoSpace
			}
			return nil
		})
		fill(150)
		if tries != 1 {
			t.Fatalf("%d compactions at 1.5 times the bound, want one", tries)
		}
		fill(30)
		if tries != 1 {
			t.Fatalf("%d compactions a little later, want none more", tries)
		}
		failing = false
		fill(50)
		if tries != 2 {
			t.Fatalf("%d compactions at 2.3 times the bound, want a second", tries)
		}
		fill(30)
		if tries != 2 {
			t.Fatalf("%d compactions behind one that was done, want none more", tries)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if size := logSize(t, d); size > 2<<20 {
			t.Errorf("the log has %d bytes", size)
		}
	})
}

func mustOpenOn(t testing.TB, d *vfstest.Disk, after int64) *filestore.Store {
	t.Helper()
	s, err := filestore.OpenOn(d, nil, "/store", &filestore.Options{CompactAfter: after, MaxSegmentBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func logSize(t testing.TB, d *vfstest.Disk) (size int64) {
	t.Helper()
	names, err := d.List("/store/log")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		info, err := d.Stat("/store/log/" + name)
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size
	}
	return size
}
