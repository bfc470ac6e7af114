package storage

import (
	"context"
	"iter"
)

// KV stores small rows, each written by compare-and-set. It is for what can be
// rebuilt or is seldom written: catalogs, layout marks, settings.
type KV interface {
	// Get returns the value of key and its revision, which is above 0. The error
	// is a *NotFoundError when there is no such row. The value belongs to the
	// caller.
	Get(ctx context.Context, key string) (value []byte, revision uint64, err error)

	// Put stores value if the revision of key is expected; 0 expects that there
	// is no row. It returns the new revision, which is above all that key ever
	// had, also before it was deleted. A value may be empty; one of 1 MiB is
	// always accepted. value is not kept.
	//
	// Errors: *RevisionError, with the revision, when it was another;
	// *AmbiguousError; *TooLargeError; *ReadOnlyError; ErrNoSpace;
	// ErrUnavailable; ErrClosed.
	Put(ctx context.Context, key string, expected uint64, value []byte) (revision uint64, err error)

	// Delete removes the row of key if its revision is expected, or in any case
	// if expected is 0. That there is no row is no error.
	Delete(ctx context.Context, key string, expected uint64) error

	// Keys returns the keys that begin with prefix, in the order of their bytes.
	// prefix is any string. A row that comes or goes during the iteration may be
	// there or not.
	Keys(ctx context.Context, prefix string) iter.Seq2[string, error]
}
