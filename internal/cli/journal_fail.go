package cli

import (
	"errors"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/internal/seglog"
	"github.com/comity-dev/comity/internal/vfs"
	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/session/store"
)

// journalError gives an error of the session wing its code and the next step.
func journalError(err error) error {
	var known *api.Error
	if err == nil || errors.As(err, &known) || errors.As(err, new(found)) {
		return err
	}
	as := func(code api.Code, hint string) error { return api.Errorf(code, "%v", err).WithHint("%s", hint) }
	switch {
	case store.IsNewer(err), errors.Is(err, seglog.ErrNewerFormat):
		return as(api.CodeNewerFormat, "a newer comity wrote this; use that one, this one leaves it as it is")
	case errors.Is(err, vfs.ErrLocked):
		return as(api.CodeNotOwn, "another process has the store; end it first, or only look: list, show, follow, verify, export, transcript")
	case is[*journal.LeaseHeldError](err):
		return as(api.CodeNotOwn, "somebody is writing this session; end that program first")
	case errors.Is(err, seglog.ErrNoSpace):
		return as(api.CodeDiskFull, "make room and try again; nothing is lost")
	case is[*store.InvalidSessionError](err):
		return as(api.CodeUsage, "the id of a session looks like 6f1b3c1e-9a54-4c0e-8d3e-2f7a1d0b5c11")
	case is[*store.SessionExistsError](err):
		return as(api.CodeUsage, "--as ID gives it another id; nothing is overwritten")
	case is[*store.ImportError](err):
		return as(api.CodeInternal, "nothing was imported; make the file anew with comity journal export")
	case is[*store.PartialImportError](err):
		return as(api.CodeInternal, "import it again, which replaces it, or delete it")
	case is[*journal.ReplayReadError](err), is[*journal.ReplayDecodeError](err), is[*journal.BlobIntegrityError](err), is[*journal.BlobUnavailableError](err), is[*journal.BodyTooLargeError](err):
		return as(api.CodeInternal, "comity journal verify names all that is wrong; comity journal repair copies what can be read")
	}
	return err
}

// is reports whether there is an E in the chain of err.
func is[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}
