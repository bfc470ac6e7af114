package sim

import "github.com/comity-dev/comity/coop/room"

// processes are the programs of one machine that sessions live with.
type processes struct {
	boot  int
	made  int
	dead  map[room.Process]bool
	watch []*watched
}

type watched struct {
	p     room.Process
	ended func()
	over  bool
}

func newProcesses() *processes { return &processes{dead: map[room.Process]bool{}} }

// run starts a program.
func (p *processes) run() *room.Process {
	p.made++
	return &room.Process{PID: p.made, Start: "s", Boot: string(rune('A' + p.boot))}
}

// reboot ends all programs; a machine whose programs live on was only restarted
// as far as its daemon goes.
func (p *processes) reboot() {
	p.boot++
	p.watch = nil
}

func (p *processes) Alive(q room.Process) bool {
	return !p.dead[q] && q.Boot == string(rune('A'+p.boot))
}

func (p *processes) Watch(q room.Process, ended func()) (stop func()) {
	one := &watched{p: q, ended: ended}
	p.watch = append(p.watch, one)
	return func() { one.over = true }
}

// end ends a program, and tells who watches.
func (p *processes) end(q room.Process) {
	p.dead[q] = true
	for _, one := range p.watch {
		if one.p == q && !one.over {
			one.over = true
			one.ended()
		}
	}
}
