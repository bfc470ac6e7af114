package event

// ReadBody and WriteBody let the fuzz tests print what was parsed.
var (
	ReadBody  = readBody
	WriteBody = writeBody
)
