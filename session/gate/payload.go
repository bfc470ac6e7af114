package gate

// A Kind is the kind of a gate.
type Kind string

// The kinds. A value of any other is refused.
const (
	KindPermission Kind = "permission" // may this tool run?
	KindForm       Kind = "form"       // fields for a person to fill in
)

// A Payload is what a gate asks: exactly one of its members is set.
type Payload struct {
	Form       *Form       `json:"form,omitzero"`
	Permission *Permission `json:"permission,omitzero"`
}

// Kind returns the kind of the member that is set, "" of the zero Payload.
func (p Payload) Kind() Kind {
	switch {
	case p.Permission != nil:
		return KindPermission
	case p.Form != nil:
		return KindForm
	}
	return ""
}

// A Permission asks whether a tool may run.
type Permission struct {
	// Description says in words what the tool would do. At most MaxText bytes.
	Description string `json:"description,omitzero"`
	// Input is the tool's input as the model wrote it, mostly JSON; it is not
	// parsed. At most MaxInput bytes.
	Input string `json:"input,omitzero"`
	// Scopes are how far an approval may reach, each once, at most MaxScopes;
	// none means ScopeOnce alone.
	Scopes []Scope `json:"scopes,omitempty"`
	// Tool names the tool. 1 to MaxName bytes.
	Tool string `json:"tool"`
}

// A Form asks for values.
type Form struct {
	// Fields are what is asked, 1 to MaxFields, each name once.
	Fields []Field `json:"fields"`
	// Message stands above the fields. At most MaxText bytes.
	Message string `json:"message,omitzero"`
}

// A Field is one value that a form asks for.
type Field struct {
	// Choices are the values of FieldChoice and FieldChoices: 1 to MaxChoices,
	// each value once. Other fields have none.
	Choices []Choice `json:"choices,omitempty"`
	// Help and Label are shown. At most MaxText and MaxName bytes.
	Help  string `json:"help,omitzero"`
	Label string `json:"label,omitzero"`
	// Name is what an answer names. 1 to MaxName bytes.
	Name     string `json:"name"`
	Required bool   `json:"required,omitzero"`
	// Secret keeps the answer out of everything but the answer itself.
	Secret bool      `json:"secret,omitzero"`
	Type   FieldType `json:"type"`
}

// A FieldType says what values a field takes.
type FieldType string

// The types of fields. A value of any other is refused.
const (
	FieldText    FieldType = "text"    // any text
	FieldInteger FieldType = "integer" // decimal, from -(2^53-1) to 2^53-1
	FieldBool    FieldType = "bool"    // "true" or "false"
	FieldChoice  FieldType = "choice"  // one of the choices
	FieldChoices FieldType = "choices" // any number of the choices, each once
)

// A Choice is one value that a field offers.
type Choice struct {
	Help  string `json:"help,omitzero"`  // at most MaxText bytes
	Label string `json:"label,omitzero"` // at most MaxName bytes; "" shows the value
	Value string `json:"value"`          // 1 to MaxName bytes
}
