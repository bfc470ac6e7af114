//go:build plant_reuse_index

package seglog

const plantReuseIndex = true
