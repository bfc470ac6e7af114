package link_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/comity-dev/comity/coop/link/linktest"
)

// Equal inputs give equal frames, so that a simulation repeats from its seed.
func TestEqualInputsGiveEqualFrames(t *testing.T) {
	story := func() []byte {
		a, b := duo()
		stores := []*linktest.Store{a, b}
		for i := range 40 {
			stores[i%2].AppendTo(linktest.StreamOf(stores[i%2].Key, a.Repo, fmt.Sprint(i)), 5, 100)
		}
		w := join(t, time.Hour, a, b)
		r := rand.New(rand.NewPCG(1, 2))
		for range 400 {
			switch n := r.IntN(8); n {
			case 0, 1:
				stores[n].Append(1, 100)
				w.side[n].core.News()
			case 2:
				w.pass(time.Second)
			case 3:
				w.side[r.IntN(2)].core.TrustChanged()
			default:
				w.step(n % 2)
			}
		}
		w.pass(10 * time.Second) // a change of trust is gone by once a heartbeat
		agree(t, a, b)
		var all []byte
		for _, s := range w.side {
			for _, f := range s.sent {
				all = append(append(all, byte(f.Type)), f.Body...)
			}
		}
		return all
	}
	if first := story(); !bytes.Equal(first, story()) || len(first) < 100_000 {
		t.Errorf("one story told twice gives other frames, of %d bytes", len(first))
	}
}
