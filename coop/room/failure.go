package room

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/journal"
	"github.com/comity-dev/comity/coop/scope"
)

// failure puts an error of the packages below into the words of the API. An
// error that has such words already, and an ended ctx, stay as they are.
func failure(err error) error {
	var known *api.Error
	var bound *event.BoundError
	var large *event.TooLargeError
	var batch *journal.BatchError
	var failed *journal.FailedError
	var readOnly *journal.ReadOnlyError
	switch {
	case err == nil, errors.As(err, &known), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.As(err, &bound):
		return overBound(bound)
	case errors.As(err, &large):
		return api.Errorf(api.CodeBound, "%v", err).WithHint("shorten its texts, or write fewer entries")
	case errors.As(err, &batch):
		return api.Errorf(api.CodeBound, "%v", err).WithHint("ask for less at once")
	case errors.Is(err, journal.ErrNewerFormat):
		return api.Errorf(api.CodeNewerFormat, "%v", err).WithHint("a newer comity wrote this journal: upgrade; until then it is only read")
	case errors.As(err, &readOnly): // what made it so is not this write's failure
		return api.Errorf(api.CodeReadOnly, "nothing was written: %v", err).WithHint("repeat the command: the journal is opened anew; comity doctor shows the cause")
	case errors.As(err, &failed) && failed.Unknown:
		return api.Errorf(api.CodePoisoned, "the disk failed, and whether the event is stored is not known: %v", failed.Err).
			WithHint("repeat the command: the journal is opened anew, and what is stored already is found; comity doctor shows the cause")
	case errors.Is(err, journal.ErrNoSpace):
		return api.Errorf(api.CodeDiskFull, "the journal's disk is full: nothing was written").
			WithHint("free space on the disk of the state folder and repeat the command; reading, release and close still work")
	case errors.Is(err, journal.ErrClosed):
		return api.Errorf(api.CodeStopping, "the daemon is stopping").WithHint("repeat the command")
	}
	return err
}

// overBound names the field as callers know it, and by how much it is over.
func overBound(b *event.BoundError) error {
	field := strings.TrimPrefix(b.Field, "info.")
	if b.Unit == "" {
		return api.Errorf(api.CodeUsage, "%s: %s", field, b.Detail).WithHint("write %s without it", field)
	}
	e := api.Errorf(api.CodeBound, "%s: %d %s, limit %d: %d too many", field, b.Got, b.Unit, b.Limit, b.Got-b.Limit).
		WithHint("shorten %s", field)
	e.Detail = map[string]any{"field": b.Field, "limit": b.Limit, "size": b.Got}
	return e
}

// badScope puts a refusal of the door into the words of the API. An ended ctx, which
// kept the door from looking, stays what it is.
func badScope(err error) error {
	var known *api.Error
	var bad *scope.Error
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.As(err, &known):
		return known
	case errors.As(err, &bad):
		e := api.Errorf(api.CodeScope, "scope %q: %s", bad.Word, bad.Reason)
		e.Hint = cmp.Or(bad.Hint, "claim the folder above it")
		return e
	}
	return err
}
