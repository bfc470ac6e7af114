// Command comity lets the agents and people that work in one git repository at
// the same time know of each other: see `comity --help`.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/comity-dev/comity/internal/cli"
)

func main() { os.Exit(run(context.Background())) }

// run ends in good order at the first signal and at once at the second.
func run(ctx context.Context) int {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return cli.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv)
}
