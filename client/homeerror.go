package client

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/internal/home"
)

// HomeError gives an error of the state folder, its lock, its socket, or of
// starting a daemon there, a code and a next step. Nil stays nil.
func HomeError(err error) error {
	var (
		known  *api.Error
		folder *home.FolderError
		locked *home.LockedError
		start  *home.StartError
		socket *home.SocketError
	)
	switch {
	case err == nil || errors.As(err, &known) || errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &socket):
		return api.Errorf(api.CodeSocketPath, "socket %s: %v", socket.Path, socket.Err).
			WithHint("set COMITY_HOME or TMPDIR to a folder of yours with a short path")
	case errors.As(err, &folder):
		return api.Errorf(folderCode(folder), "state folder %s: %v", folder.Dir, folder.Err).WithHint("%s", folder.Next)
	case errors.As(err, &locked) && locked.Info.PID == 0:
		return api.Errorf(api.CodeUnreachable, "a daemon has the state folder %s, does not answer and has not said who it is", locked.Dir).
			WithHint("comity doctor looks at it; lsof %s/daemon.lock names the process", locked.Dir)
	case errors.As(err, &locked):
		return api.Errorf(api.CodeUnreachable, "a daemon runs already: pid %d, build %s", locked.Info.PID, locked.Info.Build).
			WithHint("comity stop ends it")
	case errors.As(err, &start):
		if e := lastWord(start.Line); e != nil {
			return e
		}
		return api.Errorf(api.CodeUnreachable, "%v", start).WithHint("comity doctor looks for the reason")
	}
	return api.Errorf(api.CodeUnreachable, "%v", err).
		WithHint("comity doctor looks for the reason; comity serve runs the daemon in the foreground")
}

func folderCode(e *home.FolderError) api.Code {
	switch {
	case errors.Is(e, home.ErrNetwork):
		return api.CodeNetworkHome
	case errors.Is(e, home.ErrReadOnly):
		return api.CodeReadOnly
	}
	return api.CodeUnreachable
}

// lastWord is the error that a daemon ended with, when it wrote it as JSON; nil
// for any other line.
func lastWord(line string) error {
	var f api.Failure
	if err := json.Unmarshal([]byte(line), &f); err != nil || f.Error == nil || f.Error.Code == "" {
		return nil
	}
	return f.Error
}
