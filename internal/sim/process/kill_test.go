package process_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/client"
)

// A report is one acknowledged write of a writer.
type report struct {
	Event string // as acknowledged
	Claim string // held from now on, if it was a claim
	Freed string // no longer held, if it was a release
	Err   string // ends the writer
}

// write is a writer: a session that lives with this process, holds one claim
// throughout, and claims and releases another, telling of each acknowledgement.
// Whatever the daemon's death does to a call, it asks again.
func write(ctx context.Context, c *client.Client, args []string) error {
	name, dir := args[0], args[1]
	where := api.Where{Dir: dir, Session: name}
	if err := again(func() error {
		_, err := c.SessionOpen(ctx, api.SessionOpenRequest{Where: where, Name: name, Client: "writer", PID: os.Getpid()})
		return err
	}); err != nil {
		return err
	}
	claimed := ""
	return lines(func(n int) report {
		if claimed == "" {
			var reply api.ClaimReply
			err := again(func() (err error) {
				reply, err = c.Claim(ctx, api.ClaimRequest{Where: where, Scope: []string{fmt.Sprintf("of/%s/%d.go", name, n)}, Literal: true})
				return err
			})
			claimed = reply.Claim.Claim
			return told(report{Event: reply.Written.Event, Claim: claimed}, err)
		}
		out := report{Freed: claimed}
		err := again(func() error {
			reply, err := c.Release(ctx, api.ReleaseRequest{Where: where, Claims: []string{claimed}})
			if err == nil && len(reply.Events) > 0 {
				out.Event = reply.Events[0].Event
			}
			return err
		})
		claimed = ""
		return told(out, err)
	})
}

func told(r report, err error) report {
	if err != nil {
		r.Err = err.Error()
	}
	return r
}

// again repeats a call that found no daemon to answer it.
func again(call func() error) error {
	var err error
	for range 20 {
		if err = call(); err == nil || !errors.Is(err, api.ErrUnreachable) && !errors.Is(err, api.ErrStopping) {
			return err
		}
	}
	return err
}

// tellings are what the writers were told, while the daemon is killed again and
// again.
type tellings struct {
	mu     sync.Mutex
	events map[string]bool
	held   map[string]string // claim: its writer
	errs   []string
}

func (x *tellings) take(name string, r report) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if r.Err != "" {
		x.errs = append(x.errs, name+": "+r.Err)
		return
	}
	if r.Event != "" { // a repeated call may find its work done, and then names none
		x.events[r.Event] = true
	}
	if r.Claim != "" {
		x.held[r.Claim] = name
	}
	delete(x.held, r.Freed)
}

const writers = 16

// The daemon is killed at random moments under sixteen writers. Whatever was
// acknowledged is in the journal, once; sessions whose process lives go on under
// their names with their claims; one whose process died is closed, with the
// reason, within two seconds.
func TestNothingAcknowledgedIsLost(t *testing.T) {
	kills := 20
	if long() {
		kills = 200
	}
	s := newStage(t, 3)
	x := &tellings{events: map[string]bool{}, held: map[string]string{}}
	stop := make(chan struct{})
	var players []*player
	var wg sync.WaitGroup
	for i := range writers {
		name := fmt.Sprintf("w%d", i)
		p := s.player("writer", name, s.trees[i%len(s.trees)])
		players = append(players, p)
		wg.Go(func() { drive(p, name, x, stop) })
	}
	killed := s.killAtRandom(kills, x)
	close(stop)
	wg.Wait()
	if len(x.errs) > 0 {
		t.Fatalf("writers failed: %v", x.errs)
	}
	t.Logf("%d kills, %d acknowledged events", killed, len(x.events))
	s.allThereOnce(x)
	s.allHeld(x)
	s.closedWhenDead(players[0], "w0")
}

func drive(p *player, name string, x *tellings, stop chan struct{}) {
	for n := 0; ; n++ {
		select {
		case <-stop:
			return
		default:
		}
		var r report
		if err := p.ask(n, &r); err != nil {
			r.Err = err.Error()
		}
		x.take(name, r)
		if r.Err != "" {
			return
		}
	}
}

// killAtRandom kills the daemon n times, each time after some more events were
// acknowledged and a random moment.
func (s *stage) killAtRandom(n int, x *tellings) (killed int) {
	s.Helper()
	acknowledged := func() (int, bool) {
		x.mu.Lock()
		defer x.mu.Unlock()
		return len(x.events), len(x.errs) > 0
	}
	for killed < n {
		before, _ := acknowledged()
		s.eventually(time.Minute, "the writers go on after a kill", func() bool {
			now, failed := acknowledged()
			return now >= before+writers || failed
		})
		if _, failed := acknowledged(); failed {
			return killed
		}
		<-time.After(time.Duration(rand.IntN(20_000)) * time.Microsecond) // the moment of the crash
		if s.kill() {
			killed++
		}
	}
	return killed
}

func (s *stage) allThereOnce(x *tellings) {
	s.Helper()
	seen := map[string]int{}
	for _, e := range s.log() {
		seen[e.Event]++
	}
	for e := range x.events {
		if seen[e] != 1 {
			s.Errorf("acknowledged event %s is in the log %d times, want once", e, seen[e])
		}
	}
	for e, n := range seen {
		if n != 1 {
			s.Errorf("event %s is in the log %d times", e, n)
		}
	}
}

func (s *stage) allHeld(x *tellings) {
	s.Helper()
	status, err := s.client().Status(s.Context(), api.StatusRequest{Where: api.Where{Dir: s.trees[0]}})
	if err != nil {
		s.Fatal(err)
	}
	open := map[string]bool{}
	for _, se := range status.Sessions {
		open[se.Session] = true
	}
	for i := range writers {
		if name := fmt.Sprintf("w%d", i); !open[name] {
			s.Errorf("session %s, whose process lives, is not open", name)
		}
	}
	held := map[string]string{}
	for _, c := range status.Claims {
		if c.Standing == api.StandingHeld {
			held[c.Claim] = c.Session
		}
	}
	for claim, name := range x.held {
		if held[claim] != name {
			s.Errorf("claim %s of %s is held by %q", claim, name, held[claim])
		}
	}
	for claim, name := range held {
		if x.held[claim] != name {
			s.Errorf("claim %s is held by %s, who was not told so or has released it", claim, name)
		}
	}
	report, err := s.client().Verify(s.Context(), api.DoctorRequest{Where: api.Where{Dir: s.trees[0]}})
	if err != nil || !report.OK {
		s.Errorf("verify: %+v, %v", report, err)
	}
}

func (s *stage) closedWhenDead(p *player, name string) {
	s.Helper()
	if err := p.Process.Kill(); err != nil {
		s.Fatal(err)
	}
	p.Wait() // its exit is the kill's
	s.eventually(2*time.Second, "the session of a dead process is closed", func() bool {
		list, err := s.client().SessionList(s.Context(), api.SessionListRequest{Where: api.Where{Dir: s.trees[0]}, All: true})
		if err != nil {
			s.Fatal(err)
		}
		for _, se := range list.Sessions {
			if se.Session == name {
				return se.State == api.SessionClosed && strings.Contains(se.Reason, "process_ended")
			}
		}
		return false
	})
}
