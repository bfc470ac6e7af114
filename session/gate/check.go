package gate

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Check reports whether p can be stored: nil, or a *FieldError.
func (p Payload) Check() error {
	switch {
	case p.Permission != nil && p.Form != nil:
		return &FieldError{"form", "a payload asks for a permission or holds a form, not both"}
	case p.Permission != nil:
		return p.Permission.check()
	case p.Form != nil:
		return p.Form.check()
	}
	return &FieldError{"permission", "missing: a payload asks for a permission or holds a form"}
}

func (p *Permission) check() error {
	if len(p.Scopes) > MaxScopes {
		return tooMany("permission.scopes", len(p.Scopes), MaxScopes)
	}
	for i, s := range p.Scopes {
		if !s.known() || slices.Contains(p.Scopes[:i], s) {
			return &FieldError{"permission.scopes", "an unknown scope, or one that is there twice"}
		}
	}
	return cmp.Or(
		text("permission.description", p.Description, 0, MaxText),
		text("permission.input", p.Input, 0, MaxInput),
		text("permission.tool", p.Tool, 1, MaxName),
	)
}

func (f *Form) check() error {
	if len(f.Fields) == 0 {
		return &FieldError{"form.fields", "missing"}
	}
	if len(f.Fields) > MaxFields {
		return tooMany("form.fields", len(f.Fields), MaxFields)
	}
	for i, field := range f.Fields {
		if err := field.check(); err != nil {
			return err
		}
		if slices.ContainsFunc(f.Fields[:i], func(g Field) bool { return g.Name == field.Name }) {
			return &FieldError{"form.fields.name", "there twice"}
		}
	}
	return text("form.message", f.Message, 0, MaxText)
}

func (f Field) check() error {
	choices := f.Type == FieldChoice || f.Type == FieldChoices
	switch {
	case !choices && f.Type != FieldText && f.Type != FieldInteger && f.Type != FieldBool:
		return &FieldError{"form.fields.type", "unknown"}
	case choices != (len(f.Choices) > 0):
		return &FieldError{"form.fields.choices", "a field has choices when its type says so, and only then"}
	case len(f.Choices) > MaxChoices:
		return tooMany("form.fields.choices", len(f.Choices), MaxChoices)
	}
	for i, c := range f.Choices {
		if err := cmp.Or(
			text("form.fields.choices.help", c.Help, 0, MaxText),
			text("form.fields.choices.label", c.Label, 0, MaxName),
			text("form.fields.choices.value", c.Value, 1, MaxName),
		); err != nil {
			return err
		}
		if slices.ContainsFunc(f.Choices[:i], func(d Choice) bool { return d.Value == c.Value }) {
			return &FieldError{"form.fields.choices.value", "there twice"}
		}
	}
	return cmp.Or(
		text("form.fields.help", f.Help, 0, MaxText),
		text("form.fields.label", f.Label, 0, MaxName),
		text("form.fields.name", f.Name, 1, MaxName),
	)
}

// Check reports whether d can be stored: nil, or a *FieldError. Whether it
// answers a question is for Payload.Accepts.
func (d Decision) Check() error {
	switch d.Action {
	case Approved, Denied, Answered, Cancelled, Unavailable:
	default:
		return &FieldError{"action", "missing or unknown"}
	}
	switch {
	case d.Action == Approved && !d.Scope.known():
		return &FieldError{"scope", "missing or unknown: an approval has one"}
	case d.Action != Approved && d.Scope != "":
		return &FieldError{"scope", "only an approval has one"}
	}
	if err := CheckAnswers("answers", d.Answers); err != nil {
		return err
	}
	if d.Action != Answered && len(d.Answers) > 0 {
		return &FieldError{"answers", "only what was answered has them"}
	}
	return cmp.Or(d.By.check(), text("audit", d.Audit, 0, MaxText), text("reason", d.Reason, 0, MaxText))
}

func (d Decider) check() error {
	switch d.Kind {
	case Person, Policy, Model, System:
	default:
		return &FieldError{"by.kind", "missing or unknown"}
	}
	return cmp.Or(text("by.name", d.Name, 0, MaxName), text("by.via", d.Via, 0, MaxName))
}

func (s Scope) known() bool { return s == ScopeOnce || s == ScopeSession || s == ScopeProject }

// CheckAnswers reports whether answers can be stored under a member of that
// name: nil, or a *FieldError.
func CheckAnswers(member string, answers []Answer) error {
	if len(answers) > MaxFields {
		return tooMany(member, len(answers), MaxFields)
	}
	for i, a := range answers {
		if err := text(member+".field", a.Field, 1, MaxName); err != nil {
			return err
		}
		if slices.ContainsFunc(answers[:i], func(b Answer) bool { return b.Field == a.Field }) {
			return &FieldError{member + ".field", "there twice"}
		}
		if len(a.Values) > MaxValues {
			return tooMany(member+".values", len(a.Values), MaxValues)
		}
		for _, v := range a.Values {
			if err := text(member+".values", v, 0, MaxAnswer); err != nil {
				return err
			}
		}
	}
	return nil
}

// integer reports whether s is an integer in its one spelling, within the bounds
// that JSON keeps exactly.
func integer(s string) bool {
	const most = 1<<53 - 1
	n, err := strconv.ParseInt(s, 10, 64)
	return err == nil && strconv.FormatInt(n, 10) == s && -most <= n && n <= most
}

func text(field, s string, least, most int) error {
	switch {
	case len(s) < least:
		return &FieldError{field, "missing"}
	case len(s) > most:
		return tooLong(field, len(s), most)
	case !utf8.ValidString(s):
		return &FieldError{field, "not UTF-8"}
	}
	return nil
}

func tooLong(field string, got, limit int) error {
	return &FieldError{field, fmt.Sprintf("%d bytes, limit %d", got, limit)}
}

func tooMany(field string, got, limit int) error {
	return &FieldError{field, fmt.Sprintf("%d entries, limit %d", got, limit)}
}
