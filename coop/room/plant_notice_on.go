//go:build plant_room_notice

package room

const plantNotice = true
