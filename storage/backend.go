package storage

// A Backend is one store. Its four parts share nothing but the store: names of
// ledgers, leases, keys and spaces are unrelated.
type Backend interface {
	Ledger() Ledger
	Leaser() Leaser
	KV() KV
	Blobs() Blobs
	// Traits are constant.
	Traits() Traits
	// Close ends all grants of this backend, wakes what waits in it, waits for
	// the writes in flight, and lets go of the store. Afterwards all methods but
	// Close, Traits, and Release of a Lease return ErrClosed. It may be called any
	// number of times, and returns the same each time.
	Close() error
}
