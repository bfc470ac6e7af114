package event

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/comity-dev/comity/session/gate"
)

func (b SessionStarted) check() error {
	k := KindSessionStarted
	return cmp.Or(
		hexDigits(k, "body.config", b.Config, 64),
		text(k, "body.model", b.Model, 0, MaxName),
		text(k, "body.program", b.Program, 0, MaxName),
		text(k, "body.title", b.Title, 0, MaxText),
		text(k, "body.version", b.Version, 0, MaxName),
		text(k, "body.workspace", b.Workspace, 0, MaxPath),
	)
}

func (b SessionStopped) check() error {
	k := KindSessionStopped
	return cmp.Or(text(k, "body.error", b.Error, 0, MaxError), text(k, "body.reason", b.Reason, 0, MaxText))
}

func (b ConfigurationAdopted) check() error {
	k := KindConfigurationAdopted
	if len(b.Drift) > MaxDrifts {
		return &FieldError{k, "body.drift", fmt.Sprintf("%d entries, limit %d", len(b.Drift), MaxDrifts)}
	}
	for _, d := range b.Drift {
		if err := cmp.Or(
			text(k, "body.drift.field", d.Field, 1, MaxName),
			word(k, "body.drift.level", d.Level, DriftInfo, DriftWarn),
			text(k, "body.drift.new", d.New, 0, MaxText),
			text(k, "body.drift.old", d.Old, 0, MaxText),
		); err != nil {
			return err
		}
	}
	return cmp.Or(
		needDigest(k, "body.adopted", b.Adopted),
		text(k, "body.by", b.By, 0, MaxName),
		count(k, "body.epoch", b.Epoch, 1),
		text(k, "body.note", b.Note, 0, MaxText),
		hexDigits(k, "body.previous", b.Previous, 64),
		text(k, "body.source", b.Source, 0, MaxName),
	)
}

func (b ContextCompacted) check() error {
	k := KindContextCompacted
	return cmp.Or(CheckContent(k, "body.summary", b.Summary), mayID(k, "body.through", b.Through))
}

func (b AuditNoted) check() error {
	k := KindAuditNoted
	return cmp.Or(
		text(k, "body.activity", b.Activity, 1, MaxName),
		text(k, "body.error", b.Error, 0, MaxError),
		text(k, "body.note", b.Note, 0, MaxError),
		word(k, "body.phase", b.Phase, PhaseStarted, PhaseCompleted, PhaseFailed),
	)
}

func (b GatePrepared) check() error {
	k := KindGatePrepared
	return cmp.Or(
		mayID(k, "body.call", b.Call),
		needID(k, "body.gate", b.Gate),
		word(k, "body.asks", b.Asks, gate.KindPermission, gate.KindForm),
	)
}

func (b GateOpened) check() error {
	k := KindGateOpened
	return cmp.Or(
		mayID(k, "body.call", b.Call),
		needID(k, "body.gate", b.Gate),
		word(k, "body.asks", b.Asks, gate.KindPermission, gate.KindForm),
		text(k, "body.subject", b.Subject, 0, MaxName),
	)
}

func (b GateResolved) check() error {
	if err := needID(KindGateResolved, "body.gate", b.Gate); err != nil {
		return err
	}
	err := b.Decision.Check()
	if wrong := (*gate.FieldError)(nil); errors.As(err, &wrong) {
		return &FieldError{KindGateResolved, "body.decision." + wrong.Field, wrong.Detail}
	}
	return err
}

func (b WorkspaceCheckpointed) check() error {
	k := KindWorkspaceCheckpointed
	return cmp.Or(
		hexDigits(k, "body.base", b.Base, 40, 64),
		needID(k, "body.checkpoint", b.Checkpoint),
		text(k, "body.note", b.Note, 0, MaxText),
		text(k, "body.ref", b.Ref, 1, MaxName),
	)
}

func (b WorkspaceRestored) check() error {
	k := KindWorkspaceRestored
	return cmp.Or(needID(k, "body.checkpoint", b.Checkpoint), text(k, "body.note", b.Note, 0, MaxText))
}

func (b RestoreStarted) check() error {
	k := KindRestoreStarted
	return cmp.Or(count(k, "body.epoch", b.Epoch, 1), count(k, "body.tip", b.Tip, 0))
}

func (b RestoreDone) check() error {
	k := KindRestoreDone
	return cmp.Or(
		mayID(k, "body.checkpoint", b.Checkpoint),
		count(k, "body.delegates", b.Delegates, 0),
		count(k, "body.gates", b.Gates, 0),
		count(k, "body.turns", b.Turns, 0),
	)
}

func (b RestoreFailed) check() error {
	return text(KindRestoreFailed, "body.error", b.Error, 1, MaxError)
}
