//go:build race

package link_test

// raceDetector: it makes signatures slow and memory large.
const raceDetector = true
