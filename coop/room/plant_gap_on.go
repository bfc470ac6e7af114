//go:build plant_room_gap

package room

const plantGap = true
