package event

import "cmp"

func (b TurnStarted) check() error {
	k := KindTurnStarted
	return cmp.Or(count(k, "body.index", b.Index, 1), CheckContent(k, "body.input", b.Input))
}

func (b TurnEnded) check() error {
	k := KindTurnEnded
	return cmp.Or(
		text(k, "body.error", b.Error, 0, MaxError),
		word(k, "body.outcome", b.Outcome, Done, Failed, Interrupted, Rejected),
		b.Usage.check(k),
	)
}

func (b StepDone) check() error {
	k := KindStepDone
	return cmp.Or(
		count(k, "body.index", b.Index, 1),
		text(k, "body.model", b.Model, 0, MaxName),
		text(k, "body.stop", b.Stop, 0, MaxName),
		b.Usage.check(k),
	)
}

func (u Usage) check(kind string) error {
	return cmp.Or(
		count(kind, "body.usage.cache_read", u.CacheRead, 0),
		count(kind, "body.usage.cache_write", u.CacheWrite, 0),
		count(kind, "body.usage.input", u.Input, 0),
		count(kind, "body.usage.output", u.Output, 0),
	)
}

func (b MessageAdded) check() error {
	k := KindMessageAdded
	return cmp.Or(
		CheckContent(k, "body.content", b.Content),
		word(k, "body.role", b.Role, RoleUser, RoleAssistant, RoleSystem),
	)
}

func (b InputCancelled) check() error {
	k := KindInputCancelled
	return cmp.Or(needID(k, "body.command", b.Command), text(k, "body.reason", b.Reason, 0, MaxText))
}

func (b TextStreamed) check() error {
	k := KindTextStreamed
	return cmp.Or(text(k, "body.text", b.Text, 0, MaxEventBytes), word(k, "body.type", b.Type, BlockText, BlockThinking))
}

func (b ToolCalled) check() error {
	k := KindToolCalled
	return cmp.Or(
		needID(k, "body.call", b.Call),
		text(k, "body.input", b.Input, 0, MaxEventBytes),
		text(k, "body.name", b.Name, 1, MaxName),
		text(k, "body.use", b.Use, 0, MaxName),
	)
}

func (b ToolFinished) check() error {
	k := KindToolFinished
	return cmp.Or(
		needID(k, "body.call", b.Call),
		count(k, "body.millis", b.Millis, 0),
		word(k, "body.outcome", b.Outcome, ToolDone, ToolFailed, ToolDenied, ToolCancelled),
		CheckContent(k, "body.result", b.Result),
	)
}

func (b ToolProgressed) check() error {
	k := KindToolProgressed
	return cmp.Or(needID(k, "body.call", b.Call), text(k, "body.text", b.Text, 0, MaxEventBytes))
}

func (b DelegateStarted) check() error {
	k := KindDelegateStarted
	return cmp.Or(
		text(k, "body.agent", b.Agent, 0, MaxName),
		mayID(k, "body.call", b.Call),
		needID(k, "body.loop", b.Loop),
		text(k, "body.model", b.Model, 0, MaxName),
		CheckContent(k, "body.task", b.Task),
	)
}

func (b DelegateDelivery) check() error {
	k := KindDelegateDelivery
	return cmp.Or(
		needID(k, "body.command", b.Command),
		needID(k, "body.loop", b.Loop),
		word(k, "body.state", b.State, SteerReserved, ResolvedUnknown, ResolvedUntrackable),
	)
}

func (b DelegateEnded) check() error {
	k := KindDelegateEnded
	return cmp.Or(
		text(k, "body.error", b.Error, 0, MaxError),
		needID(k, "body.loop", b.Loop),
		word(k, "body.outcome", b.Outcome, Done, Failed, Interrupted, Rejected),
		CheckContent(k, "body.result", b.Result),
	)
}
