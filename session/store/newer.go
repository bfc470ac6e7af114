package store

import (
	"errors"

	"github.com/comity-dev/comity/session/command"
	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/gate"
	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/session/runtimecommand"
)

// IsNewer reports whether err says that a record is whole and of a form, or of a
// kind, that this build does not know: a newer build wrote it, or a harness whose
// kinds are not in Options.Kinds. Nothing is damaged then, and nothing is to be
// repaired.
func IsNewer(err error) bool {
	return in[*journal.NewerFrameError](err) || in[*journal.UnknownFamilyError](err) || in[*journal.NewerSchemaError](err) ||
		in[*journal.UnknownKindError](err) || in[*event.UnknownEventTypeError](err) || in[*command.UnknownCommandTypeError](err) ||
		in[*event.UnsupportedSchemaError](err) || in[*gate.UnsupportedSchemaError](err) || in[*runtimecommand.UnsupportedSchemaError](err)
}

// in reports whether there is an E in the chain of err.
func in[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}
