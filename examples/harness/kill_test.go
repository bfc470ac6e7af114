package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/session/runtimecommand"
	"github.com/comity-dev/comity/session/store"
	"github.com/comity-dev/comity/storage/filestore"
)

const (
	childEnv = "HARNESS_TEST_CHILD"
	session  = event.ID("5e551000-0000-4000-8000-000000000001")
)

// The test binary is the harness too.
func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A harness that is killed at any moment carries on: what it told is in the
// journal once, a command had its effect once at most and has one end, and all
// that a record names is there.
func TestKilled(t *testing.T) {
	kills := 30
	switch {
	case os.Getenv("COMITY_LONG") != "":
		kills = 300
	case testing.Short():
		kills = 8
	}
	p := &person{dir: filepath.Join(t.TempDir(), "store"), told: map[uint64]string{}, sent: map[string]string{}, answers: map[string]string{}}
	for range kills {
		// The moment behind a record, short more often than long: what a harness does in
		// a wrong order, it does within a millisecond.
		moment := time.Duration(rand.IntN(3000)>>rand.IntN(12)) * time.Microsecond
		kind, acks := kinds[rand.IntN(len(kinds))], 1+rand.IntN(40)
		if kind == event.KindRestoreStarted { // it is the first thing, or it is not there
			acks = 1
		}
		p.live(t, acks, kind, moment)
	}
	p.live(t, 0, "", 0) // until everything that was sent is answered
	out := p.settle(t)
	p.check(t, out)
	t.Logf("%d kills: %d records told, %d commands", kills, len(p.told), len(p.answers))
}

// kinds are records behind which something happens that is not in the journal yet.
var kinds = []string{"", event.KindGateResolved, event.KindGateResolved, event.KindGatePrepared, event.KindMessageAdded, event.KindToolCalled, event.KindRestoreStarted, "input_intent"}

// A person is who sits before a harness, over all its lives.
type person struct {
	dir     string
	told    map[uint64]string // "what id", by sequence
	sent    map[string]string // lines without an answer yet, by id
	answers map[string]string // "result, record N", by id
	n       int               // ids made up
}

var (
	recordLine = regexp.MustCompile(`^ *(\d+)  (\S+) +(\S+) `)
	answerLine = regexp.MustCompile(`^command (\S+): (\w+, record \d+)$`)
	askLine    = regexp.MustCompile(`^    ID approve (\S+)$`)
)

// live runs the harness and kills it: a moment behind the first record of a kind
// that comes after acks lines, if one comes soon; or, if acks is 0, when no command is
// without an answer any more.
func (p *person) live(t *testing.T, acks int, kind string, moment time.Duration) {
	t.Helper()
	cmd := p.command(t, "-steps", "1000000")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for _, line := range p.sent { // again: nobody has answered it
		io.WriteString(in, line)
	}
	killed := make(chan struct{})
	dying, enough := false, acks
	for r := bufio.NewReader(out); ; {
		line, err := r.ReadString('\n')
		if err != nil { // a line without its end was not told
			break
		}
		p.hear(t, in, strings.TrimSuffix(line, "\n"), dying)
		enough--
		if !dying && (acks > 0 && enough <= 0 && (strings.Contains(line, kind) || enough < -50) || acks == 0 && len(p.sent) == 0) {
			dying = true
			go func() {
				defer close(killed)
				for began := time.Now(); time.Since(began) < moment; {
				}
				cmd.Process.Kill()
			}()
		}
	}
	if err := cmd.Wait(); !dying {
		t.Fatalf("the harness ended by itself: %v", err)
	}
	<-killed
}

// hear notes what the harness told, answers what it asks, and now and then says
// something: new, or once more.
func (p *person) hear(t *testing.T, in io.Writer, line string, dying bool) {
	t.Helper()
	if m := recordLine.FindStringSubmatch(line); m != nil {
		var seq uint64
		fmt.Sscan(m[1], &seq)
		if old, ok := p.told[seq]; ok && old != m[2]+" "+m[3] {
			t.Fatalf("record %d was %s, and now it is %s", seq, old, m[2]+" "+m[3])
		}
		p.told[seq] = m[2] + " " + m[3]
		switch {
		case dying:
		case seq%7 == 0:
			p.send(in, "say something")
		case seq%16 == 0:
			p.send(in, "stop")
		case seq%9 == 0:
			for id := range p.answers {
				io.WriteString(in, id+" say something\n") // a redelivery, or an id used twice
				break
			}
		}
	}
	if m := answerLine.FindStringSubmatch(line); m != nil {
		if old, ok := p.answers[m[1]]; ok && old != m[2] {
			t.Fatalf("command %s: %s, and before: %s", m[1], m[2], old)
		}
		p.answers[m[1]] = m[2]
		delete(p.sent, m[1])
	}
	if m := askLine.FindStringSubmatch(line); m != nil && !dying {
		p.send(in, "approve "+m[1])
	}
}

// send sends a command of a new id. A harness that is gone gets it later.
func (p *person) send(in io.Writer, what string) {
	p.n++
	id := fmt.Sprint("c", p.n)
	p.sent[id] = id + " " + what + "\n"
	io.WriteString(in, p.sent[id])
}

// settle lets the harness end its session.
func (p *person) settle(t *testing.T) string {
	t.Helper()
	out, err := p.command(t, "-steps", "0").Output()
	if err != nil {
		t.Fatalf("the last run: %v", err)
	}
	return string(out)
}

// command is a run of the harness, which is ended when it hangs.
func (p *person) command(t *testing.T, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, os.Args[0], append([]string{"-pace", "0", "-store", p.dir}, args...)...)
	cmd.Env = append(os.Environ(), childEnv+"=1")
	cmd.Stderr = os.Stderr
	return cmd
}

func (p *person) check(t *testing.T, out string) {
	t.Helper()
	ctx := t.Context()
	backend, err := filestore.Open(p.dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Close()
	if r, err := backend.Verify(ctx, nil); err != nil || len(r.Findings) > 0 {
		t.Errorf("the store: %+v, %v", r, err)
	}
	sessions, err := store.New(backend, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := sessions.Verify(ctx, session); err != nil || !r.Good() || r.Blobs == 0 {
		t.Errorf("Verify = %+v, %v", r, err)
	}
	open, err := sessions.Recover(ctx, session)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(open.Turns) + len(open.Calls) + len(open.Gates) + len(open.Attempts) + len(open.Delegates) + len(open.Deliveries) + len(open.Commands); n > 0 || !open.Stopped {
		t.Errorf("open at the end: %+v", open)
	}
	story := read(ctx, t, sessions, session)
	for seq, what := range p.told {
		if got := story.records[seq]; got != what {
			t.Errorf("record %d was told to be %q, and is %q", seq, what, got)
		}
	}
	p.checkCommands(t, story)
	if notes, err := os.ReadFile(filepath.Join(p.dir+".work", "notes.md")); err != nil || string(notes) != story.notes {
		t.Errorf("the notes are %q, %v; want %q", notes, err, story.notes)
	}
	text, err := os.ReadFile(p.dir + ".md")
	if err != nil || !strings.Contains(string(text), "Write note 1.") {
		t.Errorf("the transcript is %.200q, %v", text, err)
	}
	if _, warnings, _ := strings.Cut(string(text), "\nWarnings:\n"); warnings != "" || !strings.Contains(out, ", 0 warnings") {
		t.Errorf("the transcript warns:\n%s", warnings)
	}
}

// checkCommands: one end for each command that was begun, the one that was told,
// and one effect for each that was applied, none for the others.
func (p *person) checkCommands(t *testing.T, s *story) {
	t.Helper()
	if len(s.begun) != len(p.answers) || len(s.begun) < 10 {
		t.Errorf("%d commands were begun, %d answered", len(s.begun), len(p.answers))
	}
	results := map[runtimecommand.Result]int{}
	for id, app := range s.begun {
		d, ok := s.ended[id]
		if want := fmt.Sprintf("%s, record %d", d.result, d.seq); !ok || p.answers[id] != want {
			t.Errorf("command %s: the journal says %q (%v), told was %q", id, want, ok, p.answers[id])
		}
		effects := s.effects[app.RuntimeID]
		if applied := d.result == runtimecommand.Applied; effects > 1 || (effects == 1) != applied {
			t.Errorf("command %s: %s, and has %d effects", id, d.result, effects)
		}
		results[d.result]++
	}
	if results[runtimecommand.Applied] == 0 {
		t.Errorf("no command was applied: %v", results)
	}
	t.Logf("commands: %v; %d owners, %d restores", results, s.owners, s.restores)
}

// A story is what a journal says, front to back.
type story struct {
	records  map[uint64]string // "what id", as the screen has it
	begun    map[string]runtimecommand.Application
	ended    map[string]disposed
	effects  map[event.ID]int // events of the command as their cause
	notes    string           // the lines that calls have written
	owners   int
	restores int
}

type disposed struct {
	seq    uint64
	result runtimecommand.Result
}

// read reads the journal, and holds it to what must be true of every one: each
// id once in its family, each command begun and ended once, epochs that rise.
func read(ctx context.Context, t *testing.T, sessions *store.Store, session event.ID) *story {
	t.Helper()
	s := &story{records: map[uint64]string{}, begun: map[string]runtimecommand.Application{}, ended: map[string]disposed{}, effects: map[event.ID]int{}}
	c, err := sessions.Records().Open(ctx, journal.ReplayRequest{SessionID: session})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	seen := map[string]uint64{}
	inputs := map[event.ID]string{} // of calls to write
	epoch := uint64(0)
	for want := uint64(1); ; want++ {
		rec, seq, err := c.Next(ctx)
		if errors.Is(err, io.EOF) {
			return s
		}
		if err != nil || seq != want {
			t.Fatalf("record %d: %v, want %d", seq, err, want)
		}
		family, _ := journal.FamilyOf(rec)
		key := fmt.Sprint(family, " ", rec.IdempotencyID())
		if first, ok := seen[key]; ok {
			t.Errorf("%s is record %d and record %d", key, first, seq)
		}
		seen[key] = seq
		what := ""
		switch r := rec.(type) {
		case journal.FenceRecord:
			if s.owners++; r.Fence().Epoch <= epoch {
				t.Errorf("record %d has epoch %d behind %d", seq, r.Fence().Epoch, epoch)
			}
			epoch = r.Fence().Epoch
		case journal.EventRecord:
			what = r.Event().Body.Kind()
			s.event(inputs, r.Event())
		case journal.GatePreparedRecord:
			what = event.KindGatePrepared
		case journal.CommandRecord:
			what = map[bool]string{true: "input_queued", false: "input_intent"}[strings.Contains(rec.IdempotencyID(), "/")]
		case journal.CommandApplicationRecord:
			what = "command_application"
			s.begun[r.Application().CommandID] = r.Application()
		case journal.CommandDispositionRecord:
			d := r.Disposition()
			if _, ok := s.begun[d.CommandID]; !ok {
				t.Errorf("record %d ends command %s, which was not begun", seq, d.CommandID)
			}
			if old, ok := s.ended[d.CommandID]; ok {
				t.Errorf("record %d ends command %s, which record %d did", seq, d.CommandID, old.seq)
			}
			s.ended[d.CommandID] = disposed{seq, d.Result}
		}
		s.records[seq] = what + " " + rec.IdempotencyID()
	}
}

func (s *story) event(inputs map[event.ID]string, e event.Event) {
	if e.Cause.Command != "" {
		s.effects[e.Cause.Command]++
	}
	switch b := e.Body.(type) {
	case event.RestoreDone:
		s.restores++
	case event.ToolCalled:
		if b.Name == "write" {
			inputs[b.Call] = strings.TrimSuffix(strings.TrimPrefix(b.Input, `{"line":"`), `"}`)
		}
	case event.ToolFinished:
		if line, ok := inputs[b.Call]; ok && b.Outcome == event.ToolDone {
			s.notes += line + "\n"
		}
	}
}
