package process_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/client"
)

// BenchmarkCheckOverTheSocket is one check of one path with 1,000 claims held:
// through a new connection each, as a hook's process makes it, and through one
// that stays open.
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
	b.Run("new connection", func(b *testing.B) {
		measure(b, func() error { return checkOnce(b, c, where) })
	})
	b.Run("open connection", func(b *testing.B) {
		open := s.connection()
		defer open.CloseIdleConnections()
		body := fmt.Sprintf(`{"dir":%q,"session":"ada","paths":["src/a.go"]}`, where.Dir)
		measure(b, func() error {
			resp, err := open.Post("http://comity/v1/check", "application/json", strings.NewReader(body))
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			if reply, err := io.ReadAll(resp.Body); err != nil || !bytes.Contains(reply, []byte(`"verdict":"free"`)) {
				return fmt.Errorf("%s: %w", reply, err)
			}
			return nil
		})
	})
}

// connection is a client of the daemon's socket that keeps its connection.
func (s *stage) connection() *http.Client {
	info, _ := s.daemon()
	return &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", info.Socket)
	}}}
}

func measure(b *testing.B, call func() error) {
	// A hook's process makes one call and ends before its first collection.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	took := make([]time.Duration, 0, b.N)
	for b.Loop() {
		began := time.Now()
		if err := call(); err != nil {
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
