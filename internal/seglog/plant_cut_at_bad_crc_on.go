//go:build plant_cut_at_bad_crc

package seglog

const plantCutAtBadCRC = true
