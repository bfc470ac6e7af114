package journal_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/journal"
)

// Rows lie between the events in the log, and no page shows it.
func mixed(t *testing.T, n int) (*journal.Journal, []event.Key) {
	t.Helper()
	j := inMemory(t, nil)
	for i := range n {
		_, err := j.Decide(t.Context(), func(tx *journal.Tx) error {
			tx.PutLocal("k", fmt.Sprint(i), []byte("v"))
			_, err := tx.Append(opened(fmt.Sprintf("s%d", i)))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	p, err := j.Page("", 10*n)
	if err != nil || len(p.Arrivals) != n+1 {
		t.Fatalf("Page = %d events, %v", len(p.Arrivals), err)
	}
	return j, keys(p.Arrivals)
}

func TestPagesHaveEachEventOnceForEveryLimit(t *testing.T) {
	j, all := mixed(t, 12)
	for limit := 1; limit <= len(all)+1; limit++ {
		if d := cmp.Diff(all, keys(walk(t, j, "", limit))); d != "" {
			t.Errorf("limit %d (-want +got):\n%s", limit, d)
		}
	}
	for i, a := range walk(t, j, "", 5) { // each event's own cursor stands behind it
		p, err := j.Page(a.Cursor, 100)
		if err != nil || !slices.Equal(keys(p.Arrivals), all[i+1:]) || p.More {
			t.Errorf("behind event %d: %v, %v", i, keys(p.Arrivals), err)
		}
	}
}

func TestPageWithoutALimitHasTheDefault(t *testing.T) {
	j, _ := mixed(t, journal.DefaultPage+5)
	for _, limit := range []int{0, -1} {
		if p, err := j.Page("", limit); err != nil || len(p.Arrivals) != journal.DefaultPage || !p.More {
			t.Errorf("Page(%d) = %d events, more %v, %v", limit, len(p.Arrivals), p.More, err)
		}
	}
}

func TestPageAtTheEnd(t *testing.T) {
	j, _ := mixed(t, 3)
	p, err := j.Page(j.End(), 10)
	if err != nil || len(p.Arrivals) != 0 || p.More || p.Next != j.End() {
		t.Errorf("Page(End) = %+v, %v", p, err)
	}
	empty := inMemory(t, nil)
	p, err = empty.Page("", 10)
	if err != nil || len(p.Arrivals) != 0 || p.More || p.Next != empty.End() {
		t.Errorf("Page of an empty journal = %+v, %v; End %s", p, err, empty.End())
	}
	mustAppend(t, empty, opened("s1"))
	if p, err = empty.Page(p.Next, 10); err != nil || len(p.Arrivals) != 2 {
		t.Errorf("Page from the empty journal's end = %+v, %v", p, err)
	}
}

func TestTail(t *testing.T) {
	j, all := mixed(t, 5)
	for n := -1; n <= len(all)+2; n++ {
		p, err := j.Tail(n)
		want := all[len(all)-min(max(n, 0), len(all)):]
		if err != nil || !slices.Equal(keys(p.Arrivals), want) || p.More || p.Next != j.End() {
			t.Errorf("Tail(%d) = %v, next %s, %v; want %v", n, keys(p.Arrivals), p.Next, err, want)
		}
	}
}

func TestCursorsThatCannotBeFollowed(t *testing.T) {
	j, _ := mixed(t, 2)
	other, _ := mixed(t, 2)
	part := strings.Split(j.End(), ".")
	cursor := func(inc, view, index string) string { return inc + "." + view + "." + index }
	for _, tt := range []struct {
		cursor string
		want   journal.CursorReason
	}{
		{"x", journal.CursorMalformed},
		{"..", journal.CursorMalformed},
		{j.End() + ".1", journal.CursorMalformed},
		{cursor(part[0], part[1], ""), journal.CursorMalformed},
		{cursor(part[0], part[1], "-1"), journal.CursorMalformed},
		{cursor(part[0], part[1], "+1"), journal.CursorMalformed},
		{cursor(part[0], part[1], "01"), journal.CursorMalformed},
		{cursor(part[0], part[1], "99999999999999999999"), journal.CursorMalformed},
		{cursor(strings.ToUpper(part[0]), part[1], "1"), journal.CursorMalformed},
		{cursor(part[0], "zz", "1"), journal.CursorMalformed},
		{cursor(part[0], "00000000", "1"), journal.CursorView},
		{cursor(part[0], part[1], "100"), journal.CursorAhead},
		{other.End(), journal.CursorIncarnation},
	} {
		_, err := j.Page(tt.cursor, 10)
		var bad *journal.CursorError
		if !errors.As(err, &bad) || bad.Reason != tt.want || bad.Cursor != tt.cursor {
			t.Errorf("Page(%q) = %v, want refused as %s", tt.cursor, err, tt.want)
		}
		<-j.Grown(tt.cursor) // who follows it finds out at once
	}
}

func TestCursorsOutliveTheProcess(t *testing.T) {
	dir := t.TempDir()
	j := onDisk(t, dir, nil)
	mustAppend(t, j, opened("s1"))
	cursor, inc := j.End(), j.Incarnation()
	mustAppend(t, j, opened("s2"))
	mustClose(t, j)
	j = onDisk(t, dir, nil)
	p, err := j.Page(cursor, 10)
	if err != nil || len(p.Arrivals) != 1 || j.Incarnation() != inc {
		t.Errorf("Page with an earlier process's cursor = %+v, %v", p, err)
	}
}

// Followers see each event exactly once and in one order while others write.
func TestFollowersGetEverythingOnce(t *testing.T) {
	j := onDisk(t, t.TempDir(), nil)
	const writers, each, followers = 8, 15, 4
	got := make([][]event.Key, followers)
	var group sync.WaitGroup
	for f := range followers {
		group.Go(func() {
			cursor := ""
			for len(got[f]) < 1+writers*each {
				<-j.Grown(cursor)
				p, err := j.Page(cursor, 1+f*3)
				if err != nil || len(p.Arrivals) == 0 {
					t.Errorf("follower %d: woken for %d events, %v", f, len(p.Arrivals), err)
					return
				}
				got[f], cursor = append(got[f], keys(p.Arrivals)...), p.Next
			}
		})
	}
	for w := range writers {
		group.Go(func() {
			for i := range each {
				if _, err := j.Append(t.Context(), opened(fmt.Sprintf("s%d.%d", w, i))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	want := keys(walk(t, j, "", 1000))
	for f := range followers {
		if d := cmp.Diff(want, got[f]); d != "" {
			t.Errorf("follower %d (-want +got):\n%s", f, d)
		}
	}
	select {
	case <-j.Grown(j.End()):
		t.Error("a follower at the end is woken for nothing")
	default:
	}
}

func TestEverythingIsRefusedAfterClose(t *testing.T) {
	j, _ := mixed(t, 2)
	mustClose(t, j)
	mustClose(t, j)
	if _, err := j.Append(t.Context(), opened("x")); !errors.Is(err, journal.ErrClosed) {
		t.Errorf("Append = %v", err)
	}
	if _, err := j.Page("", 1); !errors.Is(err, journal.ErrClosed) {
		t.Errorf("Page = %v", err)
	}
	if _, err := j.Tail(1); !errors.Is(err, journal.ErrClosed) {
		t.Errorf("Tail = %v", err)
	}
	if _, err := j.Verify(t.Context()); !errors.Is(err, journal.ErrClosed) {
		t.Errorf("Verify = %v", err)
	}
	<-j.Grown(j.End())
}

func TestVerifyStopsWithItsContext(t *testing.T) {
	j, _ := mixed(t, 2)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := j.Verify(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Verify = %v, want the cancellation", err)
	}
}
