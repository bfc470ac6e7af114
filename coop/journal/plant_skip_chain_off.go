//go:build !plant_journal_skip_chain

package journal

const plantSkipChain = false
