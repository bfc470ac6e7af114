// Package api holds the words that comity's daemon and everybody who talks to
// it share: the operations, their requests and replies, and the errors. It is a
// leaf: it imports nothing of the module and does nothing.
//
// Every operation is one Go function on the daemon's side and one call of the
// client. [Operations] describes each once; the routes, the OpenAPI document
// and the client are made from that description, so they cannot disagree.
//
// Field names are JSON names and stay as they are within /v1. New fields are
// added, none is removed or changes its meaning; a reader ignores what it does
// not know. Times are Unix seconds of the author's own clock and inform only;
// ages are milliseconds measured by this machine.
package api

// Version is the version of the API that this build speaks, the 1 of /v1.
const Version = 1

// Where says where a request comes from. It is part of every request that
// concerns a repository.
type Where struct {
	// Dir is the absolute path of the folder that the caller stands in. It
	// chooses the repository and the checkout, and scopes are relative to it.
	Dir string `json:"dir"`
	// Session names the acting session; empty means that the daemon finds it
	// from the calling process.
	Session string `json:"session,omitempty"`
}

// Place returns w itself; requests that embed Where have it, and that is how
// the daemon reads the place of any request.
func (w Where) Place() Where { return w }

// Durability says what the disk holds of an event when the call returns.
type Durability string

const (
	// Synced: on disk and synced.
	Synced Durability = "synced"
	// Memory: no disk is configured; the event lives as long as the process.
	Memory Durability = "memory"
	// Failed: the write failed and whether it is on disk is not known.
	Failed Durability = "failed"
)

// Written names the event that an operation wrote. Every reply of a writing
// operation has it; Event is empty when there was nothing to write.
type Written struct {
	Event      string     `json:"event,omitempty"` // <stream>/<seq>
	Lamport    uint64     `json:"lamport,omitempty"`
	Durability Durability `json:"durability,omitempty"`
	// OpenedSession names the session that this call opened for the calling
	// terminal, because it had none.
	OpenedSession string `json:"opened_session,omitempty"`
}
