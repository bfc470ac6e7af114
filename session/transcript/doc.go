// Package transcript makes a session readable: from the records of its journal to
// Markdown, to JSON, or to one HTML file that needs nothing else.
//
// It reads records once, front to back, and writes as it reads: what it holds is
// bounded, however long the session is. It shows turns, their steps, what was
// said, tool calls with input and result, gates with decision and decider, and the
// work of delegates inside of the tool call that set them to work. A session that
// still runs, or that a crash cut off, is shown as far as it got: what has no end yet
// says so.
//
// # What is bound to what
//
// A result is bound to its call, a decision to its gate, a gate and a delegate to the
// call that they name, by id. What names something that is not there, or no more
// within reach, is shown where it stands, and is a warning. To keep the order of the
// calls of one loop, a call that is not finished holds back what follows it in this loop,
// up to a bound; then it is shown as running, and its result comes later, by itself.
//
// # What is shown
//
// Without Options.Private the transcript has no payload of a gate, no answer, no audit and
// no path of the workspace, and of a harness's own events and records only their public
// form. Beyond
// the public view of the session it has what commands say: why something was asked for, what
// a process that was left running wrote, the first line of an input that waits. It does not
// look into texts: what a tool was given and gave back is there.
//
// # What is hostile
//
// All texts are taken for hostile. In HTML they are escaped, and the file forbids
// scripts and every request to others by its own policy; in Markdown they stand in fences
// longer than any in them. In both, characters that reorder, hide or control are shown as
// their code point, and colour codes of terminals are left out. JSON has the texts as they
// are, with those characters as escapes.
package transcript
