package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/client"
	"github.com/comity-dev/comity/internal/home"
)

// doctorPatience is how long a daemon has to say who it is. That costs it no disk
// and no lock; one that takes longer is stuck.
const doctorPatience = 5 * time.Second

// checkDaemon looks at the lock, the socket and the build of the daemon, and
// tells whether it answers.
func checkDaemon(ctx context.Context, c *client.Client) (checks []api.Check, answers bool) {
	info, running, err := c.Home().Running()
	switch {
	case err != nil:
		checks = append(checks, fails("lock", "could not be read: "+err.Error(), "whether a daemon runs is not known", "make the state folder readable for you"))
	case !running:
		return append(checks, well("lock", "free: no daemon runs; a command starts one")), false
	default:
		checks = append(checks, well("lock", "held by the daemon, pid %d", info.PID))
	}
	ctx, cancel := context.WithTimeout(ctx, doctorPatience)
	defer cancel()
	v, err := c.Version(ctx, api.Empty{})
	if err != nil {
		detail := fmt.Sprintf("pid %d holds the lock and does not answer: %v", info.PID, err)
		return append(checks, fails("socket", detail, "every command fails until it does", silent(info))), false
	}
	return append(checks, checkSocket(v.Socket), checkBuild(v)), true
}

func silent(info home.Info) string {
	return fmt.Sprintf("look at pid %d: a stopped or stuck process goes on when it is continued; comity stop asks it to end", info.PID)
}

func checkSocket(socket string) api.Check {
	info, err := os.Stat(socket)
	switch {
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return warns("socket", "could not be looked at: "+err.Error(), "", "")
	case err != nil:
		return well("socket", "answers")
	case exposed(info.Mode()):
		return fails("socket", fmt.Sprintf("%s is open to others: %v", socket, info.Mode().Perm()), "the daemon refuses other users, but they should not get so far", "chmod 600 "+socket)
	}
	return well("socket", "%s answers, only to you", socket)
}

func checkBuild(v api.VersionReply) api.Check {
	own := build()
	switch {
	case v.API != api.Version:
		return warns("build", fmt.Sprintf("the daemon speaks API %d, this program %d", v.API, api.Version), "some commands may not be understood", "install one version, and use it everywhere")
	case v.Build != own:
		return warns("build", fmt.Sprintf("the daemon is build %s, this program %s", v.Build, own), "the later one takes over at its next command", "install one version, and use it everywhere")
	}
	return well("build", "%s, up %s", own, span(v.UpMS))
}
