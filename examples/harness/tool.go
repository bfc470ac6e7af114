package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/comity-dev/comity/session/event"
)

// A result is what a call of a tool came to.
type result struct {
	outcome event.ToolOutcome
	text    string
	did     []event.Body // to be stored together with the end of the call
}

// use runs one call of a tool. An error ends the harness: what goes wrong within a
// tool is an outcome.
func (h *harness) use(ctx context.Context, call event.ID, m move) (result, error) {
	var in struct{ Line, Task string }
	if err := json.Unmarshal([]byte(m.input), &in); err != nil {
		return failed(err), nil
	}
	switch m.tool {
	case "list":
		return h.list(), nil
	case "write":
		return h.write(ctx, call, m, in.Line)
	case "delegate":
		text, err := h.delegate(ctx, call, in.Task)
		return result{outcome: event.ToolDone, text: text}, err
	}
	return failed(fmt.Errorf("there is no tool %q", m.tool)), nil
}

func failed(err error) result { return result{outcome: event.ToolFailed, text: err.Error()} }

// list has a text that is too long for a record: the store keeps it beside the
// journal, durable before the record that names it.
func (h *harness) list() result {
	notes, err := h.files.read()
	if err != nil {
		return failed(err)
	}
	text := fmt.Sprintf("%d bytes of notes\n%s%s", len(notes), notes, strings.Repeat("nothing else in this line\n", 4000))
	return result{outcome: event.ToolDone, text: text}
}

// write changes the workspace, and so somebody has to allow it.
func (h *harness) write(ctx context.Context, call event.ID, m move, line string) (result, error) {
	allowed, why, err := h.ask(ctx, call, m)
	if err != nil {
		return result{}, err
	}
	if !allowed {
		return result{outcome: event.ToolDenied, text: why}, nil
	}
	ref, err := h.files.add(line + "\n")
	if err != nil {
		return failed(err), nil
	}
	return result{event.ToolDone, "written", []event.Body{event.WorkspaceCheckpointed{Checkpoint: event.NewID(), Ref: ref}}}, nil
}
