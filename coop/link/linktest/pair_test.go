package linktest_test

import (
	"testing"

	"github.com/comity-dev/comity/coop/link/linktest"
)

func TestPair(t *testing.T) { linktest.Run(t, linktest.Pair) }
