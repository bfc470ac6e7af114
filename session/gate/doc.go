// Package gate holds the values of a gate: a question that a session waits on
// until somebody decides it. It is pure; it does no I/O and knows no session.
//
// A gate has two sides, and they differ in who may see them:
//
//   - Payload is what is asked, with everything that an answer is checked
//     against: the input of a tool, the choices, the fields of a form. It is
//     private: it is stored in the session's own log and in no public view.
//   - Decision is how it ended: the action, how far it reaches, who decided.
//     Public gives the part of it that a public view may hold.
//
// # The byte form
//
// Both are one object of canonical JSON (RFC 8785; see internal/canon) with the
// member "v", the version of the schema: 1. Members that have their zero value
// are not written. Readers take this form alone: an unknown member, a name that
// occurs twice, bytes behind the object, a value of another type, a negative
// number, another order or spelling, a text over its bound, each is a
// *DecodeError with the reason. So what is read prints the same bytes. A higher
// "v" is an *UnsupportedSchemaError.
//
// A permission's decision, for example:
//
//	{"action":"approved","by":{"kind":"person","name":"ada"},"scope":"session","v":1}
package gate
