package link

// The readers of bodies, for tests from outside.
var (
	ParseMarks   = parseMarks
	ParseEvents  = parseEvents
	ParseReport  = parseReport
	ParseAgain   = parseAgain
	ParseRefusal = parseRefusal
	ParseWelcome = parseWelcome
)
