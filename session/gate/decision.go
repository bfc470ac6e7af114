package gate

// An Action is how a gate ended.
type Action string

// The actions. A value of any other is refused.
const (
	Approved    Action = "approved"    // a permission was given
	Denied      Action = "denied"      // a permission was refused
	Answered    Action = "answered"    // a form was filled in
	Cancelled   Action = "cancelled"   // nobody decides any more: what asked was ended
	Unavailable Action = "unavailable" // the gate did not survive a restore
)

// A Scope is how far an approval reaches.
type Scope string

// The scopes. A value of any other is refused.
const (
	ScopeOnce    Scope = "once"    // this call alone
	ScopeSession Scope = "session" // calls like it, to the end of the session
	ScopeProject Scope = "project" // calls like it, in every session of the project
)

// A DeciderKind says what decided.
type DeciderKind string

// The kinds of deciders. A value of any other is refused.
const (
	Person DeciderKind = "person" // somebody was asked
	Policy DeciderKind = "policy" // a rule that somebody wrote
	Model  DeciderKind = "model"  // an automatic review
	System DeciderKind = "system" // the harness itself: a shutdown, a restore
)

// A Decider is who or what decided.
type Decider struct {
	Kind DeciderKind `json:"kind"`
	Name string      `json:"name,omitzero"` // of the person, the rule or the model; at most MaxName bytes
	Via  string      `json:"via,omitzero"`  // where: "cli", "hook"; at most MaxName bytes
}

// An Answer holds the values of one field of a form.
type Answer struct {
	Field  string   `json:"field"`            // 1 to MaxName bytes
	Values []string `json:"values,omitempty"` // at most MaxValues of MaxAnswer bytes
}

// A Decision is how a gate ended, and who ended it.
type Decision struct {
	Action Action `json:"action"`
	// Answers are those of an answered form, in the order of its fields, each
	// field at most once; other actions have none. Private.
	Answers []Answer `json:"answers,omitempty"`
	// Audit is what an automatic decider says of its grounds. At most MaxText
	// bytes. Private.
	Audit string  `json:"audit,omitzero"`
	By    Decider `json:"by"`
	// Reason is what the decider says to the one who asked. At most MaxText bytes.
	Reason string `json:"reason,omitzero"`
	// Scope is set with Approved alone, and always then.
	Scope Scope `json:"scope,omitzero"`
}

// Public returns the part of d that a public view may hold: it has no answers
// and no audit.
func (d Decision) Public() Decision {
	d.Answers, d.Audit = nil, ""
	return d
}
