package linktest_test

import (
	"io"
	"net"
	"testing"

	"github.com/comity-dev/comity/coop/link/linktest"
)

func TestPair(t *testing.T) { linktest.Run(t, linktest.Pair) }

// The suite holds for the carrier that all others are made of.
func TestTCP(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	linktest.Run(t, func() (a, b io.ReadWriteCloser) {
		a, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		b, err = l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		return a, b
	})
}
