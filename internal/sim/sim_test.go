package sim_test

import (
	"os"
	"strconv"
	"testing"
	"testing/cryptotest"

	"github.com/comity-dev/comity/internal/sim"
)

// run is one run of a seed, with all that is random in it.
func run(t *testing.T, o sim.Options) sim.Result {
	t.Helper()
	cryptotest.SetGlobalRandom(t, o.Seed)
	return sim.Run(o)
}

// options are those of a seed: of two runs one only breaks things, and one heals
// a core at the end; of four, two are linked by the protocol and two by messages
// that may be lost.
func options(seed uint64) sim.Options {
	return sim.Options{Seed: seed, Steps: 120, Liveness: seed%2 == 0, Cables: seed/2%2 == 0}
}

func TestSeeds(t *testing.T) {
	first, count := uint64(1), uint64(200)
	if word := os.Getenv("COMITY_SEED"); word != "" {
		seed, err := strconv.ParseUint(word, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		first, count = seed, 1
	}
	for seed := first; seed < first+count; seed++ {
		r := run(t, options(seed))
		if count == 1 {
			for _, line := range r.Trace {
				t.Log(line)
			}
		}
		if r.Err != nil {
			t.Errorf("COMITY_SEED=%d: %v", seed, r.Err)
		}
	}
}

func TestSameSeedSameTrace(t *testing.T) {
	for seed := uint64(1); seed <= 4; seed++ {
		a, b := run(t, options(seed)), run(t, options(seed))
		if a.Digest != b.Digest {
			t.Errorf("seed %d gave %s and then %s", seed, a.Digest, b.Digest)
		}
		if c := run(t, options(seed+100)); c.Digest == a.Digest {
			t.Errorf("seeds %d and %d give one trace", seed, seed+100)
		}
	}
}
