package event

// The kinds of this package.
const (
	KindSessionStarted        = "session_started"
	KindSessionStopped        = "session_stopped"
	KindConfigurationAdopted  = "configuration_adopted"
	KindContextCompacted      = "context_compacted"
	KindAuditNoted            = "audit_noted"
	KindTurnStarted           = "turn_started"
	KindTurnEnded             = "turn_ended"
	KindStepDone              = "step_done"
	KindMessageAdded          = "message_added"
	KindInputCancelled        = "input_cancelled"
	KindTextStreamed          = "text_streamed"
	KindToolCalled            = "tool_called"
	KindToolFinished          = "tool_finished"
	KindToolProgressed        = "tool_progressed"
	KindGatePrepared          = "gate_prepared"
	KindGateOpened            = "gate_opened"
	KindGateResolved          = "gate_resolved"
	KindDelegateStarted       = "delegate_started"
	KindDelegateDelivery      = "delegate_delivery"
	KindDelegateEnded         = "delegate_ended"
	KindWorkspaceCheckpointed = "workspace_checkpointed"
	KindWorkspaceRestored     = "workspace_restored"
	KindRestoreStarted        = "restore_started"
	KindRestoreDone           = "restore_done"
	KindRestoreFailed         = "restore_failed"
)

func (SessionStarted) Kind() string        { return KindSessionStarted }
func (SessionStopped) Kind() string        { return KindSessionStopped }
func (ConfigurationAdopted) Kind() string  { return KindConfigurationAdopted }
func (ContextCompacted) Kind() string      { return KindContextCompacted }
func (AuditNoted) Kind() string            { return KindAuditNoted }
func (TurnStarted) Kind() string           { return KindTurnStarted }
func (TurnEnded) Kind() string             { return KindTurnEnded }
func (StepDone) Kind() string              { return KindStepDone }
func (MessageAdded) Kind() string          { return KindMessageAdded }
func (InputCancelled) Kind() string        { return KindInputCancelled }
func (TextStreamed) Kind() string          { return KindTextStreamed }
func (ToolCalled) Kind() string            { return KindToolCalled }
func (ToolFinished) Kind() string          { return KindToolFinished }
func (ToolProgressed) Kind() string        { return KindToolProgressed }
func (GatePrepared) Kind() string          { return KindGatePrepared }
func (GateOpened) Kind() string            { return KindGateOpened }
func (GateResolved) Kind() string          { return KindGateResolved }
func (DelegateStarted) Kind() string       { return KindDelegateStarted }
func (DelegateDelivery) Kind() string      { return KindDelegateDelivery }
func (DelegateEnded) Kind() string         { return KindDelegateEnded }
func (WorkspaceCheckpointed) Kind() string { return KindWorkspaceCheckpointed }
func (WorkspaceRestored) Kind() string     { return KindWorkspaceRestored }
func (RestoreStarted) Kind() string        { return KindRestoreStarted }
func (RestoreDone) Kind() string           { return KindRestoreDone }
func (RestoreFailed) Kind() string         { return KindRestoreFailed }

// builtin is never changed.
var builtin = table(
	NewKind(Rules[SessionStarted]{Most: AtSession, Check: SessionStarted.check, Public: publicStarted}),
	NewKind(Rules[SessionStopped]{Most: AtSession, Check: SessionStopped.check}),
	NewKind(Rules[ConfigurationAdopted]{Most: AtSession, Check: ConfigurationAdopted.check, Public: publicAdopted}),
	NewKind(Rules[ContextCompacted]{Least: AtLoop, Check: ContextCompacted.check}),
	NewKind(Rules[AuditNoted]{Visibility: Internal, Check: AuditNoted.check}),
	NewKind(Rules[TurnStarted]{Least: AtTurn, Most: AtTurn, Check: TurnStarted.check}),
	NewKind(Rules[TurnEnded]{Least: AtTurn, Most: AtTurn, Check: TurnEnded.check}),
	NewKind(Rules[StepDone]{Least: AtStep, Check: StepDone.check}),
	NewKind(Rules[MessageAdded]{Least: AtLoop, Check: MessageAdded.check}),
	NewKind(Rules[InputCancelled]{Check: InputCancelled.check}),
	NewKind(Rules[TextStreamed]{Class: Ephemeral, Least: AtTurn, Check: TextStreamed.check}),
	NewKind(Rules[ToolCalled]{Least: AtTurn, Check: ToolCalled.check}),
	NewKind(Rules[ToolFinished]{Least: AtTurn, Check: ToolFinished.check}),
	NewKind(Rules[ToolProgressed]{Class: Ephemeral, Least: AtTurn, Check: ToolProgressed.check}),
	NewKind(Rules[GatePrepared]{Visibility: Internal, Least: AtLoop, Check: GatePrepared.check}),
	NewKind(Rules[GateOpened]{Least: AtLoop, Check: GateOpened.check}),
	NewKind(Rules[GateResolved]{Least: AtLoop, Check: GateResolved.check, Public: publicResolved}),
	NewKind(Rules[DelegateStarted]{Least: AtLoop, Check: DelegateStarted.check}),
	NewKind(Rules[DelegateDelivery]{Least: AtLoop, Check: DelegateDelivery.check}),
	NewKind(Rules[DelegateEnded]{Least: AtLoop, Check: DelegateEnded.check}),
	NewKind(Rules[WorkspaceCheckpointed]{Check: WorkspaceCheckpointed.check}),
	NewKind(Rules[WorkspaceRestored]{Check: WorkspaceRestored.check}),
	NewKind(Rules[RestoreStarted]{Most: AtSession, Check: RestoreStarted.check}),
	NewKind(Rules[RestoreDone]{Most: AtSession, Check: RestoreDone.check}),
	NewKind(Rules[RestoreFailed]{Most: AtSession, Check: RestoreFailed.check}),
)

func table(kinds ...Kind) map[string]Kind {
	t := make(map[string]Kind, len(kinds))
	for _, k := range kinds {
		t[k.Name] = k
	}
	return t
}
