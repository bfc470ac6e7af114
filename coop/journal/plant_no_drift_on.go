//go:build plant_journal_no_drift

package journal

const plantNoDrift = true
