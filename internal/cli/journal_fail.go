package cli

import (
	"context"
	"errors"
	"io/fs"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/internal/seglog"
	"github.com/comity-dev/comity/internal/vfs"
	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/session/store"
	"github.com/comity-dev/comity/storage"
)

// journalError gives an error of the session wing its code and the next step.
func journalError(err error) error {
	var known *api.Error
	if err == nil || errors.As(err, &known) || errors.As(err, new(found)) {
		return err
	}
	as := func(code api.Code, hint string) error { return api.Errorf(code, "%v", err).WithHint("%s", hint) }
	switch {
	case store.IsNewer(err), errors.Is(err, seglog.ErrNewerFormat), errors.Is(err, storage.ErrNewerFormat):
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
		return as(api.CodeExists, "--as ID gives it another id; nothing is overwritten")
	case is[*store.ImportError](err):
		return as(api.CodeDamaged, "nothing was imported; make the file anew with comity journal export")
	case is[*store.PartialImportError](err):
		return as(api.CodeDamaged, "import it again, which replaces it, or delete it")
	case errors.Is(err, storage.ErrUnavailable):
		return as(api.CodeUnreachable, "see that the NATS server answers: nats server check jetstream")
	case damaged(err):
		return as(api.CodeDamaged, "comity journal verify names all that is wrong; comity journal repair --to DIR copies what can be read")
	}
	return err
}

// damaged reports whether an error says that something which was stored cannot be
// read back, and not that the store could not be asked.
func damaged(err error) bool {
	return is[*storage.DamagedError](err) || is[*storage.DigestError](err) ||
		is[*journal.ReplayDecodeError](err) || is[*journal.BlobIntegrityError](err) || is[*journal.BodyTooLargeError](err) ||
		is[*store.InconsistentError](err) || is[*journal.BlobUnavailableError](err) && is[*storage.NotFoundError](err) ||
		is[*journal.ReplayReadError](err) && !unavailable(err)
}

// unavailable reports whether an error is one of asking: of the server, or of the
// disk.
func unavailable(err error) bool {
	return errors.Is(err, storage.ErrUnavailable) || errors.Is(err, storage.ErrClosed) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, context.Canceled) || is[*fs.PathError](err)
}

// is reports whether there is an E in the chain of err.
func is[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}
