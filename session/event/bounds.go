package event

// Schema is the version of the envelope and of the kinds of this package.
const Schema = 1

// Bounds, all in bytes unless they say otherwise. They are part of the format:
// they may rise between versions of the schema and never fall.
const (
	MaxEventBytes = 16 << 20  // an encoded event
	MaxName       = 256       // names of agents, models, tools, files
	MaxText       = 4096      // a reason, a title, a note
	MaxError      = 64 << 10  // the text of an error
	MaxPath       = 4096      // a path of a workspace
	MaxBlocks     = 4096      // blocks of one content
	MaxDrifts     = 256       // changes of a configuration
	MaxInt        = 1<<53 - 1 // a number
)
