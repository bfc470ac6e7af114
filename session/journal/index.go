package journal

// An IdempotencyIndex remembers which ids are durable, where, and with what
// content. Ids of different families must not meet: see IndexKey. It is not safe
// for concurrent use; the lock of the writer that owns it guards it. The zero
// value is empty.
type IdempotencyIndex struct {
	seen map[string]indexed
}

type indexed struct {
	seq uint64
	fp  Fingerprint
}

// NewIdempotencyIndex returns an empty index.
func NewIdempotencyIndex() *IdempotencyIndex { return new(IdempotencyIndex) }

// Check returns 0 and false for an id that was not observed, and the sequence
// and true for one that was observed with fp. If it was observed with another
// content, the error is an *IdempotencyCollisionError.
func (x *IdempotencyIndex) Check(id string, fp Fingerprint) (seq uint64, seen bool, err error) {
	e, ok := x.seen[id]
	switch {
	case !ok:
		return 0, false, nil
	case e.fp != fp:
		return 0, false, &IdempotencyCollisionError{ID: id, Seq: e.seq}
	}
	return e.seq, true, nil
}

// Observe notes that id is durable at seq. What was known of it is replaced.
func (x *IdempotencyIndex) Observe(id string, seq uint64, fp Fingerprint) {
	if x.seen == nil {
		x.seen = make(map[string]indexed)
	}
	x.seen[id] = indexed{seq, fp}
}

// Len returns how many ids are known.
func (x *IdempotencyIndex) Len() int { return len(x.seen) }

// IndexKey is what a record is remembered by: its family and, of opaque records,
// its kind, before its id, so that equal ids of two families are two ids.
func IndexKey(family Family, kind, id string) string {
	return string(appendIndexKey(nil, family, kind, id))
}

func appendIndexKey(b []byte, family Family, kind, id string) []byte {
	b = append(b, family.String()...)
	if family == FamilyOpaque {
		b = append(append(b, '/'), kind...)
	}
	return append(append(b, ':'), id...)
}
