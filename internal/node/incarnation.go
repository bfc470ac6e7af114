package node

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/internal/home"
	"github.com/comity-dev/comity/internal/vfs"
)

// maxIncarnations bounds the file of logs that a repository has had, in bytes.
const maxIncarnations = 64 << 10

// incarnations is where the logs that a repository has had here are listed, one a
// line, beside the log itself: a log whose files are all gone cannot say so.
func incarnations(h home.Home, repo ident.RepositoryID) string {
	return filepath.Join(h.RepositoryDir(string(repo)), "incarnations")
}

func readIncarnations(h home.Home, repo ident.RepositoryID) ([]string, error) {
	text, err := vfs.ReadFile(vfs.OS(), incarnations(h, repo), maxIncarnations)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return strings.Fields(string(text)), err
}

// noteIncarnation lists the log that is open now, if it is not the one that was
// open last.
func noteIncarnation(h home.Home, repo ident.RepositoryID, now string) error {
	had, err := readIncarnations(h, repo)
	if err != nil || len(had) > 0 && had[len(had)-1] == now {
		return err
	}
	return vfs.WriteFile(vfs.OS(), incarnations(h, repo), []byte(strings.Join(append(had, now), "\n")+"\n"))
}

// logCheck tells that a repository's log is not the one that it had before.
func logCheck(h home.Home, repo ident.RepositoryID) api.Check {
	c := api.Check{Name: "log", State: api.CheckOK, Detail: "the one that it has always had"}
	had, err := readIncarnations(h, repo)
	switch {
	case err != nil:
		c.State, c.Detail = api.CheckWarn, fmt.Sprintf("whether it was replaced cannot be told: %v", err)
	case len(had) > 1:
		c.State, c.Detail = api.CheckFail, fmt.Sprintf("%d logs before this one are gone from its folder", len(had)-1)
		c.Impact = "all that they held is lost here: somebody removed or replaced the files"
		c.Remedy = fmt.Sprintf("put them back from a copy of the state folder, or accept the loss: remove %s", incarnations(h, repo))
	}
	return c
}
