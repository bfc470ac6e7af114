// Package runtimecommand holds the records by which a command that comes from outside
// takes effect at most once, across crashes: an Application is stored before the
// effect, a Disposition after it. It is pure; it does no I/O.
//
// Somebody outside names a command as it likes (CommandID) and gives it one id of ours
// (RuntimeID), once. The owner of the session stores the Application; if the journal
// says that it was stored before, the effect is not done again. A crash between the two
// records leaves an Application without a Disposition: the next owner finds out from
// the journal whether there was an effect and closes the attempt.
//
// # The byte form
//
// Both are one object of canonical JSON of at most MaxBytes, with the member "v", the
// version of the schema: 1. Readers take this form alone, and what is read prints the
// same bytes: here above all, since a doubtful record that is taken for "done" would
// suppress an effect for ever. For example:
//
//	{"command_id":"req-81","command_kind":"input","lease_epoch":7,
//	 "runtime_id":"6f1b3c1e-9a54-4c0e-8d3e-2f7a1d0b5c11","v":1}
//
// without the line break.
package runtimecommand
