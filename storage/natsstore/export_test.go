package natsstore

import "github.com/comity-dev/comity/storage"

// Stall keeps the holder of a lease from renewing it.
func Stall(l storage.Lease) { l.(*lease).stall() }
