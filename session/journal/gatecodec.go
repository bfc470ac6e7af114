package journal

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/comity-dev/comity/internal/canon"
	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/gate"
)

// A gatePreparedForm is the stored form: both members in the forms of their own
// packages.
type gatePreparedForm struct {
	Payload  jsontext.Value `json:"payload"`
	Prepared jsontext.Value `json:"prepared"`
}

// EncodeGatePrepared returns the stored form of r: one canonical JSON object of
// the event and the payload, each in its own form. kinds may be nil. The error is
// a *GatePreparedEncodeError.
func EncodeGatePrepared(kinds *event.Kinds, r GatePreparedRecord) ([]byte, error) {
	if err := r.agree(); err != nil {
		return nil, &GatePreparedEncodeError{"prepared", err}
	}
	prepared, err := kinds.Encode(r.prepared)
	if err != nil {
		return nil, &GatePreparedEncodeError{"prepared", err}
	}
	payload, err := gate.EncodePayload(r.payload)
	if err != nil {
		return nil, &GatePreparedEncodeError{"payload", err}
	}
	b, err := canon.Marshal(gatePreparedForm{payload, prepared})
	if err != nil {
		return nil, &GatePreparedEncodeError{"json", err}
	}
	return b, nil
}

// DecodeGatePrepared is the inverse of EncodeGatePrepared and takes nothing else.
// The error is a *GatePreparedDecodeError.
func DecodeGatePrepared(kinds *event.Kinds, b []byte) (r GatePreparedRecord, err error) {
	var form gatePreparedForm
	if err := canon.Check(b); err != nil {
		return GatePreparedRecord{}, &GatePreparedDecodeError{"json", err}
	}
	if err := canon.Read(b, &form); err != nil {
		return GatePreparedRecord{}, &GatePreparedDecodeError{"json", err}
	}
	if r.prepared, err = kinds.Decode(form.Prepared); err != nil {
		return GatePreparedRecord{}, &GatePreparedDecodeError{"prepared", err}
	}
	if r.payload, err = gate.DecodePayload(form.Payload); err != nil {
		return GatePreparedRecord{}, &GatePreparedDecodeError{"payload", err}
	}
	if err := r.agree(); err != nil {
		return GatePreparedRecord{}, &GatePreparedDecodeError{"prepared", err}
	}
	return r, nil
}

// agree returns how the event is not that of the payload.
func (r GatePreparedRecord) agree() error {
	body, ok := r.prepared.Body.(event.GatePrepared)
	switch {
	case !ok:
		return errors.New("the event is not that of a prepared gate")
	case body.Asks != r.payload.Kind():
		return fmt.Errorf("the event says that the gate is a %q, the payload is a %q", body.Asks, r.payload.Kind())
	}
	return nil
}

// A GatePreparedEncodeError reports a prepared gate that cannot be stored.
type GatePreparedEncodeError struct {
	Stage string // "prepared", "payload" or "json"
	Cause error
}

func (e *GatePreparedEncodeError) Error() string {
	return fmt.Sprintf("encode prepared gate: %s: %v", e.Stage, e.Cause)
}

func (e *GatePreparedEncodeError) Unwrap() error { return e.Cause }

// A GatePreparedDecodeError reports bytes that are no prepared gate.
type GatePreparedDecodeError struct {
	Stage string // "json", "prepared" or "payload"
	Cause error
}

func (e *GatePreparedDecodeError) Error() string {
	return fmt.Sprintf("decode prepared gate: %s: %v", e.Stage, e.Cause)
}

func (e *GatePreparedDecodeError) Unwrap() error { return e.Cause }
