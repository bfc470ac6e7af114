package event

// Coordinates say where something is. They nest: each needs those before it.
// Session is a unit of durability with one writer at a time; Loop is one agent
// in it, the root or a delegate; Turn is one input that a loop works on until it
// ends; Step is one call of the model with the tool calls that follow from it.
type Coordinates struct {
	Loop    ID `json:"loop,omitzero"`
	Session ID `json:"session,omitzero"`
	Step    ID `json:"step,omitzero"`
	Turn    ID `json:"turn,omitzero"`
}

// A Level is how deep coordinates reach.
type Level int

// The levels, from none.
const (
	AtNone Level = iota
	AtSession
	AtLoop
	AtTurn
	AtStep
)

// Level returns the deepest coordinate that is set.
func (c Coordinates) Level() Level {
	switch {
	case c.Step != "":
		return AtStep
	case c.Turn != "":
		return AtTurn
	case c.Loop != "":
		return AtLoop
	case c.Session != "":
		return AtSession
	}
	return AtNone
}

// An Agency says who set something in motion.
type Agency string

// The agencies. "" is unsaid; any other value is refused.
const (
	Human   Agency = "human"
	Machine Agency = "machine"
)

// A Cause is what triggered an event or a command, as far as it is known: where
// it was, and by which command, event or tool call. The zero Cause is that of a
// root.
type Cause struct {
	Agency  Agency      `json:"agency,omitzero"`
	At      Coordinates `json:"at,omitzero"`
	Command ID          `json:"command,omitzero"`
	Event   ID          `json:"event,omitzero"`
	Tool    ID          `json:"tool,omitzero"` // a tool call
}

// A Visibility says which views hold an event.
type Visibility string

// The visibilities. Public is the zero value; any other value than these is refused.
const (
	Public   Visibility = ""
	Internal Visibility = "internal" // in no public view, not even as a projection
)

// A Class says whether an event is stored.
type Class int

// The classes.
const (
	Enduring  Class = iota // journalled before it is applied or delivered
	Ephemeral              // delivered live, and lost when nobody listens; never stored
)

// A Scope says whether an event concerns a whole session or one loop of it.
type Scope int

// The scopes.
const (
	ScopeSession Scope = iota
	ScopeLoop
)

// A Header is what every event has.
type Header struct {
	// Agent is the name of the agent of the loop, at most MaxName bytes.
	Agent string      `json:"agent,omitzero"`
	At    Coordinates `json:"at"`
	Cause Cause       `json:"cause,omitzero"`
	// CreatedAt is the time of the author's wall clock, in milliseconds since
	// 1970 UTC, at most MaxInt; 0 is unsaid. It is shown and never compared.
	CreatedAt uint64 `json:"created_at,omitzero"`
	ID        ID     `json:"id"`
	// Visibility is the one of the event's kind.
	Visibility Visibility `json:"visibility,omitzero"`
}

// A Body is what an event says: a value, not a pointer, of one of the structs of
// this package or of a harness's own. Kind is the word of the format.
type Body interface{ Kind() string }

// An Event is something that happened in a session.
type Event struct {
	Header
	Body Body
	// Schema is the version of the kind's schema in which the event was read,
	// and is written again, when that is not the newest one; 0 is the newest.
	Schema uint64
}

// Scope returns ScopeLoop when the event is in a loop.
func (h Header) Scope() Scope {
	if h.At.Loop != "" {
		return ScopeLoop
	}
	return ScopeSession
}
