package main

import (
	"context"
	"path/filepath"

	"github.com/comity-dev/comity/internal/seglog"
	"github.com/comity-dev/comity/internal/vfs"
)

// comityEngine is internal/seglog as the journal uses it. It has no un-synced
// mode.
var comityEngine = engine{name: "comity", open: func(dir string, durable bool) (*store, error) {
	if !durable {
		return nil, errNoUnsynced
	}
	l, _, err := seglog.Open(vfs.OS(), filepath.Join(dir, "log"), nil)
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	return &store{
		append: func(_ int, rec []byte) error {
			_, err := l.Append(ctx, rec)
			return err
		},
		batch: func(recs [][]byte) error {
			_, err := l.Append(ctx, recs...)
			return err
		},
		close: l.Close,
	}, nil
}, replay: func(dir string, opened func(), each func([]byte)) error {
	l, _, err := seglog.Open(vfs.OS(), filepath.Join(dir, "log"), nil)
	if err != nil {
		return err
	}
	opened()
	for rec, err := range l.From(l.First()) {
		if err != nil {
			return err
		}
		each(rec.Data)
	}
	return l.Close()
}}
