package event

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
	e.Body = kind.public(e.Header, e.Body)
	return ks.Encode(e)
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
