package command_test

import (
	"fmt"

	"github.com/comity-dev/comity/session/command"
	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/gate"
)

func id(n int) command.ID {
	return command.ID(fmt.Sprintf("%08x-0000-4000-8000-%012x", n, n))
}

var ada = gate.Decider{Kind: gate.Person, Name: "ada", Via: "cli"}

// full has one command of each kind with every field set.
func full() []command.Command {
	var all []command.Command
	for i, body := range []command.Body{
		command.UserInput{Content: event.Text("caf\u00e9 <b>\n"), Target: id(2), NoFold: true, Phase: command.PhaseIntent, Attempt: "a-1"},
		command.SubagentResult{Delegate: id(3), Call: id(4), Outcome: event.Done, Content: event.Text("found")},
		command.ApproveToolCall{Gate: id(5), Call: id(4), Scope: gate.ScopeOnce, By: ada},
		command.DenyToolCall{Gate: id(5), Call: id(4), Reason: "no", By: ada},
		command.ProvideInput{Gate: id(5), By: ada, Answers: []gate.Answer{{Field: "f", Values: []string{"v"}}}},
		command.CancelQueued{Command: id(6), Reason: "r"},
		command.CancelDelegate{Delegate: id(3), Reason: "r"},
		command.Interrupt{Target: id(2), Reason: "r"},
		command.Shutdown{Reason: "r"},
		command.Compact{Target: id(2), Instructions: "short"},
		command.ProcessNotification{Target: id(2), Process: "server", Exit: "1", Output: "bye"},
	} {
		all = append(all, command.Command{Header: command.Header{
			ID: id(100 + i), Agency: event.Machine, CreatedAt: 1767225600000,
			Cause: event.Cause{At: event.Coordinates{Session: id(1), Loop: id(2)}, Event: id(7), Agency: event.Human},
		}, Body: body})
	}
	return all
}

// lean has one command of each kind with nothing that may be left out.
func lean() []command.Command {
	var all []command.Command
	for i, body := range []command.Body{
		command.UserInput{}, command.SubagentResult{Delegate: id(3), Outcome: event.Failed}, command.ApproveToolCall{Gate: id(5), Scope: gate.ScopeOnce, By: gate.Decider{Kind: gate.Policy}},
		command.DenyToolCall{Gate: id(5), By: gate.Decider{Kind: gate.Model}}, command.ProvideInput{Gate: id(5), By: gate.Decider{Kind: gate.Person}},
		command.CancelQueued{Command: id(6)}, command.CancelDelegate{Delegate: id(3)}, command.Interrupt{}, command.Shutdown{}, command.Compact{},
		command.ProcessNotification{Process: "server"},
	} {
		all = append(all, command.Command{Header: command.Header{ID: id(200 + i)}, Body: body})
	}
	return all
}
