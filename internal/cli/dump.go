package cli

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/internal/home"
	"github.com/comity-dev/comity/internal/seglog"
	"github.com/comity-dev/comity/internal/vfs"
	"github.com/spf13/cobra"
)

func (a *app) logDumpCommand() *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "dump [DIR]",
		Short: "Show the files of a journal: segments, frames, marks, damage",
		Long: `Show the files of a journal as they are on disk: segments, headers, frames,
marks and damage. DIR is a journal's folder; without it, this repository's.
Nothing is changed and no daemon is started.`,
		Args: cobra.MaximumNArgs(1),
	}, func(cmd *cobra.Command, args []string) error {
		dir := optional(args)
		if dir == "" {
			var err error
			if dir, err = a.journalHere(cmd.Context()); err != nil {
				return err
			}
		}
		if err := seglog.Dump(vfs.OS(), dir, a.out.w); err != nil {
			return api.Errorf(api.AsError(err).Code, "dump %s: %v", dir, err)
		}
		return nil
	})
}

// journalHere is the folder of this repository's journal: as the daemon says, or
// the only one on disk.
func (a *app) journalHere(ctx context.Context) (string, error) {
	c, err := a.connect(true)
	if err != nil {
		return "", err
	}
	w, err := a.where()
	if err != nil {
		return "", err
	}
	if st, err := c.Status(ctx, api.StatusRequest{Where: w}); err == nil {
		return journalIn(c.Home().RepositoryDir(st.Repository))
	}
	dirs, err := repositories(c.Home())
	switch {
	case err != nil:
		return "", err
	case len(dirs) == 1:
		return journalIn(dirs[0])
	case len(dirs) == 0:
		return "", api.Errorf(api.CodeNoRepository, "there is no journal below %s yet", c.Home().Dir)
	}
	return "", usage("no daemon runs to tell which journal is this repository's").
		WithHint("comity log dump DIR, where DIR is one of: %s", strings.Join(dirs, " "))
}

// repositories are the folders of all repositories of this user, sorted.
func repositories(h home.Home) ([]string, error) {
	parent := filepath.Dir(h.RepositoryDir("x"))
	entries, err := os.ReadDir(parent)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var dirs []string
	for _, e := range entries {
		if e.IsDir() {
			dirs = append(dirs, filepath.Join(parent, e.Name()))
		}
	}
	return dirs, nil
}

// journalIn is the folder with the segments: a repository's folder itself or one
// in it.
func journalIn(dir string) (string, error) {
	found := ""
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.IsDir() && found == "" && filepath.Ext(path) == ".seg" {
			found = filepath.Dir(path)
			return fs.SkipAll
		}
		return nil
	})
	if err != nil {
		return "", api.Errorf(api.CodeNoRepository, "look for the journal in %s: %v", dir, err)
	}
	if found == "" {
		return "", api.Errorf(api.CodeNoRepository, "there is no journal in %s yet", dir)
	}
	return found, nil
}
