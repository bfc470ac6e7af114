package link

// The readers of bodies and the writers of small frames, for tests from outside.
var (
	ParseMarks   = parseMarks
	ParseEvents  = parseEvents
	ParseReport  = parseReport
	ParseAgain   = parseAgain
	ParseBeat    = parseBeat
	ParsePong    = parsePong
	ParseNumber  = parseNumber
	ParseGoodbye = parseGoodbye
	ParseRefusal = parseRefusal
	ParseWelcome = parseWelcome

	BeatFrame    = beatFrame
	PongFrame    = pongFrame
	NumberFrame  = numberFrame
	GoodbyeFrame = goodbyeFrame
	Signed       = signed
)
