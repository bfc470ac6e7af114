package hooks

import (
	"strings"

	"github.com/comity-dev/comity/api"
	"github.com/go-json-experiment/json/jsontext"
)

// What Claude Code says: one JSON object for each event.

// claudeCommon is in every input.
type claudeCommon struct {
	SessionID     string `json:"session_id"`
	CWD           string `json:"cwd"`
	HookEventName string `json:"hook_event_name"`
	AgentID       string `json:"agent_id"`   // set inside a sub-agent
	AgentType     string `json:"agent_type"` // of a sub-agent; of a session started as one, without an id
}

type claudeSessionStart struct {
	claudeCommon
	Source string `json:"source"`
}

type claudeUserPromptSubmit struct {
	claudeCommon
	Prompt string `json:"prompt"`
}

// claudeToolUse is PreToolUse, PostToolUse and PostToolUseFailure. What a
// tool's input looks like, its name tells.
type claudeToolUse struct {
	claudeCommon
	ToolName  string         `json:"tool_name"`
	ToolInput jsontext.Value `json:"tool_input"`
}

// claudeEdit is the input of Write, Edit and MultiEdit.
type claudeEdit struct {
	FilePath *string `json:"file_path"`
}

type claudeNotebookEdit struct {
	NotebookPath *string `json:"notebook_path"`
}

type claudeBash struct {
	Command *string `json:"command"`
}

// claudeStop is Stop, SubagentStart and SubagentStop.
type claudeStop struct {
	claudeCommon
}

type claudeSessionEnd struct {
	claudeCommon
	Reason string `json:"reason"`
}

// claudeEvent is what Claude Code calls the event and what we do.
type claudeEvent struct{ name, event string }

func claudeEventOf(word string) (claudeEvent, bool) {
	switch word {
	case SessionStart:
		return claudeEvent{"SessionStart", api.HookStart}, true
	case Prompt:
		return claudeEvent{"UserPromptSubmit", api.HookPrompt}, true
	case PreToolUse:
		return claudeEvent{"PreToolUse", api.HookBefore}, true
	case PostToolUse:
		return claudeEvent{"PostToolUse", api.HookAfter}, true
	case PostToolUseFailure:
		return claudeEvent{"PostToolUseFailure", api.HookAfter}, true
	case Stop:
		return claudeEvent{"Stop", api.HookStop}, true
	case SubagentStart:
		return claudeEvent{"SubagentStart", api.HookSubagentStart}, true
	case SubagentStop:
		return claudeEvent{"SubagentStop", api.HookSubagentStop}, true
	case SessionEnd:
		return claudeEvent{"SessionEnd", api.HookEnd}, true
	}
	return claudeEvent{}, false
}

func readClaude(word string, in []byte) (api.HookRequest, error) {
	e, ok := claudeEventOf(word)
	if !ok {
		return api.HookRequest{}, &InputError{Reason: UnknownEvent}
	}
	var req api.HookRequest
	var common claudeCommon
	var err error
	switch word {
	case SessionStart:
		var v claudeSessionStart
		err = decode("", in, &v)
		common, req.Source = v.claudeCommon, clip(v.Source, maxWord)
	case Prompt:
		var v claudeUserPromptSubmit
		err = decode("", in, &v)
		common, req.Prompt = v.claudeCommon, clip(v.Prompt, maxPrompt)
	case PreToolUse, PostToolUse, PostToolUseFailure:
		var v claudeToolUse
		if err = decode("", in, &v); err == nil {
			common = v.claudeCommon
			err = v.request(&req, word == PreToolUse)
		}
	case SessionEnd:
		var v claudeSessionEnd
		err = decode("", in, &v)
		common, req.Reason = v.claudeCommon, clip(v.Reason, maxWord)
	default:
		var v claudeStop
		err = decode("", in, &v)
		common = v.claudeCommon
	}
	if err != nil {
		return api.HookRequest{}, err
	}
	if err := common.request(e, &req); err != nil {
		return api.HookRequest{}, err
	}
	return req, nil
}

// request fills in what every event has.
func (c claudeCommon) request(e claudeEvent, req *api.HookRequest) error {
	switch {
	case c.HookEventName != "" && c.HookEventName != e.name:
		return &InputError{Reason: OtherEvent}
	case c.SessionID == "":
		return &InputError{Reason: Missing, Field: "session_id"}
	case len(c.SessionID) > maxID:
		return &InputError{Reason: OutOfBounds, Field: "session_id"}
	case c.CWD == "":
		return &InputError{Reason: Missing, Field: "cwd"}
	case !namable(c.CWD):
		return &InputError{Reason: OutOfBounds, Field: "cwd"}
	}
	req.Event, req.Dir, req.Conversation = e.event, c.CWD, c.SessionID
	if c.AgentID != "" {
		req.Agent = clip(c.AgentID, maxWord)
		if c.AgentType != "" {
			req.Agent = clip(c.AgentType, maxWord) + "/" + req.Agent
		}
	}
	return nil
}

// request tells what the tool writes. A tool that is not named here writes
// nothing that its input would tell.
func (t claudeToolUse) request(req *api.HookRequest, before bool) error {
	if t.ToolName == "" {
		return &InputError{Reason: Missing, Field: "tool_name"}
	}
	req.Tool = clip(t.ToolName, maxTool)
	switch t.ToolName {
	case "Write", "Edit", "MultiEdit":
		var v claudeEdit
		return t.file(req, "file_path", &v, &v.FilePath)
	case "NotebookEdit":
		var v claudeNotebookEdit
		return t.file(req, "notebook_path", &v, &v.NotebookPath)
	case "Bash":
		var v claudeBash
		if err := t.input("command", &v, &v.Command); err != nil {
			return err
		}
		f := readShell(*v.Command, t.CWD)
		if before {
			f.request(req)
		} else {
			f.after(req)
		}
	}
	return nil
}

func (t claudeToolUse) file(req *api.HookRequest, field string, v any, name **string) error {
	if err := t.input(field, v, name); err != nil {
		return err
	}
	path := **name
	if strings.HasPrefix(path, "~") {
		path = "./" + path // the tool does not expand it
	}
	if namable(path) {
		req.Writes = []string{path}
	}
	return nil
}

// input decodes the tool's input into v, of which *word is the field that must
// be there.
func (t claudeToolUse) input(field string, v any, word **string) error {
	if len(t.ToolInput) == 0 {
		return &InputError{Reason: Missing, Field: "tool_input"}
	}
	if err := decode("tool_input", t.ToolInput, v); err != nil {
		return err
	}
	if *word == nil {
		return &InputError{Reason: Missing, Field: "tool_input." + field}
	}
	return nil
}

// What Claude Code reads. An object with other fields than these would be
// another answer.

type claudeOutput struct {
	HookSpecificOutput any `json:"hookSpecificOutput"`
}

type claudeDeny struct {
	HookEventName            string `json:"hookEventName"`
	PermissionDecision       string `json:"permissionDecision"`
	PermissionDecisionReason string `json:"permissionDecisionReason"`
}

type claudeContext struct {
	HookEventName     string `json:"hookEventName"`
	AdditionalContext string `json:"additionalContext"`
}

// writeClaude puts what is to be told beside a denial into its reason: a denial
// has no second text that is shown for sure.
func writeClaude(word string, rep api.HookReply) (any, error) {
	e, ok := claudeEventOf(word)
	if !ok {
		return nil, &InputError{Client: Claude, Event: word, Reason: UnknownEvent}
	}
	switch {
	case rep.Deny == "" && rep.Tell == "":
		return nil, nil
	case rep.Deny != "" && word == PreToolUse:
		reason := rep.Deny
		if rep.Tell != "" {
			reason = tidy(reason + "\n" + rep.Tell)
		}
		return claudeOutput{claudeDeny{e.name, "deny", reason}}, nil
	case rep.Deny != "" || !claudeListens(word):
		return nil, ErrNoPlace
	}
	return claudeOutput{claudeContext{e.name, rep.Tell}}, nil
}

// claudeListens reports whether a text at that event is read without making the
// agent go on. At a stop it would begin another turn, at the end nobody reads.
func claudeListens(word string) bool {
	switch word {
	case Stop, SubagentStop, SessionEnd:
		return false
	}
	return true
}
