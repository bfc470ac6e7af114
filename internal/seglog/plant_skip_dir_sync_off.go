//go:build !plant_skip_dir_sync

package seglog

const plantSkipDirSync = false
