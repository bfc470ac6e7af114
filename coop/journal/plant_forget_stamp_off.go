//go:build !plant_journal_forget_stamp

package journal

const plantForgetStamp = false
