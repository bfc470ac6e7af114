package event

import "fmt"

// Public returns the stored form of what public views may hold of e. It is made
// once, when e is appended, and kept: a page of the past and a live stream have
// the same bytes. It is itself an event that Decode reads, and its own public
// form. The error is that of Encode, or a *NotPublicError.
func (ks *Kinds) Public(e Event) ([]byte, error) {
	if err := ks.Check(e); err != nil {
		return nil, err
	}
	kind, _ := ks.Lookup(e.Body.Kind())
	if kind.Visibility != Public {
		return nil, &NotPublicError{kind.Name}
	}
	if kind.Class == Ephemeral {
		return nil, &EphemeralNotPersistableError{kind.Name}
	}
	var few [usualHeader]byte
	return kind.encodePublic(e, appendHeader(few[:0], &e.Header))
}

// EncodeBoth returns what Encode returns and, of a public event, what Public
// returns; public is nil of an internal one. It costs less than the two: what
// they have in common is done once. The two may be the same memory.
func (ks *Kinds) EncodeBoth(e Event) (stored, public []byte, err error) {
	kind, err := ks.storable(e)
	if err != nil {
		return nil, nil, err
	}
	var few [usualHeader]byte
	header := appendHeader(few[:0], &e.Header)
	if stored, err = kind.encode(e, header); err != nil || kind.Visibility != Public {
		return stored, nil, err
	}
	if kind.public == nil {
		return stored, stored, nil
	}
	if public, err = kind.encodePublic(e, header); err != nil {
		return nil, nil, fmt.Errorf("make the public form: %w", err)
	}
	return stored, public, nil
}

// encodePublic encodes the public form of e, which was checked.
func (k Kind) encodePublic(e Event, header []byte) ([]byte, error) {
	if k.public != nil {
		e.Body = k.public(e.Header, e.Body)
		if err := k.check(e.Body); err != nil {
			return nil, err
		}
	}
	return k.encode(e, header)
}

// publicWorkspace stands for the path of a session's workspace.
func publicWorkspace(session ID) string { return "/sessions/" + string(session) + "/workspace" }

func publicStarted(h Header, b SessionStarted) SessionStarted {
	if b.Workspace != "" {
		b.Workspace = publicWorkspace(h.At.Session)
	}
	return b
}

func publicAdopted(_ Header, b ConfigurationAdopted) ConfigurationAdopted {
	drift := make([]Drift, len(b.Drift))
	for i, d := range b.Drift {
		if d.Field == "workspace" {
			d.New, d.Old = "", ""
		}
		drift[i] = d
	}
	b.Drift = drift
	return b
}

func publicResolved(_ Header, b GateResolved) GateResolved {
	b.Decision = b.Decision.Public()
	return b
}
