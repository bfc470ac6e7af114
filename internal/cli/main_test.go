package cli_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/comity-dev/comity/internal/cli"
)

// TestMain lets the test binary be the program where a test says so, as in a hook
// that git runs. It is never a daemon: what would start one fails.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == "serve":
		fmt.Fprintln(os.Stderr, "the tests start no daemon")
		os.Exit(1)
	case os.Getenv("COMITY_TEST_PROGRAM") != "":
		os.Exit(cli.Run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv))
	}
	os.Exit(m.Run())
}
