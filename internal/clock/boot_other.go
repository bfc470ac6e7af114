//go:build !linux && !darwin && !windows

package clock

import (
	"errors"
	"time"
)

// processStart stands in for the boot: with the random boot id that goes with
// it, no value outlives the process.
var processStart = time.Now()

func sinceBoot() time.Duration { return time.Since(processStart) }

func bootID() (string, error) { return "", errors.ErrUnsupported }
