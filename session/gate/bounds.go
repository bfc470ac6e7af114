package gate

// Schema is the version of the byte forms of this package.
const Schema = 1

// Bounds, all in bytes unless they say otherwise. They are part of the format:
// they may rise between versions of the schema and never fall.
const (
	MaxPayloadBytes  = 1 << 20 // an encoded Payload
	MaxDecisionBytes = 1 << 20 // an encoded Decision
	MaxName          = 256     // names and values of choices
	MaxText          = 4096    // what is shown to the one who decides
	MaxInput         = 1 << 19 // the input of a tool
	MaxAnswer        = 1 << 16 // one value of an answer
	MaxScopes        = 8       // scopes offered
	MaxFields        = 64      // fields of a form
	MaxChoices       = 256     // choices of one field
	MaxValues        = 256     // values of one answer
)
