package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/store"
	"github.com/comity-dev/comity/storage"
	"github.com/comity-dev/comity/storage/storagetest"
)

// A round is one race for a session of its own.
type round struct {
	seed    uint64
	session event.ID
	owners  int
	deaf    bool
	faulty  bool    // writes are lost, kept silently, and done later
	opening bool    // it is the opening that is held
	at      moment  // where an owner is held; never: all of them write at once
	free    release // when it is let go
}

type release uint8

const (
	fence  release = iota // when another one has opened the session
	end                   // when another one has written
	racing                // while another one opens it
)

// rounds are all of them, which is a few dozen.
func rounds() (list []round) {
	add := func(r round) {
		r.seed, r.session = uint64(len(list)), id(1000+len(list))
		list = append(list, r)
	}
	for n := 2; n <= 3; n++ {
		for _, deaf := range []bool{false, true} {
			for _, faulty := range []bool{false, true} {
				for _, free := range []release{fence, end, racing} {
					add(round{owners: n, deaf: deaf, faulty: faulty, at: before, free: free})
				}
				add(round{owners: n, deaf: deaf, faulty: faulty, at: behind, free: end})
				add(round{owners: n, deaf: deaf, faulty: faulty, at: before, free: end, opening: true})
				add(round{owners: n, deaf: deaf, faulty: faulty, at: granted, free: end, opening: true})
				add(round{owners: n, deaf: deaf, faulty: faulty})
			}
		}
	}
	return list
}

// run runs the round, over one backend for each owner, and reads the journal.
func (r round) run(ctx context.Context, backends []storage.Backend) (*chronicle, []*owner, error) {
	h := new(chronicle)
	var owners []*owner
	for i := range r.owners {
		dice := rand.New(rand.NewPCG(uint64(i), r.seed))
		var mu sync.Mutex
		f := storagetest.NewFaults(backends[i], func(_ int, op, _ string) storagetest.Fate {
			mu.Lock()
			defer mu.Unlock()
			if !r.faulty || op != "append" || dice.IntN(3) > 0 {
				return storagetest.Pass
			}
			return storagetest.Fate(dice.IntN(4))
		})
		g := &turnstile{Backend: f}
		s, err := store.New(g, &store.Options{Attempts: 1 + i%2})
		if err != nil {
			return nil, nil, err
		}
		owners = append(owners, &owner{n: i, s: s, stile: g, faults: f, session: r.session, history: h, deaf: r.deaf})
	}
	if r.at == never {
		r.atOnce(ctx, owners)
	} else {
		r.inTurn(ctx, owners)
	}
	for _, o := range owners {
		o.faults.Land()
	}
	return h, owners, h.read(ctx, backends[0], "sessions/"+string(r.session))
}

// atOnce has all owners seize the session from each other.
func (r round) atOnce(ctx context.Context, owners []*owner) {
	var wg sync.WaitGroup
	for _, o := range owners {
		wg.Go(func() {
			for range 3 {
				o.reign(ctx, 3)
				o.faults.Land()
			}
		})
	}
	wg.Wait()
}

// inTurn has each owner held in the middle of an append, or of its opening, while
// the next one seizes the session.
func (r round) inTurn(ctx context.Context, owners []*owner) {
	var wg sync.WaitGroup
	defer wg.Wait()
	var free []func()
	letGo := func(when release) {
		if r.free == when {
			for _, f := range free {
				f()
			}
		}
	}
	defer letGo(end)
	for i, o := range owners {
		last := i == len(owners)-1
		letGo(racing)
		if !r.opening || last {
			o.reign(ctx, 2)
			letGo(fence)
		}
		for _, o := range owners {
			o.faults.Land()
		}
		if last || o.w == nil && !r.opening { // a fault has kept it from opening
			continue
		}
		reached, release := o.stile.hold(r.at)
		free = append(free, release)
		over := make(chan struct{})
		wg.Go(func() {
			defer close(over)
			if r.opening {
				o.first = o.open(ctx)
				return
			}
			o.first = o.append(ctx, 2)
			for how := o.first; how != unsure && len(o.later) < 2; {
				how = o.append(ctx, 1)
				o.later = append(o.later, how)
			}
		})
		select {
		case <-reached:
		case <-over: // a fault has kept it from coming so far
		}
	}
}

// stale returns what is wrong with what the owners that were held were told.
func (r round) stale(owners []*owner) error {
	if r.at == never || r.free == racing || r.faulty {
		return nil
	}
	for _, o := range owners[:len(owners)-1] {
		want := fenced
		switch {
		case r.at == granted:
			if o.first == lost && !r.deaf {
				want = lost
			}
		case r.opening:
			want = lost
		case r.at == behind:
			want = acked
		}
		if o.first != want {
			return fmt.Errorf("owner %d: what was held is %v, want %v", o.n, o.first, want)
		}
		for _, how := range o.later {
			if how != fenced && (how != lost || r.deaf) {
				return fmt.Errorf("owner %d: an append of a stale owner is %v", o.n, how)
			}
		}
	}
	return nil
}

// racetracks give each of three owners its way to one store.
var racetracks = map[string]func(t testing.TB) []storage.Backend{
	"memstore":  shared("memstore"),
	"filestore": shared("filestore"),
	"natsstore": func(t testing.TB) (list []storage.Backend) {
		srv := natsServer(t)
		for range 3 {
			list = append(list, natsClient(t, srv))
		}
		return list
	},
}

func shared(name string) func(t testing.TB) []storage.Backend {
	return func(t testing.TB) []storage.Backend {
		b := backends[name](t)
		return []storage.Backend{b, b, b}
	}
}

// Two and three owners of one session, of which all but the last are held in the
// middle of an append until they are none any more, or which all write at once:
// what a stale one is told is typed, it leaves no trace, epochs only rise, and the
// whole history is one that a single fenced log could have had.
func TestOwnersRace(t *testing.T) {
	for name, track := range racetracks {
		t.Run(name, func(t *testing.T) {
			if name == "natsstore" && testing.Short() {
				t.Skip("a server")
			}
			list := track(t)
			met := make(map[outcome]int)
			for _, r := range rounds() {
				history, owners, err := r.run(t.Context(), list)
				if err = errors.Join(err, history.judge(), r.stale(owners)); err != nil {
					t.Errorf("%+v: %v", r, err)
				}
				r.wantNoTrace(t, history, owners, list[0])
				for _, op := range history.ops {
					met[op.Output.(answer).how]++
				}
			}
			for _, how := range []outcome{acked, fenced, lost, unsure} {
				if met[how] == 0 {
					t.Errorf("the races came to %v, want each of them", met)
				}
			}
		})
	}
}

// wantNoTrace wants a later owner to take what was refused for new, and the
// journal and its books to be good.
func (r round) wantNoTrace(t *testing.T, history *chronicle, owners []*owner, b storage.Backend) {
	t.Helper()
	for _, o := range owners {
		o.close(t.Context())
	}
	s := newStore(t, b, nil)
	w, err := s.Open(t.Context(), r.session, nil)
	if err != nil {
		t.Fatalf("%+v: open it behind the race: %v", r, err)
	}
	for _, id := range history.refused() {
		if res, err := w.AppendIdempotent(t.Context(), note(id, "x")); err != nil || !res.Appended {
			t.Errorf("%+v: record %s, which was refused: %+v, %v", r, id, res, err)
		}
	}
	closed(t, w)
	if rep, err := s.Verify(t.Context(), r.session); err != nil || !rep.Good() {
		t.Errorf("%+v: Verify = %+v, %v", r, rep, err)
	}
}
