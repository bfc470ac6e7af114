package room_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/journal"
	"github.com/comity-dev/comity/coop/room"
)

// crowded is a room in memory with n live claims of n/20 sessions.
func crowded(b *testing.B, n int) *fixture {
	b.Helper()
	f := newFixture(b)
	crowd(f, n)
	return f
}

func crowd(f *fixture, n int) {
	var a room.Actor
	for i := range n {
		if i%20 == 0 {
			a = f.join(fmt.Sprintf("s%d", i/20))
		}
		f.claim(a, fmt.Sprintf("src/d%d/f%d.go", i%100, i))
	}
}

var sizes = []int{100, 1000, 10_000}

func each(b *testing.B, run func(b *testing.B, f *fixture, n int)) {
	for _, n := range sizes {
		b.Run(fmt.Sprint("claims=", n), func(b *testing.B) { run(b, crowded(b, n), n) })
	}
}

// An admitted claim, and then its release; each signs an event. Of the two the
// claim alone is reported as claim-us, by its own watch: to stop the benchmark's
// stops the world, and costs what is to be measured.
func BenchmarkClaimAndRelease(b *testing.B) {
	each(b, func(b *testing.B, f *fixture, n int) {
		a := f.join("bench")
		req := api.ClaimRequest{Scope: []string{"src/d7/mine.go"}}
		var claims time.Duration
		for b.Loop() {
			began := time.Now()
			reply, err := f.Claim(b.Context(), a, req)
			claims += time.Since(began)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := f.Release(b.Context(), a, api.ReleaseRequest{Claims: []string{reply.Claim.Claim}}); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(claims.Microseconds())/float64(b.N), "claim-us")
	})
}

func BenchmarkClaimRefused(b *testing.B) {
	each(b, func(b *testing.B, f *fixture, n int) {
		a := f.join("bench")
		req := api.ClaimRequest{Scope: []string{"src/d7/f7.go"}}
		b.ReportAllocs()
		for b.Loop() {
			if _, err := f.Claim(b.Context(), a, req); err == nil {
				b.Fatal("admitted")
			}
		}
	})
}

// The whole repository, against all claims.
func BenchmarkClaimOfAllRefused(b *testing.B) {
	each(b, func(b *testing.B, f *fixture, n int) {
		a := f.join("bench")
		for b.Loop() {
			if _, err := f.Claim(b.Context(), a, api.ClaimRequest{Scope: []string{"."}}); err == nil {
				b.Fatal("admitted")
			}
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	each(b, func(b *testing.B, f *fixture, n int) {
		a := actor("s0", "a")
		req := api.CheckRequest{Paths: []string{"src/d0/f0.go", "src/d7/f7.go", "README.md"}}
		b.ReportAllocs()
		for b.Loop() {
			if _, err := f.Check(b.Context(), a, req); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkStatus(b *testing.B) {
	each(b, func(b *testing.B, f *fixture, n int) {
		a := actor("s0", "a")
		b.Run("same", func(b *testing.B) {
			for b.Loop() {
				f.status(a)
			}
		})
		b.Run("changed", func(b *testing.B) { // an event before each
			for i := 0; b.Loop(); i++ {
				b.StopTimer()
				if _, err := f.SessionRenew(b.Context(), a, api.SessionRenewRequest{Intent: fmt.Sprint(i)}); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				f.status(a)
			}
		})
	})
}

func BenchmarkSessionList(b *testing.B) {
	each(b, func(b *testing.B, f *fixture, n int) {
		for b.Loop() {
			if _, err := f.SessionList(b.Context(), room.Actor{}, api.SessionListRequest{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// Status with as many claims as streams: each key is shown by its shortest
// beginning.
func BenchmarkStatusOfManyStreams(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint("streams=", n), func(b *testing.B) {
			f, _, life := beside(b)
			*life = journal.Live
			var heard []*event.Event
			for i := range n {
				p := newPeer(b, byte(i%16))
				heard = append(heard, p.opens(fmt.Sprint("far", i)), p.claims(0, fmt.Sprint("far", i), fmt.Sprint("path:f", i)))
			}
			f.hear(heard...)
			for b.Loop() {
				f.status(room.Actor{})
			}
		})
	}
}

// What one event costs beyond its signature, by a session that nobody meets.
func BenchmarkRenew(b *testing.B) {
	each(b, func(b *testing.B, f *fixture, n int) {
		a := actor("s0", "a")
		for i := 0; b.Loop(); i++ {
			if _, err := f.SessionRenew(b.Context(), a, api.SessionRenewRequest{Intent: fmt.Sprint(i)}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// What a start by an image takes up, and what the first look at what stands costs.
func BenchmarkRecall(b *testing.B) {
	f := newFixture(b)
	for i := range 310 {
		f.join(fmt.Sprintf("s%d", i))
	}
	for i := range 5000 {
		f.claim(actor(fmt.Sprintf("s%d", i%310), "a"), fmt.Sprintf("src/d%d/f%d.go", i%100, i))
	}
	kept := f.Kept()
	b.Run("keep", func(b *testing.B) {
		for b.Loop() {
			kept = f.Kept()
		}
		b.ReportMetric(float64(len(kept)), "B")
	})
	b.Run("recall", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := f.Recalled(kept); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("look", func(b *testing.B) {
		r, err := f.Recalled(kept)
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			r.LookAgain()
		}
	})
}
