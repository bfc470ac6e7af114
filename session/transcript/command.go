package transcript

import (
	"github.com/comity-dev/comity/session/command"
	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/journal"
)

// command takes what was asked. What came of it is in events, so most commands show
// only as their cause; inputs that nothing comes of are listed at the end.
func (b *builder) command(r journal.CommandRecord, seq uint64) {
	c := r.Command()
	if b.head.session == "" {
		b.head.session = r.SessionID()
	}
	n := note{mark: mark{seq, c.CreatedAt}, kind: "command"}
	switch body := c.Body.(type) {
	case command.UserInput:
		b.inputs.put(c.ID, waiting{n.mark, c.ID, titleOf(body.Content)})
		return
	case command.Interrupt:
		n.line = "An interrupt was asked for" + asked(c.Agency) + because(body.Reason)
	case command.Shutdown:
		n.line = "A shutdown was asked for" + asked(c.Agency) + because(body.Reason)
	case command.Compact:
		n.line = "A summary in place of the past was asked for" + asked(c.Agency) + because(body.Instructions)
	case command.CancelDelegate:
		n.line = "The end of delegate " + string(body.Delegate) + " was asked for" + asked(c.Agency) + because(body.Reason)
	case command.ProcessNotification:
		n.kind, n.line = "process", "Process "+body.Process+" says:"
		if body.Exit != "" {
			n.line = "Process " + body.Process + " ended with status " + body.Exit + "."
		}
		n.detail = plain(b.cut(body.Output))
	default:
		return // a decision or a result: an event says it
	}
	l := b.root
	if asked, ok := b.loops[r.LoopID()]; ok {
		l = asked
	}
	b.add(l, n, len(n.line)+sizeOf(n.detail))
	b.flush(l, false)
}

func asked(a event.Agency) string {
	if a == "" {
		return ""
	}
	return " (" + string(a) + ")"
}
