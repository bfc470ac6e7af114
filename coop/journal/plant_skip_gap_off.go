//go:build !plant_journal_skip_gap

package journal

const plantSkipGap = false
