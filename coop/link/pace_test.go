package link_test

import (
	"errors"
	"io"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/link"
	"github.com/comity-dev/comity/coop/link/linktest"
)

// A slowLine passes so many bytes a second on, behind a buffer that takes what is
// written at once while there is room.
type slowLine struct {
	io.ReadWriteCloser
	buffer chan []byte
	closed chan struct{}
	once   sync.Once
}

// slowPiece is how much of it passes at once.
const slowPiece = 512

func slowly(end io.ReadWriteCloser, rate, buffer int) *slowLine {
	s := &slowLine{ReadWriteCloser: end, buffer: make(chan []byte, buffer/slowPiece), closed: make(chan struct{})}
	go func() {
		for {
			select {
			case b := <-s.buffer:
				time.Sleep(time.Second * time.Duration(len(b)) / time.Duration(rate)) // virtual
				end.Write(b)
			case <-s.closed:
				return
			}
		}
	}()
	return s
}

func (s *slowLine) Write(b []byte) (n int, err error) {
	for piece := range slices.Chunk(slices.Clone(b), slowPiece) {
		select {
		case s.buffer <- piece:
			n += len(piece)
		case <-s.closed:
			return n, io.ErrClosedPipe
		}
	}
	return n, nil
}

func (s *slowLine) Close() error {
	s.once.Do(func() { close(s.closed) })
	return s.ReadWriteCloser.Close()
}

// late is a store that notes how late its own beats reach the other one.
type late struct {
	*linktest.Store
	far *late

	mu    sync.Mutex
	made  map[time.Duration]time.Time // by uptime
	last  time.Time                   // when one came
	age   time.Duration               // how old one was, at most
	pause time.Duration               // for how long none came, at most
}

func (l *late) Beat() (*event.Beat, bool) {
	b, ok := l.Store.Beat()
	l.mu.Lock()
	defer l.mu.Unlock()
	if ok {
		l.made[b.Uptime] = time.Now()
	}
	return b, ok
}

func (l *late) came(b *event.Beat) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if made, ok := l.made[b.Uptime]; ok {
		l.age, l.pause, l.last = max(l.age, time.Since(made)), max(l.pause, time.Since(l.last)), time.Now()
	}
}

func (l *late) MergeMarks(theirs event.Marks) int {
	if m := theirs[l.far.Stream]; m.Beat != nil {
		l.far.came(m.Beat)
	}
	return l.Store.MergeMarks(theirs)
}

func (l *late) Answered(b *event.Beat) bool {
	l.far.came(b)
	return l.Store.Answered(b)
}

// Behind a slow line everything comes over on one link, whichever end sends it and whatever
// is buffered in between. A beat is no older than two batches take, and comes as late at
// most; a batch is as large as the line carries in a heartbeat, or one event.
func TestSlowLine(t *testing.T) {
	const size, there, back = 30_000, 40, 10
	for _, tt := range []struct{ rate, buffer int }{{5000, 0}, {10_000, 0}, {18_000, 0}, {5000, 1 << 20}, {18_000, 1 << 20}} {
		synctest.Test(t, func(t *testing.T) {
			a, b := duo()
			a.Append(there, size)
			b.Append(back, size)
			made := func(s *linktest.Store) *late {
				return &late{Store: s, made: map[time.Duration]time.Time{}, last: time.Now()}
			}
			x, y := made(a), made(b)
			x.far, y.far = y, x
			left, right := linktest.Pair()
			p := start(t, linktest.ConfigOf(a, true), x, slowly(left, tt.rate, tt.buffer))
			q := start(t, linktest.ConfigOf(b, false), y, slowly(right, tt.rate, tt.buffer))
			began := time.Now()
			event := time.Second * size / time.Duration(tt.rate)
			bound := 2*max(event, 5*time.Second) + 2*time.Second
			for time.Since(began) < 2*there*event && (b.Held()[a.Stream] < there || a.Held()[b.Stream] < back) {
				time.Sleep(time.Second)
			}
			took := time.Since(began)
			time.Sleep(5 * time.Second)
			agree(t, a, b)
			for i, l := range []*late{x, y} {
				st := []*running{p, q}[i].Stats()
				l.mu.Lock()
				t.Logf("%+v: %v, %d bytes in %d frames, beats up to %v old, none for %v", tt, took, st.Out.Bytes, st.Out.Frames, l.age, l.pause)
				if l.age > bound || l.pause > bound+5*time.Second {
					t.Errorf("%+v: beats are up to %v old, and for %v none came; want at most %v, and a heartbeat more", tt, l.age, l.pause, bound)
				}
				l.mu.Unlock()
				if st.Err != nil || !st.Joined {
					t.Errorf("%+v: %+v", tt, st)
				}
			}
			for _, r := range []*running{p, q} {
				r.stop()
				<-r.done
			}
		})
	}
}

// A line that greets fast has full batches from the first; one of which the greeting shows
// only that it is long has them once a batch was answered, which is the third.
func TestFastLineHasFullBatches(t *testing.T) {
	for _, tt := range []struct {
		trip time.Duration // there and back
		from int           // the first batch that is full
	}{{0, 0}, {5 * time.Millisecond, 0}, {200 * time.Millisecond, link.Window}} {
		a, b := duo()
		a.Append(95, 30_000)
		w := join(t, time.Hour, a, b)
		for moved := true; moved; { // what both have to say now arrives half a trip later
			var all [2][]link.Frame
			for i, s := range w.side {
				for f := s.core.Next(w.now); f != nil; f = s.core.Next(w.now) {
					all[i] = append(all[i], frame(t, f))
				}
			}
			w.now += tt.trip / 2
			for i, s := range w.side {
				w.side[1-i].sent = append(w.side[1-i].sent, all[1-i]...)
				for _, f := range all[1-i] {
					s.core.Receive(w.now, f)
					s.ingest(w)
				}
			}
			moved = len(all[0])+len(all[1]) > 0
		}
		agree(t, a, b)
		var sizes []int
		for _, f := range w.side[0].sent {
			if f.Type == link.TypeEvents {
				sizes = append(sizes, f.Size)
			}
		}
		for n, size := range sizes[:len(sizes)-1] { // the last one has what is left
			if full := size > 600<<10-30_500; full != (n >= tt.from) {
				t.Errorf("a trip of %v: batches of %d, want full ones from number %d on", tt.trip, sizes, tt.from)
			}
		}
	}
}

// A line that turns slow has batches of what it then carries in a heartbeat: from the next
// one on when the last went out slowly, and else, when something took it at once, from the
// report on.
func TestLineThatTurnsSlow(t *testing.T) {
	for _, buffered := range []bool{false, true} {
		a, b := duo()
		b.Append(200, 10_000)
		h := greeted(t, a, b)
		h.say(link.MarksFrame{First: true, Last: true}.Append(nil))
		batch := func() int {
			for raw := h.victim.Next(h.now); raw != nil; raw = h.victim.Next(h.now) {
				if f := frame(t, raw); f.Type == link.TypeEvents {
					return f.Size
				}
			}
			return 0
		}
		if n := batch(); n < 590_000 {
			t.Fatalf("the first batch has %d bytes", n)
		}
		if buffered {
			batch()
			h.out()
		}
		h.now += 60 * time.Second
		if buffered {
			h.say(link.Report{Batch: 1, Accepted: 1}.Append(nil))
		}
		if n := batch(); n == 0 || n > 51_200 {
			t.Errorf("buffered %t: behind a batch that took a minute comes one of %d bytes, want what passes in 5 s", buffered, n)
		}
	}
}

// Marks are told in pieces of that size, too.
func TestMarksOnASlowLine(t *testing.T) {
	a, b := duo()
	cfgs := [2]link.Config{linktest.ConfigOf(a, true), linktest.ConfigOf(b, false)}
	w := joinOn(t, time.Hour, cfgs, [2]link.Journal{a, &crowded{b, crowd(t, b, 500)}})
	for _, i := range []int{0, 1, 0} {
		w.step(i)
		w.now += time.Second
	}
	w.settle()
	if n := w.side[1].sentOf(link.TypeMarks); n != 8 || w.side[0].core.Stats().Ignored > 0 {
		t.Errorf("500 marks of 234 bytes came in %d frames, want 8 of 16 KiB", n)
	}
}

// A long frame on a slow way is a sign of life, as it comes; a byte now and then is not.
func TestFrameUnderWayIsHeard(t *testing.T) {
	for _, tt := range []struct {
		bytes int // a second
		later int // after half a minute
		lives bool
	}{{5000, 5000, true}, {150, 150, true}, {100, 100, false}, {1, 1, false}, {5000, 1, false}} {
		synctest.Test(t, func(t *testing.T) {
			a, b := duo()
			left, right := linktest.Pair()
			x := start(t, linktest.ConfigOf(a, true), a, left)
			greetAndHang(t, b, right)
			go io.Copy(io.Discard, right)
			frame := make([]byte, 1+4+500<<10)
			frame[0], frame[2], frame[3] = 99, byte((500<<10)>>16), byte((500<<10)>>8&0xff)
			for second := 0; second < 90 && x.Stats().Err == nil; second++ {
				n := tt.bytes
				if second > 30 {
					n = tt.later
				}
				right.Write(frame[:n])
				frame = frame[n:]
				time.Sleep(time.Second)
			}
			if err := x.Stats().Err; (err == nil) != tt.lives || err != nil && !errors.Is(err, link.ErrSilent) {
				t.Errorf("%d bytes a second and then %d: %v", tt.bytes, tt.later, err)
			}
			x.stop()
			right.Close()
			<-x.done
		})
	}
}

// A peer that says it lives and never reads is given up; one that reads slowly is not.
func TestPeerThatNeverReads(t *testing.T) {
	for _, tt := range []struct {
		reads int // bytes a second
		lives bool
	}{{0, false}, {150, true}} {
		synctest.Test(t, func(t *testing.T) {
			a, b := duo()
			a.Append(100, 30_000)
			left, right := linktest.Pair()
			x := start(t, linktest.ConfigOf(a, true), a, left)
			greetAndHang(t, b, right)
			right.Write(link.MarksFrame{First: true, Last: true}.Append(nil))
			began := time.Now()
			for n := uint64(1000); time.Since(began) < 10*time.Minute && x.Stats().Err == nil; n++ {
				right.Write(link.NumberFrame(link.TypePing, n))
				for range 10 {
					io.ReadFull(right, make([]byte, tt.reads))
					time.Sleep(time.Second)
				}
			}
			d, err := time.Since(began), x.Stats().Err
			if (err == nil) != tt.lives || err != nil && (!errors.Is(err, link.ErrSilent) || d > 2*time.Minute+15*time.Second) {
				t.Errorf("%d bytes a second are read: after %v %v", tt.reads, d, err)
			}
			x.stop()
			right.Close()
			<-x.done
		})
	}
}
