//go:build plant_serve_unsynced

package seglog

const plantServeUnsynced = true
