//go:build plant_ack_before_sync

package seglog

const plantAckBeforeSync = true
