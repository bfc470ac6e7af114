package journal

import (
	"errors"
	"fmt"

	"github.com/comity-dev/comity/session/command"
	"github.com/comity-dev/comity/session/event"
)

// Kinds are what a journal can write and read: the registry of its event kinds,
// and what it knows of opaque ones. The zero value, and a nil *Kinds, know the
// kinds of package event and take every opaque record. It is not changed once it
// is in use.
type Kinds struct {
	Events *event.Kinds // nil: those of package event
	Opaque *OpaqueKinds // nil: all are taken

	// Project makes the public form of a public event; nil is Events.Public. It is
	// called once, when the event is appended: what it returns is what every
	// reader gets, for ever. Nil bytes keep the event private. Projection is its
	// version, which is stored beside the result; 0 is 1.
	Project    func(event.Event) ([]byte, error)
	Projection uint16
}

// Encode returns the frame that rec is stored in, but for what the writer adds:
// epoch, token, place, and where content is stored that is too long for a frame.
// sessionID is the session whose journal it is; an event, a gate, a command or
// a fence of another is refused.
// The error is a *RecordKindError when rec is of no family, or why its codec
// refuses it.
func (k *Kinds) Encode(sessionID event.ID, rec JournalRecord) (*Frame, error) {
	f := new(Frame)
	if err := k.EncodeTo(f, sessionID, rec); err != nil {
		return nil, err
	}
	return f, nil
}

// EncodeTo is Encode into a frame that is of no use any more. After an error f
// holds nothing that can be used. Its two fields may be the same memory, and that
// of rec.
func (k *Kinds) EncodeTo(f *Frame, sessionID event.ID, rec JournalRecord) error {
	if k == nil {
		k = new(Kinds)
	}
	family, ok := familyOf(rec)
	if !ok {
		return &RecordKindError{}
	}
	*f = Frame{Family: family, ID: rec.IdempotencyID(), Schema: 1}
	var err error
	switch r := rec.(type) {
	case EventRecord:
		err = k.encodeEvent(f, sessionID, r)
	case CommandRecord:
		f.Route, f.Semantic = r.loop.String(), r.digest
		if f.Body.Bytes, err = command.Encode(r.cmd); err == nil {
			err = sameSession(sessionID, r.session)
		}
	case FenceRecord:
		if f.Body.Bytes, err = EncodeLeaseFence(r.fence); err == nil {
			err = sameSession(sessionID, r.session)
		}
	case GatePreparedRecord:
		if err = sameSession(sessionID, r.prepared.At.Session); err == nil {
			f.Body.Bytes, err = EncodeGatePrepared(k.Events, r)
		}
	case CommandApplicationRecord:
		f.Body.Bytes, err = EncodeCommandApplication(r)
	case CommandDispositionRecord:
		f.Body.Bytes, err = EncodeCommandDisposition(r)
	case OpaqueRecord:
		err = k.encodeOpaque(f, r)
	}
	if err != nil {
		return err
	}
	// What only the writer knows is filled in to see that the rest is right.
	f.Epoch, f.Token, f.Batch, f.Of = 1, Token{1}, 1, 1
	err = f.check()
	f.Epoch, f.Token, f.Batch, f.Of = 0, Token{}, 0, 0
	return err
}

func (k *Kinds) encodeEvent(f *Frame, sessionID event.ID, r EventRecord) (err error) {
	if r.ev.Body == nil {
		return errors.New("an event without a body")
	}
	if r.ev.Body.Kind() == event.KindGatePrepared {
		return errors.New("a prepared gate is stored as a GatePreparedRecord, never as an event")
	}
	if err := sameSession(sessionID, r.ev.At.Session); err != nil {
		return err
	}
	f.Semantic = r.digest
	if k.Project == nil {
		f.Body.Bytes, f.Public.Bytes, err = k.Events.EncodeBoth(r.ev)
	} else if f.Body.Bytes, err = k.Events.Encode(r.ev); err == nil && r.ev.Visibility == event.Public {
		if f.Public.Bytes, err = k.Project(r.ev); err != nil {
			err = fmt.Errorf("make the public form: %w", err)
		}
	}
	if err != nil {
		return err
	}
	if f.Public.Bytes != nil {
		f.HasPublic, f.Projection = true, max(k.Projection, 1)
	}
	return nil
}

func (k *Kinds) encodeOpaque(f *Frame, r OpaqueRecord) error {
	f.Kind, f.Schema, f.Semantic = r.Kind, max(r.Schema, 1), r.Digest
	f.Body.Bytes = r.Body
	if r.Public != nil {
		f.HasPublic, f.Projection, f.Public.Bytes = true, 1, r.Public
	}
	return k.Opaque.check(r.Kind, f.Schema, r.Body)
}

// sameSession returns why something of session got has no place in the journal
// of session want.
func sameSession(want, got event.ID) error {
	if want != got {
		return fmt.Errorf("it is of session %s, and the journal of session %s", got, want)
	}
	return nil
}

// Decode returns the record that f holds, once the content of its body is in it:
// the inverse of Encode, which takes nothing else, but that an event or a gate may be of
// another session, from which the journal was copied. What it returns may alias f.
func (k *Kinds) Decode(sessionID event.ID, f *Frame) (JournalRecord, error) {
	if k == nil {
		k = new(Kinds)
	}
	rec, err := k.decode(sessionID, f)
	if err != nil {
		return nil, err
	}
	if id := rec.IdempotencyID(); id != f.ID {
		return nil, &FrameError{fmt.Sprintf("the frame has id %q and its content %q", f.ID, id)}
	}
	return rec, nil
}

func (k *Kinds) decode(sessionID event.ID, f *Frame) (JournalRecord, error) {
	body := f.Body.Bytes
	if f.Schema > 1 && f.Family != FamilyOpaque {
		return nil, &NewerSchemaError{f.Family.String(), f.Schema, 1}
	}
	switch f.Family {
	case FamilyEvent:
		ev, err := k.Events.Decode(body)
		if err == nil && ev.Body.Kind() == event.KindGatePrepared {
			err = &FrameError{"a prepared gate that is stored as an event"}
		}
		if err == nil && f.HasPublic && ev.Visibility != event.Public {
			err = &FrameError{"a public form of an internal event"}
		}
		return EventRecord{ev, f.Semantic}, err
	case FamilyCommand:
		cmd, err := command.Decode(body)
		loop := event.ID(f.Route)
		if err == nil && loop != "" && !loop.Valid() {
			err = &FrameError{"a route that is no id"}
		}
		return CommandRecord{sessionID, loop, cmd, f.Semantic}, err
	case FamilyFence:
		fence, err := DecodeLeaseFence(body)
		if err == nil {
			err = ownEpoch(f, fence.Epoch)
		}
		return FenceRecord{sessionID, fence}, err
	case FamilyGatePrepared:
		return DecodeGatePrepared(k.Events, body)
	case FamilyApplication:
		r, err := DecodeCommandApplication(body)
		if err == nil {
			err = ownEpoch(f, r.app.LeaseEpoch)
		}
		return r, err
	case FamilyDisposition:
		r, err := DecodeCommandDisposition(body)
		if err == nil {
			err = ownEpoch(f, r.d.LeaseEpoch)
		}
		return r, err
	case FamilyOpaque:
		r := OpaqueRecord{Kind: f.Kind, ID: f.ID, Schema: f.Schema, Body: body, Digest: f.Semantic}
		if f.HasPublic {
			r.Public = append([]byte{}, f.Public.Bytes...)
		}
		return r, k.Opaque.check(f.Kind, f.Schema, body)
	}
	return nil, &UnknownFamilyError{f.Family}
}

// ownEpoch returns how the epoch in a content is not that of its frame: a writer
// that claims another one.
func ownEpoch(f *Frame, epoch uint64) error {
	if epoch != f.Epoch {
		return &FrameError{fmt.Sprintf("its content has epoch %d, its frame %d", epoch, f.Epoch)}
	}
	return nil
}
