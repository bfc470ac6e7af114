//go:build plant_journal_keep_view

package journal

const plantKeepView = true
