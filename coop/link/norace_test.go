//go:build !race

package link_test

const raceDetector = false
