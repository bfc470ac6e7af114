package storage

import "errors"

// CheckBatch returns why a batch of so many records and bytes is refused by
// a backend of these bounds, or nil. It is for backends, so that all of them
// say the same.
func CheckBatch(records, bytes, maxRecords, maxBytes int) error {
	switch {
	case records == 0:
		return errors.New("append: no records")
	case records > maxRecords:
		return &TooLargeError{"batch (records)", int64(records), int64(maxRecords)}
	case bytes > maxBytes:
		return &TooLargeError{"batch", int64(bytes), int64(maxBytes)}
	}
	return nil
}

// Check returns why a proof is refused, or nil.
func (p Proof) Check() error {
	if p.Epoch == 0 || p.Reason == "" {
		return errors.New("take a lease over: the proof names the epoch of the grant that is to end, and the reason")
	}
	return nil
}
