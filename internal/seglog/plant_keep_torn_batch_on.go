//go:build plant_keep_torn_batch

package seglog

const plantKeepTornBatch = true
