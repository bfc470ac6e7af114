//go:build race

package store_test

// raceDetector: the crowd follows fewer records with it.
const raceDetector = true
