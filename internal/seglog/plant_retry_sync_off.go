//go:build !plant_retry_sync

package seglog

const plantRetrySync = false
