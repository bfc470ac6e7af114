package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/store"
	"github.com/comity-dev/comity/storage/filestore"
)

// A listener is a screen that does something when a line says a word.
type listener struct {
	all strings.Builder
	on  func(line string)
}

func (l *listener) Write(b []byte) (int, error) {
	l.all.Write(b)
	if l.on != nil {
		l.on(string(b))
	}
	return len(b), nil
}

func optionsIn(dir string, steps uint64) options {
	return options{store: filepath.Join(dir, "store"), session: session, until: steps}
}

// storyOf reads the journal of a harness that has ended.
func storyOf(t *testing.T, o options) *story {
	t.Helper()
	backend, err := filestore.Open(o.store, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Close()
	sessions, err := store.New(backend, nil)
	if err != nil {
		t.Fatal(err)
	}
	return read(t.Context(), t, sessions, o.session)
}

// What a call did to the workspace of which the journal knows no end is taken back
// before the turn goes on, with and without a checkpoint to go back to: the notes
// are what the calls that ended have written, and nothing else.
func TestWorkspaceIsSetBack(t *testing.T) {
	for name, steps := range map[string]int{"before the first checkpoint": 1, "behind a checkpoint": 4} {
		t.Run(name, func(t *testing.T) {
			o := optionsIn(t.TempDir(), 12)
			o.yes = true
			killedBehind(t, o, steps)
			files := workspace{o.store + ".work"}
			if _, err := files.add("a line of a call without an end\n"); err != nil {
				t.Fatal(err)
			}
			if err := run(t.Context(), o, strings.NewReader(""), io.Discard); err != nil {
				t.Fatal(err)
			}
			want := storyOf(t, o).notes
			if strings.Count(want, "note ") != 4 {
				t.Errorf("the story is %q", want)
			}
			if notes, err := os.ReadFile(files.notes()); err != nil || string(notes) != want {
				t.Errorf("the notes are %q, %v; want %q", notes, err, want)
			}
		})
	}
}

// killedBehind runs a harness and kills it behind so many steps. It thinks long enough
// that it dies between two of them.
func killedBehind(t *testing.T, o options, steps int) {
	t.Helper()
	first := (&person{dir: o.store}).command(t, "-yes", "-pace", "200ms")
	out, err := first.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	done := 0
	for lines := bufio.NewScanner(out); done < steps && lines.Scan(); {
		if strings.Contains(lines.Text(), event.KindStepDone) {
			done++
		}
	}
	first.Process.Kill()
	if first.Wait(); done < steps {
		t.Fatalf("the first run came to its end behind %d steps", done)
	}
}

// A session that was imported under another id goes on where it was, in its loop.
func TestCarryingOnUnderAnotherID(t *testing.T) {
	o := optionsIn(t.TempDir(), 12)
	o.yes = true
	killedBehind(t, o, 4)
	backend, err := filestore.Open(o.store, nil)
	if err != nil {
		t.Fatal(err)
	}
	sessions, err := store.New(backend, nil)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if _, err := sessions.Export(t.Context(), o.session, &file); err != nil {
		t.Fatal(err)
	}
	o.session = event.NewID()
	if _, err := sessions.Import(t.Context(), bytes.NewReader(file.Bytes()), o.session); err != nil {
		t.Fatal(err)
	}
	if err := backend.Close(); err != nil {
		t.Fatal(err)
	}
	screen := new(listener)
	if err := run(t.Context(), o, strings.NewReader("a say hello\n"), screen); err != nil {
		t.Fatal(err)
	}
	s, done := storyOf(t, o), 0
	for _, what := range s.records {
		if strings.HasPrefix(what, event.KindStepDone) {
			done++
		}
	}
	if done != 12 || strings.Count(s.notes, "note ") != 4 {
		t.Errorf("%d steps were done, and the notes are %q", done, s.notes)
	}
	if text := screen.all.String(); !strings.Contains(text, ", 0 warnings") {
		t.Errorf("the transcript warns:\n%s", text)
	}
}

// Whoever answers a gate that is not the open one is told so, and which one is.
func TestWrongGates(t *testing.T) {
	in, to := io.Pipe()
	lines := make(chan string, 100)
	screen := &listener{on: func(line string) { lines <- line }}
	ended := make(chan error, 1)
	o := optionsIn(t.TempDir(), 2)
	go func() { ended <- run(t.Context(), o, in, screen) }()
	next := func(with string) string {
		t.Helper()
		for {
			select {
			case line := <-lines:
				if strings.Contains(line, with) {
					return line
				}
			case err := <-ended:
				t.Fatalf("it ended with %v before it said %q:\n%s", err, with, screen.all.String())
			}
		}
	}
	open := strings.Fields(next("ID approve "))[2]
	io.WriteString(to, "a approve "+open[:8]+"\n")
	if line := next("command a: "); !strings.Contains(line, "is not the id of a gate") || !strings.Contains(line, "open is "+open) {
		t.Errorf("half an id: %q", line)
	}
	other := event.NewID().String()
	io.WriteString(to, "b approve "+other+"\n")
	next("command b: no_op")
	if line := next("is not open"); !strings.Contains(line, other) || !strings.Contains(line, "open is "+open) {
		t.Errorf("another gate: %q", line)
	}
	io.WriteString(to, "c bogus\n")
	next("command c: want ID say TEXT")
	io.WriteString(to, "d approve "+open+"\n")
	next("gate_resolved")
	to.Close()
	for {
		select {
		case <-lines:
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
			return
		}
	}
}

// A harness that has nobody to ask says that it denies.
func TestDenialWithoutInputIsSaid(t *testing.T) {
	screen := new(listener)
	if err := run(t.Context(), optionsIn(t.TempDir(), 2), strings.NewReader(""), screen); err != nil {
		t.Fatal(err)
	}
	if text := screen.all.String(); !strings.Contains(text, "denied: the input has ended") || !strings.Contains(text, "-yes") {
		t.Errorf("it said:\n%s", text)
	}
}
