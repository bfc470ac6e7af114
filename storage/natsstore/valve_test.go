package natsstore_test

import (
	"net"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/comity-dev/comity/storage/natsstore"
)

// A flow is what a valve does with what comes.
type flow int

const (
	through flow = iota
	lost         // it is thrown away
	held         // it comes when the valve is opened
)

// A valve is a line to a server of which each direction can be closed. What is
// written at once goes through or is lost as a whole, so whole messages are.
type valve struct {
	net.Conn
	mu       sync.Mutex
	changed  *sync.Cond
	requests flow
	answers  flow
}

// valves makes the connections of one store.
type valves struct {
	mu   sync.Mutex
	last *valve
}

func (v *valves) Dial(network, address string) (net.Conn, error) {
	c, err := (&net.Dialer{Timeout: 5 * time.Second}).Dial(network, address)
	if err != nil {
		return nil, err
	}
	line := &valve{Conn: c}
	line.changed = sync.NewCond(&line.mu)
	v.mu.Lock()
	v.last = line
	v.mu.Unlock()
	return line, nil
}

func (v *valves) set(requests, answers flow) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.last.set(requests, answers)
}

func (v *valve) set(requests, answers flow) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.requests, v.answers = requests, answers
	v.changed.Broadcast()
}

func (v *valve) Write(p []byte) (int, error) {
	v.mu.Lock()
	f := v.requests
	v.mu.Unlock()
	if f == lost {
		return len(p), nil
	}
	return v.Conn.Write(p)
}

func (v *valve) Read(p []byte) (int, error) {
	for {
		n, err := v.Conn.Read(p)
		if err != nil {
			return n, err
		}
		v.mu.Lock()
		for v.answers == held {
			v.changed.Wait()
		}
		f := v.answers
		v.mu.Unlock()
		if f == through {
			return n, nil
		}
	}
}

func (v *valve) Close() error {
	v.set(through, through)
	return v.Conn.Close()
}

// openValved opens a store over lines with valves.
func openValved(t testing.TB, s *server.Server, o natsstore.Options) (*natsstore.Store, *valves) {
	t.Helper()
	v := new(valves)
	o.NATS = []nats.Option{nats.SetCustomDialer(v), nats.ReconnectWait(10 * time.Millisecond)}
	if o.LeaseTTL == 0 {
		o.LeaseTTL = testTTL
	}
	st, err := natsstore.Open(t.Context(), s.ClientURL(), &o)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() {
		v.set(through, through)
		st.Close()
	})
	return st, v
}

// cut ends the line; the next one is open.
func (v *valves) cut() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.last.Close()
}
