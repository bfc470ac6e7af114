package link_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/link"
	"github.com/comity-dev/comity/coop/link/linktest"
)

// A run is a link at work, in virtual time.
type running struct {
	*link.Link
	stop context.CancelFunc
	done chan error
}

func start(t *testing.T, cfg link.Config, j link.Journal, conn io.ReadWriteCloser) *running {
	t.Helper()
	began := time.Now()
	l, err := link.New(cfg, j, func() time.Duration { return time.Hour + time.Since(began) })
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	r := &running{l, stop, make(chan error, 1)}
	go func() { r.done <- l.Run(ctx, conn) }()
	return r
}

func pairOf(t *testing.T, a, b *linktest.Store) (x, y *running) {
	t.Helper()
	left, right := linktest.Pair()
	x, y = start(t, linktest.ConfigOf(a, true), a, left), start(t, linktest.ConfigOf(b, false), b, right)
	a.Listen(x.News)
	b.Listen(y.News)
	return x, y
}

func TestLinksRunAndLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := duo()
		a.Append(400, 100)
		b.Append(400, 100)
		x, y := pairOf(t, a, b)
		synctest.Wait() // no time passes
		agree(t, a, b)
		for range 10 {
			a.Append(1, 100)
			b.Append(1, 100)
			synctest.Wait()
			agree(t, a, b)
		}
		time.Sleep(10 * time.Minute)
		if st := x.Stats(); !st.Up || !st.Joined || st.Err != nil || st.Duplicate > 0 {
			t.Errorf("after ten quiet minutes: %+v", st)
		}
		round := x.Round()
		synctest.Wait()
		if st := x.Stats(); st.Round != round || round < 2 {
			t.Errorf("round %d has ended, want %d", st.Round, round)
		}
		left := time.Now()
		x.stop()
		var bye *link.GoodbyeError
		if err := <-x.done; !errors.Is(err, link.ErrLeft) {
			t.Errorf("the side that left: %v", err)
		}
		if err := <-y.done; !errors.As(err, &bye) || bye.Reason != "stopped" {
			t.Errorf("the other side: %v", err)
		}
		if d := time.Since(left); d > 0 {
			t.Errorf("leaving took %v", d)
		}
	})
}

// The last word arrives though much is on its way to who says it.
func TestLastWordArrives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := duo()
		b.Append(100, 30_000)
		left, right := linktest.Pair()
		x := start(t, linktest.ConfigOf(a, true), a, left)
		y := start(t, linktest.ConfigOf(b, false), b, lazy{right})
		a.Listen(func() { go x.Leave("done") })
		var bye *link.GoodbyeError
		if err := <-y.done; !errors.As(err, &bye) {
			t.Errorf("the side that sent much: %v", err)
		}
		if err := <-x.done; !errors.Is(err, link.ErrLeft) {
			t.Error(err)
		}
	})
}

// lazy is an end whose reader takes its time.
type lazy struct{ io.ReadWriteCloser }

func (l lazy) Read(b []byte) (int, error) {
	time.Sleep(time.Second) // virtual
	return l.ReadWriteCloser.Read(b)
}

func TestBothLeaveAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := duo()
		x, y := pairOf(t, a, b)
		synctest.Wait()
		left := time.Now()
		x.stop()
		y.stop()
		<-x.done
		<-y.done
		if d := time.Since(left); d > 0 {
			t.Errorf("leaving took %v", d)
		}
	})
}

// greetAndHang greets over conn and then neither reads nor writes.
func greetAndHang(t *testing.T, s *linktest.Store, conn io.ReadWriter) {
	t.Helper()
	core, err := link.NewCore(linktest.ConfigOf(s, false), s, 0)
	if err != nil {
		t.Fatal(err)
	}
	for !core.Up() {
		f, err := link.ReadFrame(conn, core.Limit())
		if err != nil {
			t.Fatal(err)
		}
		core.Receive(0, f)
		if core.Up() {
			return
		}
		if _, err := conn.Write(core.Next(0)); err != nil {
			t.Fatal(err)
		}
	}
}

// A peer that reads nothing and says nothing is given up after an expiry, with
// whatever is stuck on the way to it.
func TestPeerThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := duo()
		a.Append(100, 30_000)
		left, right := linktest.Pair()
		x := start(t, linktest.ConfigOf(a, true), a, left)
		began := time.Now()
		greetAndHang(t, b, right)
		if err := <-x.done; !errors.Is(err, link.ErrSilent) {
			t.Errorf("a peer that hangs: %v", err)
		}
		if d := time.Since(began); d < 30*time.Second || d > 45*time.Second {
			t.Errorf("it was given up after %v", d)
		}
	})
}

// A link that is left while it cannot write ends within the time of a request.
func TestLeavingAPeerThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := duo()
		a.Append(100, 30_000)
		left, right := linktest.Pair()
		x := start(t, linktest.ConfigOf(a, true), a, left)
		greetAndHang(t, b, right)
		right.Write(link.MarksFrame{First: true, Last: true}.Append(nil)) // so that it is sent what it lacks
		synctest.Wait()
		began := time.Now()
		x.stop()
		if err := <-x.done; !errors.Is(err, link.ErrLeft) {
			t.Error(err)
		}
		if d := time.Since(began); d > 5*time.Second {
			t.Errorf("leaving took %v", d)
		}
	})
}

// Trust that is withdrawn ends a link whose writer is stuck, too.
func TestTrustIsWithdrawnFromASlowPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := duo()
		a.Append(100, 30_000)
		trusted := true
		cfg := linktest.ConfigOf(a, true)
		cfg.Trust = func(ident.NodeID) bool { return trusted }
		left, right := linktest.Pair()
		x := start(t, cfg, a, left)
		greetAndHang(t, b, right)
		right.Write(link.MarksFrame{First: true, Last: true}.Append(nil))
		synctest.Wait()
		trusted = false
		began := time.Now()
		x.TrustChanged()
		var wrong *link.ProtocolError
		if err := <-x.done; !errors.As(err, &wrong) || wrong.Code != link.CodeUntrusted {
			t.Errorf("the side that withdrew trust: %v", err)
		}
		if d := time.Since(began); d > 5*time.Second {
			t.Errorf("it took %v", d)
		}
	})
}

func TestStreamThatEndsIsCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := duo()
		left, right := linktest.Pair()
		x := start(t, linktest.ConfigOf(a, true), a, left)
		y := start(t, linktest.ConfigOf(b, false), b, right)
		synctest.Wait()
		right.Close()
		for _, r := range []*running{x, y} {
			if err := <-r.done; !errors.Is(err, link.ErrCut) {
				t.Errorf("a stream that was closed: %v", err)
			}
		}
		if a.Joins()+b.Joins() != 0 {
			t.Error("a first exchange is under way on no link")
		}
	})
}
