package process_test

import (
	"fmt"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/client"
)

// BenchmarkCheckOverTheSocket is what a hook waits for beside its own start: one
// check of one path with 1,000 claims held, through a new connection each.
func BenchmarkCheckOverTheSocket(b *testing.B) {
	s := newStage(b, 1)
	c := s.client()
	where := api.Where{Dir: s.trees[0], Session: "ada"}
	if _, err := c.SessionOpen(b.Context(), api.SessionOpenRequest{Where: where, Name: "ada"}); err != nil {
		b.Fatal(err)
	}
	for i := range 1000 {
		if _, err := c.Claim(b.Context(), api.ClaimRequest{Where: where, Scope: []string{fmt.Sprintf("held/%d.go", i)}, Literal: true}); err != nil {
			b.Fatal(err)
		}
	}
	// A hook's process makes one call and ends before its first collection.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	took := make([]time.Duration, 0, b.N)
	for b.Loop() {
		began := time.Now()
		if err := checkOnce(b, c, where); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-us")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-us")
}

func checkOnce(b *testing.B, c *client.Client, where api.Where) error {
	reply, err := c.Check(b.Context(), api.CheckRequest{Where: where, Paths: []string{"src/a.go"}})
	if err == nil && reply.Verdict != api.CheckFree {
		b.Fatalf("verdict %s", reply.Verdict)
	}
	return err
}
