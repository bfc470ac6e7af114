package sim_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/cryptotest"

	"github.com/comity-dev/comity/internal/sim"
)

const (
	shortSeeds = 10
	seeds      = 200
	longSeeds  = 20_000
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

// COMITY_SEED=n runs that seed alone and prints its trace; COMITY_LONG=1 runs many
// seeds, in as many processes as there are processors.
func TestSeeds(t *testing.T) {
	switch word, piece := os.Getenv("COMITY_SEED"), os.Getenv("COMITY_SEEDS"); {
	case word != "":
		seed := number(t, word)
		r := run(t, options(seed))
		for _, line := range r.Trace {
			t.Log(line)
		}
		report(t, seed, r)
	case piece != "":
		from, to, _ := strings.Cut(piece, "-")
		some(t, number(t, from), number(t, to))
	case os.Getenv("COMITY_LONG") != "":
		many(t, longSeeds, 500)
	case testing.Short():
		some(t, 1, shortSeeds)
	default:
		many(t, seeds, 50)
	}
}

func number(t *testing.T, word string) uint64 {
	n, err := strconv.ParseUint(word, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func some(t *testing.T, from, to uint64) {
	events, images, runs := 0, 0, int(to-from)+1
	for seed := from; seed <= to; seed++ {
		r := run(t, options(seed))
		events, images = events+r.Events, images+r.Images
		report(t, seed, r)
	}
	if events < runs || images < runs/8 { // a world in which nothing happens finds nothing
		t.Errorf("%d events and %d starts by an image in %d runs", events, images, runs)
	}
}

func report(t *testing.T, seed uint64, r sim.Result) {
	if r.Err != nil {
		t.Errorf("COMITY_SEED=%d: %v", seed, r.Err)
	}
}

// many runs seeds from 1 on, in pieces, in processes of this test: a process has
// one source of what is random.
func many(t *testing.T, count, piece uint64) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var next sync.Mutex
	from := uint64(1)
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for {
				next.Lock()
				first := from
				from += piece
				next.Unlock()
				if first > count {
					return
				}
				cmd := exec.Command(self, "-test.run=^TestSeeds$")
				cmd.Env = append(os.Environ(), fmt.Sprintf("COMITY_SEEDS=%d-%d", first, min(first+piece-1, count)))
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("seeds from %d: %v\n%s", first, err, out)
				}
			}
		})
	}
	all.Wait()
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

// A run over many seeds needs no more memory than one: what a world has open ends
// with it.
func TestRunLeavesNothingBehind(t *testing.T) {
	before := runtime.NumGoroutine()
	for seed := uint64(1); seed <= 5; seed++ { // two machines each, at least
		run(t, options(seed))
	}
	if left := runtime.NumGoroutine() - before; left > 3 { // one may be about to end
		t.Errorf("%d goroutines are left", left)
	}
}
