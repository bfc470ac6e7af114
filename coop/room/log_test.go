package room_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/room"
	"github.com/comity-dev/comity/internal/vfs/vfstest"
)

func TestLogPages(t *testing.T) {
	f := newFixture(t)
	ada := f.join("ada")
	for i := range 24 {
		f.claim(ada, fmt.Sprint("f", i))
	}
	var events []string
	after := ""
	for pages := 0; ; pages++ {
		page, err := f.Log(t.Context(), ada, api.LogRequest{After: after, Limit: 5})
		if err != nil {
			t.Fatal(err)
		}
		if want := min(5, 26-5*pages); len(page.Events) != want || page.More != (pages < 5) {
			t.Fatalf("page %d has %d events, more %v; want %d", pages, len(page.Events), page.More, want)
		}
		for _, e := range page.Events {
			events = append(events, e.Event)
		}
		if after = page.Next; !page.More {
			break
		}
	}
	if n := len(slices.Compact(slices.Sorted(slices.Values(events)))); n != 26 || len(events) != 26 {
		t.Errorf("%d events, %d different; want each of 26 once", len(events), n)
	}
	last, err := f.Log(t.Context(), ada, api.LogRequest{Last: true, Limit: 3})
	if err != nil || len(last.Events) != 3 || last.Events[2].Event != events[25] || last.More {
		t.Errorf("the last three = %+v, %v", last, err)
	}
	if e := last.Events[0]; e.Kind != "claim_acquired" || e.Session != "ada" || e.Text != "ada claimed f21: ada's work" || e.Body == nil || e.Lamport == 0 {
		t.Errorf("event = %+v", e)
	}
	if page, err := f.Log(t.Context(), ada, api.LogRequest{After: last.Next}); err != nil || len(page.Events) != 0 || page.Next != last.Next {
		t.Errorf("behind the end %+v, %v", page, err)
	}
	for limit, code := range map[int]api.Code{-1: api.CodeUsage, room.MaxPage + 1: api.CodeUsage} {
		_, err := f.Log(t.Context(), ada, api.LogRequest{Limit: limit})
		wantCode(t, fmt.Sprint("limit ", limit), err, code)
	}
	for _, cursor := range []string{"x", "0.0.0", last.Next + "9"} {
		_, err := f.Log(t.Context(), ada, api.LogRequest{After: cursor})
		wantCode(t, "cursor "+cursor, err, api.CodeCursor)
		wantCode(t, "watch from "+cursor, f.Watch(t.Context(), ada, api.WatchRequest{After: cursor}, nil), api.CodeCursor)
	}
	other := newFixture(t)
	_, err = other.Log(t.Context(), ada, api.LogRequest{After: last.Next})
	if err == nil {
		t.Error("another journal follows the cursor")
	}
}

// Who watches is told each event once, whenever it came.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixtureOn(t, vfstest.New(), nil)
		ada := f.join("ada")
		start := f.status(ada).Cursor
		ctx, cancel := context.WithCancel(t.Context())
		type watched struct {
			events []string
			err    error
		}
		watch := func(after string) *watched {
			w := new(watched)
			go func() {
				w.err = f.Watch(ctx, room.Actor{}, api.WatchRequest{After: after}, func(c api.Change) error {
					for _, e := range c.Events {
						w.events = append(w.events, e.Event)
					}
					return nil
				})
				w.events = append(w.events, "end")
			}()
			return w
		}
		early := watch(start)
		now := watch("")
		synctest.Wait()
		var wg sync.WaitGroup
		for i := range 8 {
			a := f.join(fmt.Sprint("s", i))
			wg.Go(func() {
				for n := range 20 {
					f.claim(a, fmt.Sprintf("f%d.%d", i, n))
				}
			})
		}
		wg.Wait()
		late := watch(start)
		synctest.Wait()
		page, err := f.Log(t.Context(), ada, api.LogRequest{After: start, Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, e := range page.Events {
			want = append(want, e.Event)
		}
		cancel()
		synctest.Wait()
		want = append(want, "end")
		for name, w := range map[string]*watched{"from a cursor": early, "from now": now, "from a cursor, late": late} {
			if !slices.Equal(w.events, want) || w.err != nil {
				t.Errorf("%s: %d events, %v; want %d, each once and in order", name, len(w.events), w.err, len(want))
			}
		}
		broken := errors.New("the reader is gone")
		if err := f.Watch(t.Context(), ada, api.WatchRequest{}, func(api.Change) error { return broken }); err != broken {
			t.Errorf("Watch = %v, want what its reader said", err)
		}
		ended := make(chan error, 1)
		go func() {
			ended <- f.Watch(t.Context(), ada, api.WatchRequest{}, func(api.Change) error { return nil })
		}()
		synctest.Wait()
		f.shut()
		if err := <-ended; !errors.Is(err, api.ErrStopping) {
			t.Errorf("after the close: %v", err)
		}
	})
}

// A change of a watch is one message to its client, which takes 16 MiB: a reader
// that is far behind gets several.
func TestAChangeOfAWatchIsBounded(t *testing.T) {
	const most = 16 << 20
	f := newFixture(t)
	ada := f.join("ada")
	start := f.status(ada).Cursor
	const offers = 700
	for i := range offers {
		req := api.HandoverPublishRequest{Body: fmt.Sprint(i) + strings.Repeat("0123456789abcde\n", 2000)}
		if _, err := f.HandoverPublish(t.Context(), ada, req); err != nil {
			t.Fatal(err)
		}
	}
	got, changes := 0, 0
	done := errors.New("all are there")
	err := f.Watch(t.Context(), ada, api.WatchRequest{After: start}, func(c api.Change) error {
		b, err := json.Marshal(c)
		if err != nil {
			return err
		}
		if len(b) > most {
			t.Errorf("a change of %d bytes, at most %d fit", len(b), most)
		}
		changes++
		if got += len(c.Events); got >= offers {
			return done
		}
		return nil
	})
	if !errors.Is(err, done) || got != offers || changes < 2 {
		t.Errorf("%d events in %d changes, %v; want all %d in several", got, changes, err, offers)
	}
}
