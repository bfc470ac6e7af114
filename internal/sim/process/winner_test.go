package process_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/client"
	"github.com/comity-dev/comity/internal/clock"
)

// A move is what a racer is told to do.
type move struct {
	Release bool
	Scope   string
}

// A moved is what came of it. Began and Ended are boot time, which all
// processes of a machine share, in nanoseconds.
type moved struct {
	Won          bool
	By           string // who holds it, as the refusal says
	Epoch        uint64
	Began, Ended int64
	Err          string
}

// race is a racer: one session in one worktree, which claims and releases as it
// is told.
func race(ctx context.Context, c *client.Client, args []string) error {
	name, dir := args[0], args[1]
	where := api.Where{Dir: dir, Session: name}
	if _, err := c.SessionOpen(ctx, api.SessionOpenRequest{Where: where, Name: name, Client: "racer"}); err != nil {
		return err
	}
	boot := clock.System()
	return lines(func(m move) moved {
		out := moved{Began: int64(boot.Boot())}
		var err error
		if m.Release {
			_, err = c.Release(ctx, api.ReleaseRequest{Where: where, All: true})
		} else {
			var reply api.ClaimReply
			reply, err = c.Claim(ctx, api.ClaimRequest{Where: where, Scope: []string{m.Scope}})
			out.Won, out.Epoch = err == nil && reply.Standing == api.StandingHeld, reply.Epoch
		}
		out.Ended = int64(boot.Boot())
		if e := api.AsError(err); errors.Is(err, api.ErrConflict) && len(e.Conflicts) == 1 {
			out.By = e.Conflicts[0].Session
		} else if err != nil {
			out.Err = err.Error()
		}
		return out
	})
}

// meeting are scopes of which every two meet.
var meeting = []string{"src/", "src/**/*.go", "src/*.go", "src/a.go", ".", "**/a.go", "{src,docs}/a.*", "src/[a-c].go"}

const (
	racers = 8
	rounds = 200
)

// Of eight processes that race for scopes that meet, exactly one wins, and every
// other is told who. The whole history, releases included, is one that a single
// lock could have had.
func TestOneWinner(t *testing.T) {
	s := newStage(t, 3)
	var players []*player
	for i := range racers {
		players = append(players, s.player("racer", fmt.Sprintf("r%d", i), s.trees[i%len(s.trees)]))
	}
	var history []porcupine.Operation
	for round := range rounds {
		var results [racers]moved
		for i, p := range players {
			if err := p.tell(move{Scope: meeting[(i*3+round)%len(meeting)]}); err != nil {
				t.Fatal(err)
			}
		}
		for i, p := range players {
			if err := p.hear(&results[i]); err != nil {
				t.Fatal(err)
			}
			history = append(history, operation(i, false, results[i]))
		}
		winner := s.oneWinner(round, results)
		var released moved
		if err := players[winner].ask(move{Release: true}, &released); err != nil || released.Err != "" {
			t.Fatalf("round %d: r%d releases: %v %s", round, winner, err, released.Err)
		}
		history = append(history, operation(winner, true, released))
	}
	if !linearizable(history) {
		t.Error("the history is not that of one lock")
	}
	// The checker itself has teeth: a second winner in the same history is found.
	twice := append([]porcupine.Operation(nil), history...)
	for i := range twice[:racers] {
		if out := twice[i].Output.(moved); !out.Won {
			out.Won, out.By = true, ""
			twice[i].Output = out
			break
		}
	}
	if linearizable(twice) {
		t.Error("a history with two winners passes the checker")
	}
}

func (s *stage) oneWinner(round int, results [racers]moved) int {
	s.Helper()
	winner := -1
	for i, r := range results {
		if r.Err != "" {
			s.Fatalf("round %d: r%d: %s", round, i, r.Err)
		}
		if r.Won {
			if winner >= 0 {
				s.Fatalf("round %d: r%d and r%d both hold", round, winner, i)
			}
			winner = i
		}
	}
	if winner < 0 {
		s.Fatalf("round %d: nobody holds: %+v", round, results)
	}
	for i, r := range results {
		if want := fmt.Sprintf("r%d", winner); i != winner && r.By != want {
			s.Fatalf("round %d: r%d was refused because of %q, want the winner %s", round, i, r.By, want)
		}
	}
	return winner
}

type deed struct {
	racer   int
	release bool
}

func operation(racer int, release bool, m moved) porcupine.Operation {
	return porcupine.Operation{ClientId: racer, Input: deed{racer, release}, Output: m, Call: m.Began, Return: m.Ended}
}

// linearizable checks a history against one lock. Its state is the holder, ""
// for nobody.
func linearizable(history []porcupine.Operation) bool {
	model := porcupine.Model{
		Init: func() any { return "" },
		Step: func(state, input, output any) (bool, any) {
			holder, in, out := state.(string), input.(deed), output.(moved)
			name := fmt.Sprintf("r%d", in.racer)
			switch {
			case in.release:
				return holder == name, ""
			case out.Won:
				return holder == "", name
			}
			return holder != "" && holder == out.By, holder
		},
	}
	return porcupine.CheckOperationsTimeout(model, history, time.Minute) == porcupine.Ok
}
