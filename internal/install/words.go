package install

import "strings"

// timeout is how many seconds Claude Code waits for one of our handlers.
const timeout = 5

// writers are the tools of Claude Code that change files.
const writers = "Edit|Write|MultiEdit|NotebookEdit|Bash"

// An event is one of Claude Code's and the word that we give it.
type event struct{ name, word, matcher string }

var events = [...]event{
	{"SessionStart", "session-start", ""},
	{"UserPromptSubmit", "user-prompt-submit", ""},
	{"PreToolUse", "pre-tool-use", writers},
	{"PostToolUse", "post-tool-use", writers},
	{"PostToolUseFailure", "post-tool-use-failure", writers}, // it may have written all the same
	{"Stop", "stop", ""},
	{"SubagentStart", "subagent-start", ""},
	{"SubagentStop", "subagent-stop", ""},
	{"SessionEnd", "session-end", ""},
}

// gitHooks are the hooks of git that we may sit in; the last only with trailers.
var gitHooks = [...]string{"pre-commit", "pre-push", trailerHook}

const trailerHook = "prepare-commit-msg"

// line is the shell line that calls comity with args where there is one.
func (o Options) line(args ...string) string {
	return "command -v " + o.Command[0] + " >/dev/null 2>&1 || exit 0; exec " + o.call(args...)
}

func (o Options) call(args ...string) string {
	return strings.Join(append(o.Command[:len(o.Command):len(o.Command)], args...), " ")
}

func (o Options) claudeLine(e event) string { return o.line("hook", "claude", e.word) }
func (o Options) gitLine(hook string) string {
	return o.line("hook", "git", hook)
}

// ownLine is what a user adds to a hook that is not ours to edit. It leaves what
// stands behind it in the hook to run.
func (o Options) ownLine(hook string) string {
	return "if command -v " + o.Command[0] + " >/dev/null 2>&1; then " + o.call("hook", "git", hook) + ` "$@" || exit; fi`
}

const (
	chained   = ".comity-chained"
	shebang   = "#!/bin/sh\n"
	partBegin = "# comity: begin ("
	partEnd   = "# comity: end\n"
)

// part is what our script does. Lines that others put before or behind it run,
// as they would have done in the hook that it stands for.
func (o Options) part(hook string) string {
	before := `comity_before="${0%/*}/` + hook + chained + `"
if [ -x "$comity_before" ]; then "$comity_before" "$@" || exit; fi
` + o.ownLine(hook) + "\n"
	if hook == "pre-push" { // both read what is pushed
		before = `comity_before="${0%/*}/` + hook + chained + `"
comity_in=$(cat; echo .)
if [ -x "$comity_before" ]; then
	printf %s "${comity_in%.}" 2>/dev/null | "$comity_before" "$@" || exit
fi
if command -v ` + o.Command[0] + ` >/dev/null 2>&1; then
	printf %s "${comity_in%.}" 2>/dev/null | ` + o.call("hook", "git", hook) + ` "$@" || exit
fi
`
	}
	return partBegin + "taken out by: " + o.call("uninstall", "git") + ")\n" +
		"# The hook that was here before is " + hook + chained + " and runs first.\n" + before + partEnd
}

func (o Options) script(hook string) string { return shebang + o.part(hook) }
