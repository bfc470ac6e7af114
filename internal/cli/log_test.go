package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/internal/httpapi"
)

func event(n int) api.LogEvent {
	return api.LogEvent{Cursor: fmt.Sprintf("c%d", n), Event: fmt.Sprintf("%s%d", keyA[:67], n), Short: fmt.Sprintf("972572/%d", n), At: 1_795_968_017, Text: fmt.Sprintf("event %d", n), Body: map[string]any{"kind": "x"}}
}

func TestLogShowsTheLastEvents(t *testing.T) {
	f := newFake(t).serve()
	f.replies[api.OpLog] = api.LogPage{Events: []api.LogEvent{event(1), event(2)}, Next: "c2"}
	at := time.Unix(1_795_968_017, 0).Format("01-02 15:04:05")
	if r := f.run("log"); r.code != 0 || r.out != at+"  972572/1  event 1\n"+at+"  972572/2  event 2\n" || r.errout != "" {
		t.Errorf("%+v", r)
	}
	if req := request[api.LogRequest](f, api.OpLog); !req.Last || req.After != "" || req.Limit != 100 {
		t.Errorf("request %+v", req)
	}
	f.run("log", "--after", "", "--limit", "7")
	if req := request[api.LogRequest](f, api.OpLog); req.Last || req.After != "" || req.Limit != 7 {
		t.Errorf("from the beginning: request %+v", req)
	}
}

func TestLogAsJSONIsOneEventALine(t *testing.T) {
	f := newFake(t).serve()
	f.replies[api.OpLog] = map[string]any{"events": []any{map[string]any{"cursor": "c1", "new": 1}, event(2)}, "next": "c2", "more": true}
	r := f.run("log", "--json", "--after", "c0")
	lines := strings.Split(strings.TrimSuffix(r.out, "\n"), "\n")
	if len(lines) != 2 || lines[0] != `{"cursor":"c1","new":1}` || r.errout != "" {
		t.Fatalf("%+v", r)
	}
	var e api.LogEvent
	if err := json.Unmarshal([]byte(lines[1]), &e); err != nil || e.Cursor != "c2" {
		t.Errorf("%q: %v", lines[1], err)
	}
}

func TestLogNamesWhereItGoesOn(t *testing.T) {
	f := newFake(t).serve()
	f.replies[api.OpLog] = api.LogPage{Events: []api.LogEvent{event(1)}, Next: "c1", More: true}
	if r := f.run("log", "--after", "c0"); !strings.Contains(r.errout, "comity log --after c1") {
		t.Errorf("%+v", r)
	}
	f.errs[api.OpLog] = api.Errorf(api.CodeCursor, "the journal was made anew").WithHint("begin again without --after")
	if r := f.run("log", "--after", "c0"); r.code != 2 || r.out != "" {
		t.Errorf("%+v", r)
	}
}

// Followed, each event is printed once, however often the watch wakes and
// whatever it says.
func TestFollowedLogSaysNothingTwice(t *testing.T) {
	f := newFake(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	const last = 7
	f.ops[api.OpLog] = func(_ context.Context, _ httpapi.Caller, body []byte) (any, error) {
		var req api.LogRequest
		if err := json.Unmarshal(body, &req); err != nil {
			return nil, err
		}
		from := 0
		fmt.Sscanf(req.After, "c%d", &from)
		p := api.LogPage{Next: req.After}
		for n := from + 1; n <= min(from+2, last); n++ {
			p.Events = append(p.Events, event(n))
			p.Next = fmt.Sprintf("c%d", n)
		}
		p.More = from+2 == 4 // the second page continues at once
		return p, nil
	}
	f.watch = func(ctx context.Context, _ httpapi.Caller, req api.WatchRequest, emit func(api.Change) error) error {
		if req.After == fmt.Sprintf("c%d", last) {
			cancel()
			<-ctx.Done()
			return ctx.Err()
		}
		for range 3 {
			if err := emit(api.Change{Cursor: "c7", Events: []api.LogEvent{event(1), event(2)}}); err != nil {
				return err
			}
		}
		return nil
	}
	f.serve()
	r := f.runContext(ctx, "log", "--follow", "--after", "", "--json")
	if r.code != 0 || r.errout != "" {
		t.Errorf("%d %q", r.code, r.errout)
	}
	var got []string
	for line := range strings.Lines(r.out) {
		var e api.LogEvent
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		got = append(got, e.Cursor)
	}
	if fmt.Sprint(got) != "[c1 c2 c3 c4 c5 c6 c7]" {
		t.Errorf("printed %v", got)
	}
}

func TestNotices(t *testing.T) {
	f := newFake(t).serve()
	var acks []uint64
	f.ops[api.OpNotices] = func(_ context.Context, _ httpapi.Caller, body []byte) (any, error) {
		var req api.NoticesRequest
		if err := json.Unmarshal(body, &req); err != nil {
			return nil, err
		}
		if req.Ack > 0 {
			acks = append(acks, req.Ack)
			return api.Notices{Session: "s-1"}, nil
		}
		return api.Notices{Session: "s-1", Notices: []api.Notice{
			{ID: 3, Kind: api.NoticeFenced, Text: "your claim was fenced", Claim: keyA, AgeMS: 5000}, {ID: 9, Kind: api.NoticeHandover, Text: "a handover"},
		}}, nil
	}
	want := "#3  fenced  5s ago  972572/4\n    your claim was fenced\n#9  handover  just now\n    a handover\n"
	if r := f.run("notices"); r.out != want || len(acks) != 0 {
		t.Errorf("%+v, acknowledged %v", r, acks)
	}
	if r := f.run("notices", "--ack"); r.out != want || fmt.Sprint(acks) != "[9]" {
		t.Errorf("%+v, acknowledged %v", r, acks)
	}
	f.ops[api.OpNotices] = func(context.Context, httpapi.Caller, []byte) (any, error) { return api.Notices{Session: "s-1"}, nil }
	if r := f.run("notices"); r.out != "" || r.errout != "comity: nothing new for session s-1\n" {
		t.Errorf("%+v", r)
	}
}
