package journal

import (
	"strings"

	"github.com/comity-dev/comity/session/command"
	"github.com/comity-dev/comity/session/event"
)

// A CommandRecord is a command on its way to a loop: an entry of the intent log,
// which says what was asked and not that it was done. The route is stored: a
// record that is replayed has the loop that it was appended with.
type CommandRecord struct {
	session event.ID
	loop    event.ID
	cmd     command.Command
	digest  Digest
}

// NewCommandRecord returns the record of cmd, routed to a loop; "" is none.
func NewCommandRecord(sessionID, loopID event.ID, cmd command.Command) CommandRecord {
	return CommandRecord{session: sessionID, loop: loopID, cmd: cmd}
}

// WithDigest returns r with a digest that stands for its content in comparisons;
// see EventRecord.WithDigest. It has no effect on delivery phases, which compare
// the content itself.
func (r CommandRecord) WithDigest(d Digest) CommandRecord {
	r.digest = d
	return r
}

// Command returns the command.
func (r CommandRecord) Command() command.Command { return r.cmd }

// SessionID is the session; LoopID is the loop, "" if none.
func (r CommandRecord) SessionID() event.ID { return r.session }
func (r CommandRecord) LoopID() event.ID    { return r.loop }

// IdempotencyID is PhysicalID as text.
func (r CommandRecord) IdempotencyID() string { return r.PhysicalID().String() }

// LogicalCommandID is the command's id, which both records of a phased input have.
func (r CommandRecord) LogicalCommandID() event.ID { return r.cmd.ID }

// DeliveryPhase is that of a phased input to a delegate, and PhaseNone of all else.
func (r CommandRecord) DeliveryPhase() command.DeliveryPhase { return r.cmd.Phase() }

// PhysicalID tells the two records of a phased input apart.
func (r CommandRecord) PhysicalID() CommandRecordID {
	return CommandRecordID{CommandID: r.cmd.ID, Phase: r.cmd.Phase()}
}

// NormalizedDeliveryFingerprint is the fingerprint of a phased input without its
// phase: that of its other record. The error is a *DeliveryTransitionError when
// the command has no phase.
func (r CommandRecord) NormalizedDeliveryFingerprint() (Fingerprint, error) {
	plain, ok := r.cmd.Unphased()
	if !ok {
		return Fingerprint{}, &DeliveryTransitionError{CommandID: r.cmd.ID, Phase: string(r.cmd.Phase()), Reason: "it is no input in a phase"}
	}
	body, err := command.Encode(plain)
	if err != nil {
		return Fingerprint{}, err
	}
	return FingerprintOf(deliveryKind, body), nil
}

const deliveryKind = "delivery"

// A CommandRecordID tells the records of commands apart.
type CommandRecordID struct {
	CommandID event.ID
	Phase     command.DeliveryPhase
}

const fallbackSuffix = "/" + string(command.PhaseFallbackQueued)

// String is the command's id, with "/fallback_queued" behind it for that phase.
func (id CommandRecordID) String() string {
	if id.Phase == command.PhaseFallbackQueued {
		return id.CommandID.String() + fallbackSuffix
	}
	return id.CommandID.String()
}

// IsFallbackID reports whether id is that of the record of an input that was
// queued for a delegate's next turn.
func IsFallbackID(id string) bool { return strings.HasSuffix(id, fallbackSuffix) }

// ValidateCommandRecordRoute returns why r cannot be sent where it goes: its
// command is not valid, or names another loop itself and must go to it (a machine's input
// without folding, or in a phase), which is a *CommandRouteMismatchError. A record without a loop passes.
func ValidateCommandRecordRoute(r CommandRecord) error {
	if err := r.cmd.Check(); err != nil {
		return err
	}
	target, routed := r.cmd.Routed()
	if routed && r.loop != "" && r.loop != target {
		return &CommandRouteMismatchError{RecordLoopID: r.loop, TargetLoopID: target}
	}
	return nil
}
