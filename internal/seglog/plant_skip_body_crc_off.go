//go:build !plant_skip_body_crc

package seglog

const plantSkipBodyCRC = false
