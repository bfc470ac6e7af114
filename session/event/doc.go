// Package event holds what happened in a session of a coding agent: the kinds of
// events, where each stands, and the byte form in which it is stored. It is pure; it
// does no I/O and knows no journal.
//
// # The kinds
//
//	session    session_started session_stopped configuration_adopted
//	           restore_started restore_done restore_failed
//	turn       turn_started turn_ended input_cancelled
//	step       step_done
//	message    message_added context_compacted
//	tool call  tool_called tool_finished
//	gate       gate_prepared* gate_opened gate_resolved
//	delegate   delegate_started delegate_delivery delegate_ended
//	workspace  workspace_checkpointed workspace_restored
//	audit      audit_noted*
//	live only  text_streamed tool_progressed
//
// Those with a star are internal: no public view holds them. Those that are live
// only are ephemeral: they are delivered and never stored. A harness adds its own
// kinds through a registry, NewKinds; the nil *Kinds has the ones above.
//
// # Order
//
// A journal orders events; this package does not. A reader must take what a crash
// leaves: a turn, a tool call, a gate or a delegate that was begun and never ended
// is open, not wrong. The end of something names it: Call, Gate, Loop, or
// the turn and step of the coordinates.
//
// # The byte form
//
// An event is one object of canonical JSON (RFC 8785 over integers up to 2^53-1; see
// internal/canon) of at most MaxEventBytes, with four members: "body", "header",
// "kind", and "v", the version of the kind's schema, from 1. Members inside body and
// header that have their zero value are left out, but for those that a kind
// requires. For example:
//
//	{"body":{"content":[{"text":"hi","type":"text"}],"role":"assistant"},
//	 "header":{"at":{"loop":"6f1b3c1e-9a54-4c0e-8d3e-2f7a1d0b5c11",
//	                 "session":"0d9f4f0e-52d7-4c56-8a0b-77f7b8a6f3aa"},
//	           "created_at":1767225600000,
//	           "id":"b0a3c9d2-1d54-4a77-9f07-6b0f6a1f1c02"},
//	 "kind":"message_added","v":1}
//
// without the line breaks. Readers take this form alone, so what is read prints the
// same bytes. An unknown member, a name that occurs twice, bytes behind the object, a
// value of another type, a negative number, a value against its rule, or another order
// or spelling is a *DecodeError with the reason; an unknown kind an
// *UnknownEventTypeError; a higher version an *UnsupportedSchemaError.
//
// A schema only grows: a field is added as one that may be left out, and the version
// rises; none is removed or gets another meaning, no bound falls. So a new reader
// reads old journals.
package event
