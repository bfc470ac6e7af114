// Package linktest is the suite that every carrier of links passes, and a pair
// of streams in memory that passes it. A carrier gives [Run] a function that
// makes the two ends of a new stream; the suite looks at the stream itself, and
// then at links over it: what one side holds arrives on the other, however the
// stream is cut.
package linktest
