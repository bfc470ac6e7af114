package api

// A HookRequest is what an agent's hook tells of one moment of its work. One
// request does all that the moment needs, so that a hook costs one call.
type HookRequest struct {
	Where
	Client string `json:"client"` // such as "claude-code"
	Event  string `json:"event"`  // one of the hook events below
	// Conversation is the client's own id of the session.
	Conversation string `json:"conversation"`
	// Agent names the sub-agent that acts, as "type/id" or "id"; "" for the main
	// one.
	Agent string `json:"agent,omitempty"`
	// Source says how a session started: startup, resume, clear, compact.
	Source string `json:"source,omitempty"`
	Prompt string `json:"prompt,omitempty"` // first words of what the person asked
	Tool   string `json:"tool,omitempty"`
	// Writes are the paths that the tool is going to write or has written, as
	// the client names them: absolute or relative to Dir, "~/..." in the user's
	// home. They may lie outside of every repository. One that is a folder
	// stands for all below it.
	Writes []string `json:"writes,omitempty"`
	// Into are writes whose path depends on whether there is such a folder.
	Into []HookInto `json:"into,omitempty"`
	// Whole says that what a shell command writes cannot be told from its text.
	// With Under it is somewhere below those paths (or one of them itself),
	// without it is anywhere. It is in addition to Writes and Into.
	Whole bool     `json:"whole,omitempty"`
	Under []string `json:"under,omitempty"`
	// Tree names a git command that changes the whole checkout, such as
	// "git reset --hard", and TreeDir the folder that it works in when that is
	// not Dir.
	Tree    string `json:"tree,omitempty"`
	TreeDir string `json:"tree_dir,omitempty"`
	Reason  string `json:"reason,omitempty"` // of an end
}

// HookInto is the target of a copy or move. When Target is a folder, Names in it
// are written (without Names: something in it), else Target itself.
type HookInto struct {
	Target string   `json:"target"`
	Names  []string `json:"names,omitempty"`
}

// Hook events.
const (
	HookStart         = "start"
	HookPrompt        = "prompt"
	HookBefore        = "before" // a tool is about to run
	HookAfter         = "after"  // a tool has run
	HookStop          = "stop"   // the agent has finished its turn
	HookSubagentStart = "subagent_start"
	HookSubagentStop  = "subagent_stop"
	HookEnd           = "end"
)

// A HookReply says what the hook should answer. An empty one means: nothing, and
// the agent goes on.
type HookReply struct {
	Session string `json:"session,omitempty"`
	// Deny is why the tool must not run, "" when it may.
	Deny string `json:"deny,omitempty"`
	// Tell is for the agent to read: facts, not orders. It must be empty at
	// HookStop, HookSubagentStop and HookEnd: what is told there makes the agent
	// go on, or reaches nobody.
	Tell      string     `json:"tell,omitempty"`
	Conflicts []Conflict `json:"conflicts,omitempty"`
}

// Protection levels of a session: what a hook of its client can do.
const (
	Guarded   = "guarded"   // writes by its tools are stopped
	Advisory  = "advisory"  // it is only told
	Unguarded = "unguarded" // it has no hooks
)

// GuardRequest asks whether paths may be committed or pushed by the acting
// session.
type GuardRequest struct {
	Where
	Hook  string   `json:"hook"`  // pre-commit, pre-push or prepare-commit-msg
	Paths []string `json:"paths"` // repository paths, at most 100,000
}

// GuardReply has the answer: Deny is empty when nothing stands in the way.
type GuardReply struct {
	Session   string     `json:"session,omitempty"`
	Deny      string     `json:"deny,omitempty"`
	Hint      string     `json:"hint,omitempty"`
	Conflicts []Conflict `json:"conflicts,omitempty"`
	// Claims are the acting session's held claims that cover some of the paths.
	Claims []Claim `json:"claims,omitempty"`
}
