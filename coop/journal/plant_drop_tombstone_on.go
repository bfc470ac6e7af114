//go:build plant_journal_drop_tombstone

package journal

const plantDropTombstone = true
