package filestore

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/comity-dev/comity/internal/vfs"
	"github.com/comity-dev/comity/storage"
)

// spaceName is the file in the folder of a space that holds its name.
const spaceName = "space"

// A spaces says which spaces have their folder and their name on disk. Putting
// a blob into a folder holds it for reading, making and removing a folder for
// writing.
type spaces struct {
	sync.RWMutex
	known map[tag]bool
}

func (s *Store) spacePath(t tag, names ...string) string {
	return s.path(append([]string{blobDir, hex.EncodeToString(t[:])}, names...)...)
}

// sweepBlobs removes what a crash left in the making.
func (s *Store) sweepBlobs() error {
	s.spaces.known = make(map[tag]bool)
	names, err := s.fsys.List(s.path(blobDir, blobTmp))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, name := range names {
		if err := s.fsys.Remove(s.path(blobDir, blobTmp, name)); err != nil {
			return err
		}
	}
	return nil
}

// holdSpace sees to it that the folder of a space is there, with its name, and
// holds s.spaces for reading.
func (s *Store) holdSpace(t tag, space string) error {
	for {
		s.spaces.RLock()
		if s.spaces.known[t] {
			return nil
		}
		s.spaces.RUnlock()
		s.spaces.Lock()
		err := s.makeSpaceLocked(t, space)
		s.spaces.Unlock()
		if err != nil {
			return err
		}
	}
}

func (s *Store) makeSpaceLocked(t tag, space string) error {
	if err := vfs.MkdirAll(s.fsys, s.spacePath(t)); err != nil {
		return err
	}
	path := s.spacePath(t, spaceName)
	if got, err := vfs.ReadFile(s.fsys, path, storage.MaxNameBytes); err != nil || string(got) != space {
		if err := vfs.WriteFile(s.fsys, path, []byte(space)); err != nil {
			return err
		}
	}
	s.spaces.known[t] = true
	return nil
}

// dropSpace removes the folder of a space if it is empty. Nothing depends on it.
func (s *Store) dropSpace(t tag) {
	if names, err := s.fsys.List(s.spacePath(t)); err != nil || len(names) > 1 {
		return
	}
	s.spaces.Lock()
	defer s.spaces.Unlock()
	names, err := s.fsys.List(s.spacePath(t))
	if err != nil || !slices.Equal(names, []string{spaceName}) {
		return
	}
	delete(s.spaces.known, t)
	if s.fsys.Remove(s.spacePath(t, spaceName)) == nil && s.fsys.Remove(s.spacePath(t)) == nil {
		s.fsys.SyncDir(filepath.Dir(s.spacePath(t)))
	}
}

// digests returns those of the blobs in a folder, in order.
func (s *Store) digests(t tag) ([]storage.Digest, error) {
	names, err := s.fsys.List(s.spacePath(t))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var list []storage.Digest
	for _, name := range names {
		if d, err := storage.ParseDigest("sha256:" + name); err == nil {
			list = append(list, d)
		}
	}
	return list, nil
}

func (v blobs) Spaces(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if err := v.s.lock(ctx); err != nil {
			yield("", err)
			return
		}
		v.s.mu.Unlock()
		found, err := v.s.listSpaces(prefix)
		if err != nil {
			yield("", fmt.Errorf("list the spaces of blobs: %w", err))
			return
		}
		for _, name := range found {
			if err := v.s.over(ctx); err != nil {
				yield("", err)
				return
			}
			if !yield(name, nil) {
				return
			}
		}
	}
}

func (s *Store) listSpaces(prefix string) ([]string, error) {
	dirs, err := s.fsys.List(s.path(blobDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var found []string
	for _, dir := range dirs {
		name, err := vfs.ReadFile(s.fsys, s.path(blobDir, dir, spaceName), storage.MaxNameBytes)
		if err != nil || !strings.HasPrefix(string(name), prefix) {
			continue // blobs/tmp, or a folder that was removed or whose making a crash has ended
		}
		if list, err := s.digests(tagOf(familySpace, string(name))); err != nil || len(list) == 0 {
			if err != nil {
				return nil, err
			}
			continue
		}
		found = append(found, string(name))
	}
	slices.Sort(found)
	return found, nil
}
