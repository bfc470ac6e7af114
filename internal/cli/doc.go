// Package cli is the command line: it parses arguments, makes one call of the
// client, and prints the reply. It decides nothing that the daemon could decide.
//
// Results go to standard output, everything else to standard error, where a
// failure is a line "comity: claim src/: src/ is held by ..." and, where there is
// a next step, a line "comity: hint: ...". With --json the reply is printed as the
// daemon sent it, one JSON value a line, and a failure is {"error":{...}} on
// standard output. Exit codes are those of [api.Code.Exit].
//
// What other people's sessions wrote is printed without anything that a terminal
// would obey. Lines for people fit 80 columns; a name that is too long is cut in
// its middle, a key never. A value that ages is printed with its age.
package cli
