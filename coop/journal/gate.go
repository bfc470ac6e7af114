package journal

import (
	"context"
	"sync"
)

// gate counts who is inside, so that closing waits for them and lets nobody in
// meanwhile.
type gate struct {
	mu      sync.Mutex
	inside  int
	closing bool
	idle    chan struct{} // closed once closing and nobody is inside
}

func newGate() *gate { return &gate{idle: make(chan struct{})} }

func (g *gate) enter() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closing {
		return ErrClosed
	}
	g.inside++
	return nil
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside--
	if g.closing && g.inside == 0 {
		close(g.idle)
	}
}

// shut lets nobody in from now on.
func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closing {
		return
	}
	g.closing = true
	if g.inside == 0 {
		close(g.idle)
	}
}

func (g *gate) shutting() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.closing
}

// wait returns once everybody has left, or with ctx's error.
func (g *gate) wait(ctx context.Context) error {
	select {
	case <-g.idle:
		return nil
	default:
	}
	select {
	case <-g.idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
