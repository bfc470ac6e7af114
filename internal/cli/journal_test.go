package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	happened "github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/gate"
	records "github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/session/store"
	"github.com/comity-dev/comity/storage/filestore"
)

func sid(n int) happened.ID { return happened.ID(fmt.Sprintf("%08x-0000-4000-8000-%012x", n, n)) }

const hostile = "needle \x1b[31m\x1b]0;x\x07\u202e\x00\r reversed"

// A shelf is a folder with journals that a test writes.
type shelf struct {
	t     *testing.T
	dir   string
	file  *filestore.Store
	store *store.Store
}

func newShelf(t *testing.T) *shelf {
	t.Helper()
	s := &shelf{t: t, dir: filepath.Join(t.TempDir(), "store")}
	s.open()
	t.Cleanup(func() { s.file.Close() })
	return s
}

func (s *shelf) open() {
	s.t.Helper()
	var err error
	if s.file, err = filestore.Open(s.dir, nil); err != nil {
		s.t.Fatal(err)
	}
	if s.store, err = store.New(s.file, &store.Options{InlineBytes: 1000}); err != nil {
		s.t.Fatal(err)
	}
}

// shut closes the store, so that all of it can be looked at.
func (s *shelf) shut() *shelf {
	s.t.Helper()
	if err := s.file.Close(); err != nil {
		s.t.Fatal(err)
	}
	return s
}

// session writes a session with one turn: 10 records, a private one, a long one.
func (s *shelf) session(id happened.ID) *shelf {
	s.t.Helper()
	w, err := s.store.Open(s.t.Context(), id, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	defer w.Close()
	n := 0
	event1 := func(level happened.Level, body happened.Body) happened.Event {
		n++
		e := happened.Event{Header: happened.Header{ID: sid(1000 + n), CreatedAt: 1767225600000 + uint64(n)}, Body: body}
		all := happened.Coordinates{Session: id, Loop: sid(2), Turn: sid(3), Step: sid(4)}
		e.At.Session = id
		if level >= happened.AtLoop {
			e.At.Loop = all.Loop
		}
		if level >= happened.AtTurn {
			e.At.Turn = all.Turn
		}
		if level >= happened.AtStep {
			e.At.Step = all.Step
		}
		return e
	}
	prepared := event1(happened.AtStep, happened.GatePrepared{Gate: sid(6), Asks: gate.KindPermission})
	prepared.Visibility = happened.Internal
	for _, rec := range []records.JournalRecord{
		records.NewEventRecord(event1(happened.AtSession, happened.SessionStarted{Title: hostile, Workspace: "/home/ada/secret"})),
		records.NewEventRecord(event1(happened.AtTurn, happened.TurnStarted{Index: 1, Input: happened.Text(hostile)})),
		records.NewEventRecord(event1(happened.AtStep, happened.ToolCalled{Call: sid(5), Name: "read\x1b[2J", Input: hostile})),
		records.NewGatePreparedRecord(prepared, gate.Payload{Permission: &gate.Permission{Tool: "read", Input: "private input"}}),
		records.NewEventRecord(event1(happened.AtStep, happened.ToolFinished{Call: sid(5), Outcome: happened.ToolDone, Result: happened.Text(strings.Repeat("long ", 1000))})),
		records.NewEventRecord(event1(happened.AtStep, happened.StepDone{Index: 1})),
		records.OpaqueRecord{Kind: "acme.cache", ID: "1", Body: []byte("\xff private"), Public: []byte("\xff public")},
		records.NewEventRecord(event1(happened.AtTurn, happened.TurnEnded{Outcome: happened.Done})),
		records.NewEventRecord(event1(happened.AtSession, happened.SessionStopped{})),
	} {
		if _, err := w.Append(s.t.Context(), rec); err != nil {
			s.t.Fatal(err)
		}
	}
	return s
}

// flip changes one byte of the log where it first says text.
func (s *shelf) flip(text string) {
	s.t.Helper()
	segments, err := filepath.Glob(filepath.Join(s.dir, "log", "*.seg"))
	if err != nil || len(segments) == 0 {
		s.t.Fatalf("segments: %v, %v", segments, err)
	}
	for _, name := range segments {
		b, err := os.ReadFile(name)
		if err != nil {
			s.t.Fatal(err)
		}
		if at := bytes.Index(b, []byte(text)); at >= 0 {
			b[at] ^= 1
			if err := os.WriteFile(name, b, 0o600); err != nil {
				s.t.Fatal(err)
			}
			return
		}
	}
	s.t.Fatalf("no segment says %q", text)
}

// reply runs with --json and reads the one reply.
func reply[T any](f *fake, code int, args ...string) (v T) {
	f.t.Helper()
	r := f.run(append(args, "--json")...)
	if r.code != code || strings.Count(r.out, "\n") != 1 {
		f.t.Fatalf("%v: %+v", args, r)
	}
	if err := json.Unmarshal([]byte(r.out), &v); err != nil {
		f.t.Fatalf("%v: %v: %s", args, err, r.out)
	}
	return v
}

type failure struct {
	Error struct{ Code, Message, Hint string }
}

type shownRecords struct {
	Session   string
	Tip, Next uint64
	Records   []struct {
		Seq              uint64
		Family, Kind, ID string
		Public           bool
		Body             json.RawMessage
		Base64           []byte
	}
}

func TestJournalListAndShow(t *testing.T) {
	s := newShelf(t).session(sid(1)).session(sid(0x0b0b)).shut()
	f := newFake(t)
	list := reply[struct {
		Store    string
		Sessions []struct {
			Session, Title, State          string
			Seq                            uint64
			Last_seq, Turns, Steps, Events uint64
		}
	}](f, 0, "journal", "list", "--store", s.dir)
	if len(list.Sessions) != 2 || list.Store != s.dir {
		t.Fatalf("list = %+v", list)
	}
	if e := list.Sessions[0]; e.Session != string(sid(1)) || e.State != "stopped" || e.Seq != 10 || e.Last_seq != 10 || e.Turns != 1 || e.Steps != 1 || e.Events != 7 {
		t.Errorf("the first entry is %+v", e)
	}
	if r := f.run("journal", "list", "--store", "file://"+filepath.ToSlash(s.dir)); r.code != 0 || !strings.Contains(r.out, "sessions 2\n  00000001  stopped") || !strings.Contains(r.out, "1 turn  1 step  7 events  last record 10") {
		t.Errorf("list: %+v", r)
	}

	page := reply[shownRecords](f, 0, "journal", "show", "00000001", "--store", s.dir, "--from", "2", "--limit", "4")
	if page.Session != string(sid(1)) || page.Tip != 10 || page.Next != 6 || len(page.Records) != 4 || page.Records[0].Seq != 2 {
		t.Fatalf("show = %+v", page)
	}
	if r := page.Records[0]; r.Kind != "session_started" || !r.Public || bytes.Contains(r.Body, []byte("secret")) || !bytes.Contains(r.Body, []byte("needle")) {
		t.Errorf("record 2 is %+v, %s", r, r.Body)
	}
	if r := page.Records[3]; r.Family != "gate-prepared" || r.Public || len(r.Body) > 0 {
		t.Errorf("record 5 is %+v, %s", r, r.Body)
	}
	private := reply[shownRecords](f, 0, "journal", "show", "00000001", "--store", s.dir, "--private")
	if len(private.Records) != 10 || private.Next != 0 || !bytes.Contains(private.Records[1].Body, []byte("secret")) || !bytes.Contains(private.Records[4].Body, []byte("private input")) {
		t.Errorf("show --private = %+v", private)
	}
	if r := private.Records[7]; r.Kind != "acme.cache" || string(r.Base64) != "\xff private" {
		t.Errorf("the opaque record is %+v", r)
	}
	r := f.run("journal", "show", "00000001", "--store", s.dir) // and runContext says if it does not fit, or harms
	if r.code != 0 || strings.Count(r.out, "\n") != 10 || !strings.Contains(r.out, "needle") || strings.Contains(r.out, "private input") {
		t.Errorf("show: %+v", r)
	}
	if r := f.run("journal", "show", "00000001", "--store", s.dir, "--from", "1", "--limit", "2"); !strings.Contains(r.errout, "comity journal show 00000001 --from 3 --store") {
		t.Errorf("show with more: %+v", r)
	}
}

func TestJournalNamesASession(t *testing.T) {
	s := newShelf(t).session(sid(1)).session(sid(2)).session(sid(0x1b)).shut()
	f := newFake(t)
	for _, tt := range []struct{ name, code string }{{"0000000", "ambiguous"}, {"f", "unknown_session"}, {"00000001x", "unknown_session"}, {"../x", "unknown_session"}} {
		code := map[string]int{"ambiguous": 2, "unknown_session": 11}[tt.code]
		if e := reply[failure](f, code, "journal", "show", tt.name, "--store", s.dir); e.Error.Code != tt.code || e.Error.Hint == "" {
			t.Errorf("%s: %+v", tt.name, e)
		}
	}
	if r := f.run("journal", "show", "0000001B", "--store", s.dir); r.code != 0 {
		t.Errorf("capitals: %+v", r)
	}
}

func TestJournalPlaces(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f := newFake(t)
	for _, tt := range []struct {
		store, code string
		exit        int
	}{
		{"", "usage", 2}, {"http://host/x", "usage", 2}, {"file://host/x", "usage", 2}, {"file:///", "usage", 2}, {"file://", "usage", 2},
		{"nats://host", "usage", 2}, {"nats:///bucket", "usage", 2}, {"nats://host/a/b", "usage", 2}, {"nats://host/a.b", "usage", 2},
		{"nats://host/a?b=c", "usage", 2}, {"file:///x#y", "usage", 2}, {"://", "usage", 2}, {"nats://ada:hush@ho st/x", "usage", 2}, {"x://ada:hush@host/x", "usage", 2},
		{dir, "not_found", 11}, {filepath.Join(dir, "none"), "not_found", 11}, {"file:///no/such/folder", "not_found", 11},
		{filepath.Join(dir, "file"), "usage", 2},
		{"nats://ada:hush@127.0.0.1:1/bucket", "unreachable", 13},
	} {
		for _, command := range [][]string{{"list"}, {"show", "1"}, {"verify"}, {"follow", "1"}, {"export", "1", "-o", "x"}, {"transcript", "1", "-o", "x"}, {"delete", "1", "--yes"}} {
			args := append([]string{"journal", "--store", tt.store}, command...)
			e := reply[failure](f, tt.exit, args...)
			if e.Error.Code != tt.code || e.Error.Hint == "" || strings.Contains(fmt.Sprint(e), "hush") {
				t.Errorf("%v: %+v", args, e)
			}
			if r := f.run(args...); r.code != tt.exit || r.out != "" || !strings.Contains(r.errout, "comity: hint: ") || strings.Contains(r.errout, "hush") {
				t.Errorf("%v: %+v", args, r)
			}
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("looking has made %v", left)
	}
	// The default, where nothing has been recorded yet.
	if e := reply[failure](f, 11, "journal", "list"); e.Error.Code != "not_found" || !strings.Contains(e.Error.Message, f.env["COMITY_HOME"]) || e.Error.Hint == "" {
		t.Errorf("the default: %+v", e)
	}
}

func TestJournalMistakes(t *testing.T) {
	s := newShelf(t).session(sid(1)).shut()
	dir := t.TempDir()
	f := newFake(t)
	for _, args := range [][]string{
		{}, {"bogus"}, {"show"}, {"show", "1", "2"}, {"show", ""}, {"show", "0", "--limit", "0"}, {"show", "0", "--limit", "1001"}, {"show", "0", "--from", "-1"},
		{"follow"}, {"verify", "1", "2"}, {"list", "x"}, {"repair"}, {"repair", "0", "--as", string(sid(5))}, {"repair", "0", "--to", s.dir}, {"repair", "0", "--to", "file://" + filepath.ToSlash(s.dir)},
		{"repair", "0", "--to", "http://x/y"}, {"repair", "0", "--to", filepath.Join(dir, "copy"), "--as", "x"},
		{"export", "0"}, {"export", "0", "-o", dir}, {"export", "0", "-o", filepath.Join(dir, "no", "file")}, {"import"}, {"import", dir},
		{"transcript", "0"}, {"transcript", "0", "--format", "pdf", "-o", "x"}, {"delete", "0"}, {"delete"},
	} {
		args = append([]string{"journal", "--store", s.dir}, args...)
		if r := f.run(args...); r.code != 2 || r.out != "" || !strings.Contains(r.errout, "comity: hint: ") {
			t.Errorf("%v: %+v", args, r)
		}
		reply[failure](f, 2, args...)
	}
	for _, command := range []string{"export", "transcript"} { // one standard output for two
		reply[failure](f, 2, "journal", command, "0", "-o", "-", "--store", s.dir)
	}
	if e := reply[failure](f, 11, "journal", "import", "/no/such/file", "--store", s.dir); e.Error.Code != "not_found" || e.Error.Hint == "" {
		t.Errorf("import of what is not there: %+v", e)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("what was refused has left %v", left)
	}
	if r := f.run("journal", "verify", "--store", s.dir); r.code != 0 || !strings.Contains(r.out, "10 good") {
		t.Errorf("afterwards: %+v", r)
	}
}

func noteOf(id string) records.JournalRecord {
	return records.OpaqueRecord{Kind: "acme.note", ID: id, Body: []byte("x")}
}
