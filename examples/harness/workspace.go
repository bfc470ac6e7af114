package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/comity-dev/comity/session/event"
)

// A workspace is a folder with one file of notes, and its checkpoints: copies
// of that file, each under its digest.
type workspace struct{ dir string }

func (w workspace) notes() string              { return filepath.Join(w.dir, "notes.md") }
func (w workspace) checkpoint(r string) string { return filepath.Join(w.dir, "checkpoints", r) }

func (w workspace) read() ([]byte, error) {
	b, err := os.ReadFile(w.notes())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// add adds a line and returns the checkpoint of the workspace as it is then. The
// copy is on disk before anybody names it.
func (w workspace) add(line string) (ref string, err error) {
	notes, err := w.read()
	if err != nil {
		return "", err
	}
	notes = append(notes, line...)
	sum := sha256.Sum256(notes)
	ref = hex.EncodeToString(sum[:])
	return ref, errors.Join(replace(w.notes(), notes), replace(w.checkpoint(ref), notes))
}

// restore sets the workspace back to a checkpoint, and so takes back whatever was
// done by a call of which nobody knows how far it came.
func (h *harness) restore(ctx context.Context, to event.WorkspaceCheckpointed) error {
	var notes []byte // without a checkpoint there is nothing
	if to.Ref != "" {
		var err error
		if notes, err = os.ReadFile(h.files.checkpoint(to.Ref)); err != nil {
			return err
		}
	}
	if err := replace(h.files.notes(), notes); err != nil || to.Ref == "" {
		return err
	}
	return h.say(ctx, event.Coordinates{Session: h.session}, event.Cause{}, event.WorkspaceRestored{Checkpoint: to.Checkpoint})
}

// replace writes a file so that a crash leaves the old one or the new one.
func replace(name string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails once it is renamed
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}
