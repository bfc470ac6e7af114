// Harness is a small agent harness over a session journal: a scripted model, no
// network. It can be killed at any moment and carries on from what its journal
// says. README.md tells how to run it; each file holds what it is named after.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/comity-dev/comity/session/event"
)

// options are the command line.
type options struct {
	store   string        // folder of the journals; the workspace is beside it
	session event.ID      // that is opened
	until   uint64        // how many steps the session has, over all runs of it
	pace    time.Duration // how long the model thinks about a step
	yes     bool          // a rule answers every gate, and nobody is asked
}

func main() {
	var o options
	flag.StringVar(&o.store, "store", "harness-store", "keep the journals in `DIR`; the workspace is DIR.work")
	flag.StringVar((*string)(&o.session), "session", "5e551000-0000-4000-8000-000000000001", "open session `ID`")
	flag.Uint64Var(&o.until, "steps", 12, "end the session after `N` steps, over all runs of it")
	flag.DurationVar(&o.pace, "pace", 300*time.Millisecond, "think for `D` about each step")
	flag.BoolVar(&o.yes, "yes", false, "approve every gate, by a rule, and ask nobody")
	flag.Parse()
	// No signal is handled: an interrupt is a crash as good as any other.
	if err := run(context.Background(), o, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "harness:", err)
		os.Exit(1)
	}
}
