// Package command holds what is asked of a session: the commands of a coding agent's
// session and the byte form in which they are stored. It is pure; it does no I/O and
// knows no journal. The commands that a journal holds are its intent log: they show
// what was asked, never that it was done.
//
// # The kinds
//
//	user_input            an input for a loop, of a person or of another loop
//	subagent_result       what a delegate came back with
//	approve_tool_call     decide a permission
//	deny_tool_call        decide a permission
//	provide_input         answer a form
//	cancel_queued         forget an input that waits
//	cancel_delegate       end a delegate
//	interrupt             end the running turn of a loop
//	shutdown              end the session
//	compact               replace what a model sees of the past by a summary
//	process_notification  a process in the background said something or ended
//
// # Delivery phases
//
// A machine's input for a delegate may be stored twice under one id: first as the
// intent to hand it over while the delegate works, later, if that cannot be told to
// have worked, as queued for the delegate's next turn. The two differ in nothing but
// the phase: Unphased of both is the same command.
//
// # The byte form
//
// A command is one object of canonical JSON of at most MaxCommandBytes, with four
// members: "body", "header", "kind", and "v", the version of the schema: 1. Where it is
// sent is not in it; the journal's record keeps that. For example:
//
//	{"body":{"reason":"enough"},
//	 "header":{"agency":"human","id":"b0a3c9d2-1d54-4a77-9f07-6b0f6a1f1c02"},
//	 "kind":"shutdown","v":1}
//
// without the line breaks. As with events, readers take this form alone, and what is
// read prints the same bytes.
package command
