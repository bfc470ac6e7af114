//go:build !race

package journal_test

const raceDetector = false
