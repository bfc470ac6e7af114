//go:build plant_room_unknown

package room

const plantUnknown = true
