package transcript

import (
	"io"

	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/gate"
)

// The entries of a transcript, in the order in which a renderer gets them. Turns and
// steps nest, each from its start to its end; what is in between stands in them.
type (
	head struct {
		session  event.ID
		start    event.SessionStarted
		title    string
		at       uint64 // milliseconds since 1970 UTC, 0 if not known, as all times here
		exported uint64
	}
	turnStart struct {
		mark
		index  uint64
		input  []block
		agency event.Agency
	}
	turnEnd struct {
		outcome string // of the event, or open
		err     text
		usage   event.Usage
	}
	stepStart struct{ n int }
	stepEnd   struct {
		model, stop string
		usage       event.Usage
	}
	message struct {
		mark
		role    event.Role
		content []block
	}
	note struct {
		mark
		kind   string // a word
		line   string // what is said of it, in our words
		detail []block
	}
	foot struct {
		sum       Summary
		stopped   event.SessionStopped
		usage     event.Usage
		waiting   []waiting
		moreWait  uint64
		warnings  []warning
		moreWarns uint64
	}
)

// running is the outcome of what has no end in the records.
const open = "open"

// A mark is where an entry comes from.
type mark struct {
	seq uint64
	at  uint64
}

// A text is a text, cut to the bound.
type text struct {
	s    string
	more int // bytes left out
}

// A block is a block of a content, cut to the bound.
type block struct {
	event.Block // without Text
	text        text
}

// A call is a tool call.
type call struct {
	mark
	id        event.ID
	name, use string
	input     text
	outcome   string // open until its result is there
	millis    uint64
	result    []block
	gates     []*gateEntry
	delegates []*delegate
	late      bool // the call itself was shown before
}

// A gateEntry is a gate.
type gateEntry struct {
	mark
	id        event.ID
	asks      gate.Kind
	subject   string
	decision  gate.Decision // without action while it is open
	decidedAt uint64
	payload   *gate.Payload // private
	late      bool          // the question itself was shown before, or is not there
}

// A delegate is the work of another loop.
type delegate struct {
	mark
	loop         event.ID
	agent, model string
	task         []block
	outcome      string
	err          text
	result       []block
	work         *spool
	part         bool // more of it may come elsewhere
}

type waiting struct {
	mark
	id   event.ID
	text string
}

type warning struct {
	seq  uint64
	text string
}

// A renderer writes entries in one format. Only I/O fails, and that is kept by out.
type renderer interface {
	write(o *out, entry any)
}

// An out is where the entries of one loop go. Its first error is kept, and nothing is
// written after it.
type out struct {
	w     io.Writer
	err   error
	lists []bool // JSON: of each open list, whether it has an element
}

func (o *out) str(parts ...string) {
	for _, s := range parts {
		if o.err == nil {
			_, o.err = io.WriteString(o.w, s)
		}
	}
}
