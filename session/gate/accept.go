package gate

import (
	"fmt"
	"slices"
)

// Accepts reports whether d decides p: nil, or a *MismatchError. A permission is
// approved within an offered scope, or denied; a form is answered, with every
// field that is required and no value that its field does not take. Both can be
// cancelled or unavailable. p and d are taken to pass their own Check.
func (p Payload) Accepts(d Decision) error {
	switch d.Action {
	case Cancelled, Unavailable:
		return nil
	case Approved, Denied:
		if p.Permission == nil {
			return &MismatchError{"it asks for no permission"}
		}
		if d.Action == Approved && !slices.Contains(p.Permission.offered(), d.Scope) {
			return &MismatchError{fmt.Sprintf("scope %s was not offered", d.Scope)}
		}
		return nil
	case Answered:
		if p.Form == nil {
			return &MismatchError{"it holds no form"}
		}
		return p.Form.accepts(d.Answers)
	}
	return &MismatchError{"no such action"}
}

func (p *Permission) offered() []Scope {
	if len(p.Scopes) == 0 {
		return []Scope{ScopeOnce}
	}
	return p.Scopes
}

func (f *Form) accepts(answers []Answer) error {
	at := 0 // answers are in the order of the fields
	for _, field := range f.Fields {
		var values []string
		if at < len(answers) && answers[at].Field == field.Name {
			values = answers[at].Values
			at++
		}
		if err := field.accepts(values); err != nil {
			return err
		}
	}
	if at < len(answers) {
		return &MismatchError{fmt.Sprintf("answer %q is for no field, or out of order", answers[at].Field)}
	}
	return nil
}

func (f Field) accepts(values []string) error {
	switch {
	case len(values) == 0 && f.Required:
		return &MismatchError{fmt.Sprintf("field %q is required", f.Name)}
	case len(values) > 1 && f.Type != FieldChoices:
		return &MismatchError{fmt.Sprintf("field %q takes one value", f.Name)}
	}
	for i, v := range values {
		if !f.takes(v) || slices.Contains(values[:i], v) {
			return &MismatchError{fmt.Sprintf("field %q does not take such a value, or not twice", f.Name)}
		}
	}
	return nil
}

func (f Field) takes(v string) bool {
	switch f.Type {
	case FieldText:
		return true
	case FieldInteger:
		return integer(v)
	case FieldBool:
		return v == "true" || v == "false"
	}
	return slices.ContainsFunc(f.Choices, func(c Choice) bool { return c.Value == v })
}
