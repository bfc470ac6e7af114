// Package canon is the one byte form of the JSON that this project signs,
// stores and compares: RFC 8785 (JSON Canonicalization Scheme) over a narrowed
// I-JSON (RFC 7493). It is pure; it does no I/O and knows none of our formats.
//
// # The form
//
//   - There is no whitespace, and nothing follows the value.
//   - The members of an object are sorted by the UTF-16 code units of their
//     names, at every depth, and no name occurs twice.
//   - A string is valid UTF-8, written raw but for the escapes
//     \" \\ \b \t \n \f \r and, for the other characters below U+0020, \u00xx
//     with lowercase hex digits. Nothing else is ever escaped.
//   - A number is an integer from -(2^53-1) to 2^53-1 in decimal: no fraction,
//     no exponent, no leading zero, no "-0". RFC 8785 takes numbers for doubles,
//     under which larger integers change silently; bigger ones travel as strings.
//   - Objects and arrays nest at most MaxDepth deep.
//
// A value has exactly one such form, so bytes that are signed are bytes that
// are stored and relayed. Readers refuse every other spelling rather than
// repair it: two inputs must never share one signature.
//
// # Example
//
// The value
//
//	{ "seq": 7, "note": "caf\u00e9\n", "at": -1, "b": [true, null] }
//
// has the canonical form
//
//	{"at":-1,"b":[true,null],"note":"café\n","seq":7}
//
// where é stands for its two UTF-8 bytes and \n for a backslash and an n.
package canon
