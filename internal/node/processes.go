package node

import (
	"sync"

	"github.com/comity-dev/comity/coop/room"
	"github.com/comity-dev/comity/internal/proc"
)

// processes watches over the processes that one room's sessions live with.
type processes struct {
	wg sync.WaitGroup // one for each watch that has not ended
}

func id(p room.Process) proc.ID { return proc.ID{PID: p.PID, Start: p.Start, Boot: p.Boot} }

// Alive takes a process that cannot be looked at for alive: not being able to
// tell is no reason to end anything.
func (p *processes) Alive(q room.Process) bool {
	alive, err := id(q).Alive()
	return alive || err != nil
}

func (p *processes) Watch(q room.Process, ended func()) (stop func()) {
	w, err := proc.Watch(id(q))
	if err != nil {
		return func() {} // cannot be looked at: its session lives until it is closed
	}
	stopped := make(chan struct{})
	p.wg.Go(func() {
		defer w.Close()
		select {
		case <-w.Done():
			ended()
		case <-stopped:
		}
	})
	return sync.OnceFunc(func() { close(stopped) })
}

// wait returns when every watch has ended or was stopped.
func (p *processes) wait() { p.wg.Wait() }
