package main

import "fmt"

const model = "scripted-1"

// A move is what the model answers: words, and one call of a tool.
type move struct {
	task  string // what the turn is about, if it begins with this move
	says  string
	tool  string
	input string
	last  bool // the turn ends behind it
}

// think is the model: what comes next is told by how much was done. A real one
// would be sent the messages, which are in the journal too.
func think(done uint64) move {
	round := done/3 + 1
	m := move{task: fmt.Sprintf("Write note %d.", round)}
	switch done % 3 {
	case 0:
		m.says, m.tool, m.input = "I look at what is there.", "list", `{}`
	case 1:
		m.says, m.tool, m.input = "I write it down.", "write", fmt.Sprintf(`{"line":"note %d"}`, round)
	case 2:
		m.says, m.tool, m.input, m.last = "Somebody else may read it.", "delegate", fmt.Sprintf(`{"task":"Read note %d."}`, round), true
	}
	return m
}
