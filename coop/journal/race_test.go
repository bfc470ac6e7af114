//go:build race

package journal_test

// raceDetector: exhaustive scripts run without it, and a part of them with it.
const raceDetector = true
