package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"

	"github.com/comity-dev/comity/api"
)

// ask runs a command with --json and reads its reply.
func (d *demo) ask(who, in string, reply any, args ...string) error {
	out, err := d.comity(d.ctx, who, in, append(args, "--json")...).Output()
	if err != nil {
		return fmt.Errorf("comity %s: %w: %s", quoted(args), err, bytes.TrimSpace(out))
	}
	return json.Unmarshal(out, reply)
}

// newest names the newest handover or review.
func (d *demo) newest(x act) (string, error) {
	var handovers api.HandoverListReply
	var reviews api.ReviewListReply
	if x.newest == "review" {
		err := d.ask(x.who, x.in, &reviews, "review", "list")
		if err != nil || len(reviews.Reviews) == 0 {
			return "", fmt.Errorf("the demo's review is missing: %w", err)
		}
		return reviews.Reviews[0].Short, nil
	}
	err := d.ask(x.who, x.in, &handovers, "handover", "list")
	if err != nil || len(handovers.Handovers) == 0 {
		return "", fmt.Errorf("the demo's handover is missing: %w", err)
	}
	return handovers.Handovers[0].Short, nil
}

// kill ends the demo's own daemon as a crash would.
func (d *demo) kill() error {
	var v release
	if err := d.ask("", "main", &v, "version"); err != nil {
		return err
	}
	if v.Daemon == nil {
		return api.Errorf(api.CodeUnreachable, "the demo's daemon is gone")
	}
	p, err := os.FindProcess(v.Daemon.PID)
	if err != nil {
		return err
	}
	return p.Kill()
}

// waitAndRelease has bob queue while ada hands over and releases.
func (d *demo) waitAndRelease() error {
	args := []string{"claim", "src/**/*.go", "--wait", "10s"}
	wait := d.comity(d.ctx, "bob", "api", args...)
	var out bytes.Buffer
	wait.Stdout, wait.Stderr = &out, &out
	if err := wait.Start(); err != nil {
		return err
	}
	err := d.untilQueued()
	if err == nil {
		err = d.acts(
			act{who: "ada", in: "main", args: []string{"handover", "publish", "--derive", "--to", "bob"}},
			act{who: "ada", in: "main", args: []string{"release", "--all"}},
		)
	}
	if err != nil {
		_ = wait.Process.Kill() // its answer matters no more
		_ = wait.Wait()
		return err
	}
	err = wait.Wait()
	return d.outcome(act{who: "bob"}, args, out.String(), wait, err)
}

// untilQueued returns when bob's claim is in the queue.
func (d *demo) untilQueued() error {
	watch := d.comity(d.ctx, "", "main", "status", "--json")
	for range 500 {
		var s api.Status
		out, err := watch.Output()
		if err != nil {
			return err
		}
		if err := json.Unmarshal(out, &s); err != nil {
			return err
		}
		if len(s.Waits) > 0 {
			return nil
		}
		if err := d.ctx.Err(); err != nil {
			return err
		}
		watch = clone(watch)
	}
	return api.Errorf(api.CodeInternal, "the demo went wrong: bob's claim never queued")
}

// clone is cmd to be run once more.
func clone(cmd *exec.Cmd) *exec.Cmd {
	again := exec.Command(cmd.Path, cmd.Args[1:]...)
	again.Dir, again.Env = cmd.Dir, cmd.Env
	return again
}

func (d *demo) end() error {
	d.tell("All of that was in a temporary folder, which is gone now. In your own repository: comity claim PATH, comity status, comity --help.")
	return nil
}
