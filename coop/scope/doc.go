// Package scope says what a claim covers: how it is written, stored and
// compared. It is pure: no I/O, no clock, no state; values and functions are
// safe for concurrent use unless they say otherwise.
//
// docs/format-scope.md is its specification, exact in every rule and bound;
// testdata/vectors/scopes.json is what another implementation must arrive at.
//
// # Entries
//
// A scope is a Set of 1 to 64 entries of at most 256 bytes. An entry has one
// stored form, the bytes that are signed and compared, and Parse refuses every
// other spelling:
//
//	path:a/b.go          one path; it need not exist
//	dir:a/b              a folder, itself and everything below it; dir:. is all
//	glob:src/**/*.go     every path that the pattern matches
//	res:port/3000        a named thing that is no path
//
// The constructors bring a word into that form, and Door does it for what
// people type; what has no such form they refuse, with what to write instead.
//
// # What meets
//
// Two entries meet when some repository path is covered by both. Meets is
// exact for every pair of forms, symmetric, and names such a path. So
//
//   - path:a meets dir:a, because a folder covers its own name;
//   - path:a does not meet path:a/b: claim a/ for what is in a folder;
//   - a/** covers what dir:a covers, a itself included;
//   - a resource meets only the same resource: @port does not meet @port/3000.
//
// Paths, patterns and resources are compared case-folded and normalised, always
// and on every machine: README meets readme, also where both could exist. A
// rule that depended on the disk would make two machines disagree about one
// claim. The folding is simple folding (one character for one) of the Unicode
// version UnicodeVersion, from a table in this package, so that a newer Go
// changes nothing.
//
// # Patterns
//
// "?" is one letter, "*" any number of letters, also none, of one name; "**"
// stands alone between slashes and is any number of names, also none; [a-z] and
// [!a-z] are one letter; {a,b} is written out before anything else, and each
// result is a pattern of its own. A letter is a character with the marks that
// combine with it. Names that begin with a dot are names as others. A backslash
// takes the meaning from a sign. The grammar is closed: what is outside is
// refused, not guessed at.
//
// Bounds: MaxAlternatives results of choices, MaxNesting choices within one
// another, MaxDeep ** and 63 names in each result, MaxStates states in all.
// They bound the work of any meeting by MaxMeetStates, so that Meets needs no
// way to fail. Plan.Meets and an Index, which name no witness, ask large patterns
// in bulk, 64 states at a step: docs/performance.md has what the worst cost.
//
// As an example, src/{api,web}/**/[!_]*.ts is the two patterns
//
//	src/api/**/[!_]*.ts
//	src/web/**/[!_]*.ts
//
// It covers src/api/x.ts and src/web/a/b/Main.TS, and does not cover
// src/api/_x.ts (the class), src/api/.ts (the class takes the dot, and .ts
// is still to come), src/api/x.tsx (ends otherwise) or api/x.ts (patterns
// begin at the top). It meets src/**/index.*, and the
// witness is src/api/index.ts. It does not meet src/*/*.go: no name ends in
// both .ts and .go.
package scope
