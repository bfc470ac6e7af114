package journal

import (
	"github.com/comity-dev/comity/session/command"
)

// A Delivery is what a journal holds of one phased input.
type Delivery struct {
	Fingerprint Fingerprint // without the phase
	Intent      uint64      // sequence of the intent, 0 if none
	Fallback    uint64      // of the fallback, 0 if none
}

// Admit returns whether r may follow on what d says is durable: nil, or
// a *DeliveryTransitionError. The intent comes first, both have the same content
// but for the phase, and each is there once. A record of no phase passes.
//
// It is asked of a record that is not durable yet: a repetition of one that is
// never gets here.
func (d Delivery) Admit(r CommandRecord) error {
	phase := r.DeliveryPhase()
	if phase == command.PhaseNone {
		return nil
	}
	refuse := func(seq uint64, why string) error {
		return &DeliveryTransitionError{CommandID: r.LogicalCommandID(), Phase: string(phase), Reason: why, Seq: seq}
	}
	fp, err := r.NormalizedDeliveryFingerprint()
	if err != nil {
		return err
	}
	switch phase {
	case command.PhaseIntent:
		if d.Intent == 0 {
			return nil
		}
		if d.Fingerprint != fp {
			return refuse(d.Intent, "its intent is durable with other content")
		}
		return refuse(d.Intent, "its intent is durable already")
	case command.PhaseFallbackQueued:
		switch {
		case d.Intent == 0:
			return refuse(0, "no intent is durable before it")
		case d.Fingerprint != fp:
			return refuse(d.Intent, "its content is not that of the intent")
		case d.Fallback != 0:
			return refuse(d.Fallback, "its fallback is durable already")
		}
		return nil
	}
	return refuse(0, "there is no such phase")
}
