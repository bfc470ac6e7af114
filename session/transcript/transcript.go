package transcript

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/journal"
)

// A Format is a way to write a transcript.
type Format string

// The formats.
const (
	Markdown Format = "markdown"
	JSON     Format = "json"
	HTML     Format = "html"
)

// A Cursor gives the records of one session in their order, and io.EOF after the
// last; a journal.RecordCursor is one. If it follows the session, the transcript ends
// when its context does.
type Cursor interface {
	Next(ctx context.Context) (rec journal.JournalRecord, seq uint64, err error)
}

// Options say what a transcript has. Nil and zero fields mean the defaults.
type Options struct {
	// Private adds what no public view has: payloads of gates and answers to them,
	// audits, the path of the workspace.
	Private bool
	// Kinds has the kinds of a harness's own events: it makes their public form, which
	// is shown without Private. Nil has none; events of a kind that it does not have are
	// shown with Private alone.
	Kinds *event.Kinds
	// Project is that of the journal's Kinds (journal.Kinds.Project), if it has one: it
	// makes the public form of all public events, which is what is shown without
	// Private. An event of which it makes nothing is not shown then.
	Project func(event.Event) ([]byte, error)
	// MaxText bounds one text, in bytes; what is left out is counted. 0 is 1 MiB.
	MaxText int
	// Exported is the time of the export, which is shown if it is set.
	Exported time.Time
	// TempDir is where the work of delegates waits for its place when it is too long
	// for memory; "" is os.TempDir. The files are removed before Write returns.
	TempDir string
}

// A Summary says what a transcript has.
type Summary struct {
	Records  uint64 // read
	Last     uint64 // sequence of the last one
	Turns    uint64
	Calls    uint64 // of tools
	Warnings uint64
	Stopped  bool // the session ended
}

// Write writes the transcript of what c gives. It holds at most about 16 MiB and, while it
// writes one, a few copies of a record. It returns at the first error of c or w, or when ctx
// ends; what it wrote is incomplete then, and an error of c is a *ReadError. Write a file
// beside its place and rename it.
func Write(ctx context.Context, w io.Writer, c Cursor, f Format, o *Options) (Summary, error) {
	if o == nil {
		o = new(Options)
	}
	render, err := rendererOf(f, o)
	if err != nil {
		return Summary{}, err
	}
	buffered := bufio.NewWriter(w)
	b := newBuilder(buffered, render, o)
	defer b.discard()
	for {
		rec, seq, err := c.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return b.sum, &ReadError{b.sum.Last, err}
		}
		if err := b.record(rec, seq); err != nil {
			return b.sum, err
		}
	}
	if err := b.finish(); err != nil {
		return b.sum, err
	}
	if err := buffered.Flush(); err != nil {
		return b.sum, fmt.Errorf("write transcript: %w", err)
	}
	return b.sum, nil
}

// A ReadError reports that a record could not be had.
type ReadError struct {
	After uint64 // sequence of the last record that was read; 0 is none
	Cause error
}

func (e *ReadError) Error() string {
	return fmt.Sprintf("transcript: read what follows record %d: %v", e.After, e.Cause)
}

func (e *ReadError) Unwrap() error { return e.Cause }

func rendererOf(f Format, o *Options) (renderer, error) {
	switch f {
	case Markdown:
		return markdown{}, nil
	case JSON:
		return jsonForm{}, nil
	case HTML:
		return page{}, nil
	}
	return nil, fmt.Errorf("transcript: no format %q: want markdown, json or html", f)
}
